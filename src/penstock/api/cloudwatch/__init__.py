"""Amazon CloudWatch, as far as it tells what queues did: the metrics of AWS/SQS, of the caller's own queues.

`questions` reads what is asked, `answers` has the numbers; a file for each operation puts the two together.
"""

from penstock.api.call import Operation
from penstock.api.cloudwatch.data import get_metric_data
from penstock.api.cloudwatch.listing import list_metrics
from penstock.api.cloudwatch.statistics import get_metric_statistics
from penstock.aws.cloudwatch import SERVICE

OPERATIONS: dict[str, Operation] = {
    "GetMetricData": get_metric_data,
    "GetMetricStatistics": get_metric_statistics,
    "ListMetrics": list_metrics,
}

__all__ = ["OPERATIONS", "SERVICE"]
