"""Tallies → `queue_metrics`: Amazon's nine metrics of a queue, as the server counts them (docs/explain/metrics.md).

The minutes are added up first, and windows are made of minutes: counts, sums, least and greatest values all merge.
"""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.pipeline.counting.windows import WINDOW, Span, dated, in_windows


class Metric(NamedTuple):
    unit: str
    measures: tuple[str, ...]
    valued: bool = True
    """Whether a sample is the measure's value; otherwise it is 1."""


METRICS = {
    "NumberOfMessagesSent": Metric("Count", ("sent",), valued=False),
    "NumberOfMessagesReceived": Metric("Count", ("delivery", "redelivery", "repeat"), valued=False),
    "NumberOfMessagesDeleted": Metric("Count", ("deleted",), valued=False),
    "NumberOfEmptyReceives": Metric("Count", ("empty_receive",), valued=False),
    "SentMessageSize": Metric("Bytes", ("sent",)),
    "ApproximateNumberOfMessagesVisible": Metric("Count", ("visible",)),
    "ApproximateNumberOfMessagesNotVisible": Metric("Count", ("in_flight",)),
    "ApproximateNumberOfMessagesDelayed": Metric("Count", ("delayed",)),
    "ApproximateAgeOfOldestMessage": Metric("Seconds", ("age",)),
}
STATISTICS = {"sample_count": F.sum, "sum": F.sum, "minimum": F.min, "maximum": F.max}


def transform(tallies: DataFrame, span: Span) -> DataFrame:
    wanted = {measure for metric in METRICS.values() for measure in metric.measures}
    minutes = (
        tallies.where(F.col("measure").isin(*wanted))
        .groupBy("minute_ms", "region", "account", "queue", "measure")
        .agg(
            F.sum("n").alias("n"),
            F.sum(F.when(F.col("value").isNotNull(), F.col("n"))).alias("values"),
            F.sum(F.col("value") * F.col("n")).alias("sum"),
            F.min("value").alias("minimum"),
            F.max("value").alias("maximum"),
        )
    )
    samples = F.explode(F.array_compact(F.array(*(_sample(name, metric) for name, metric in METRICS.items()))))
    rows = minutes.select("minute_ms", "region", "account", "queue", samples.alias("sample"))
    rows = in_windows(rows.select("*", "sample.*").drop("sample"), span)
    merged = {name: merge(name).alias(name) for name, merge in STATISTICS.items()}
    return dated(rows.groupBy(*WINDOW, "metric", "unit").agg(*merged.values()))


def _sample(name: str, metric: Metric) -> Column:
    """What a row of a minute and a measure says of the metric; null if nothing."""
    one, n = F.lit(1).cast("bigint"), F.col("n")
    says = (F.col("values"), F.col("sum"), F.col("minimum"), F.col("maximum")) if metric.valued else (n, n, one, one)
    named = (column.alias(statistic) for column, statistic in zip(says, STATISTICS, strict=True))
    sample = F.struct(F.lit(name).alias("metric"), F.lit(metric.unit).alias("unit"), *named)
    return F.when(F.col("measure").isin(*metric.measures) & says[0].isNotNull(), sample)
