"""The shapes of CloudWatch that are needed for what is answered, compiled from its model; see `cloudwatch.pyi`."""

from penstock.aws.contract import load

SERVICE = load("cloudwatch", frozenset({"GetMetricData", "GetMetricStatistics", "ListMetrics"}))
globals().update(SERVICE.types)
