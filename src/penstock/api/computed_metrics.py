"""PutQueueMetrics: windows that somebody computed from the journal are kept, for CloudWatch to answer from.

Everything is checked before anything is kept. What is put is believed: the numbers of a window must be possible, and
whether they are right is known only to whoever computed them.
"""

import re

from penstock.api.call import Call, Operation
from penstock.aws import penstock
from penstock.core.errors import invalid_value, missing_parameter
from penstock.core.metrics import NAMES, Statistics
from penstock.core.naming import FIFO_SUFFIX, check_queue_name, is_account
from penstock.core.queue import QueueKey
from penstock.core.series import PERIODS, Window

MOST_WINDOWS = 500
REGION = re.compile(r"[a-z0-9-]{1,63}")
STATISTICS = ("SampleCount", "Sum", "Minimum", "Maximum")


async def put_queue_metrics(call: Call, request: penstock.PutQueueMetricsRequest) -> penstock.PutQueueMetricsResult:
    given = request.Windows
    if not 1 <= len(given) <= MOST_WINDOWS:
        raise invalid_value(len(given), "Windows", f"Must be between 1 and {MOST_WINDOWS} windows.")
    await call.site.store.put_windows(
        [_window(call, window, f"Windows.{number}") for number, window in enumerate(given, 1)]
    )
    return penstock.PutQueueMetricsResult(Kept=len(given))


def _window(call: Call, given: penstock.ComputedWindow, place: str) -> Window:
    region = call.region if given.Region is None else given.Region
    if not REGION.fullmatch(region):
        raise invalid_value(region, f"{place}.Region", "Must be the name of a region, if provided.")
    if not is_account(given.Account):
        raise invalid_value(given.Account, f"{place}.Account", "Must be 12 digits.")
    check_queue_name(given.QueueName, given.QueueName.endswith(FIFO_SUFFIX), call.site.limits)
    if given.Period not in PERIODS:
        raise invalid_value(given.Period, f"{place}.Period", f"Must be {' or '.join(map(str, PERIODS))}.")
    if given.StartTime < 0 or given.StartTime % (given.Period * 1000):
        raise invalid_value(given.StartTime, f"{place}.StartTime", "Must be a multiple of the period, in milliseconds.")
    if not given.Metrics:
        raise missing_parameter(f"{place}.Metrics")
    metrics = {name: _statistics(name, each, f"{place}.Metrics") for name, each in given.Metrics.items()}
    return Window(QueueKey(region, given.Account, given.QueueName), given.Period, given.StartTime, metrics)


def _statistics(name: str, given: penstock.MetricStatistics, place: str) -> Statistics:
    if name not in NAMES:
        raise invalid_value(name, place, f"Must be one of {', '.join(NAMES)}.")
    values = [getattr(given, statistic) for statistic in STATISTICS]
    if None in values:
        raise missing_parameter(f"{place}.{name}.{STATISTICS[values.index(None)]}")
    found = Statistics(*values)
    least, most = found.samples * found.minimum, found.samples * found.maximum
    if found.samples < 1 or not 0 <= found.minimum <= found.maximum or not least <= found.sum <= most:
        raise invalid_value(tuple(found), f"{place}.{name}", "No samples have these four statistics.")
    return found


OPERATIONS: dict[str, Operation] = {"PutQueueMetrics": put_queue_metrics}
