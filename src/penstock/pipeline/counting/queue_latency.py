"""Tallies → `queue_latency`: how long messages waited and were handled, what failed, how fair it was.

A row is of all types of a window (`type` is null), or of one. The journal tells a message's type when it is handed
out, and not when it goes: so what became of messages, and how long they were handled, is in the row of all types only.

An attempt is a delivery. It succeeds when its message is deleted. It has failed when its message is delivered again,
goes to the dead letters, or expires having been received; a failure counts when it shows, not when it began.
Percentiles are by nearest rank: of n values, the one in place ⌈p·n/100⌉, which is a value that occurred. Fairness is
Jain's index over the deliveries of message groups: 1 if each had as many, 1/n if one of n had all.
"""

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from penstock.pipeline.counting.windows import WINDOW, Span, dated, in_windows

KEYS = (*WINDOW, "type")
TIMES = {"delivery": "dwell", "deleted": "handling"}
"""Measure → the time that its value is."""
RANKS = (50, 95, 99)
OUTCOMES = {
    "deleted": ("deleted",),
    "dead_lettered": ("dead_lettered",),
    "expired": ("expired", "expired_unreceived"),
    "lost": ("dead_lettered", "expired"),
}
DELIVERIES = {"deliveries": ("delivery", "redelivery"), "redelivered": ("redelivery",)}
COUNTS = {**DELIVERIES, **OUTCOMES}


def transform(tallies: DataFrame, span: Span) -> DataFrame:
    wanted = {measure for measures in COUNTS.values() for measure in measures}
    rows = in_windows(tallies.where(F.col("measure").isin(*wanted)).drop("last_ms"), span)
    of_all = F.array(F.lit(None).cast("string"))
    types = F.when(F.col("type").isNull(), of_all).otherwise(F.concat(of_all, F.array("type")))
    rows = rows.withColumn("type", F.explode(types))
    parts = (_counts(rows), _percentiles(rows), _fairness(rows))
    whole = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
    merged = whole.groupBy(*KEYS).agg(*(F.max(name).alias(name) for name in whole.columns if name not in KEYS))
    return dated(_judged(merged))


def _counts(rows: DataFrame) -> DataFrame:
    return rows.groupBy(*KEYS).agg(*(_sum(measures).alias(name) for name, measures in COUNTS.items()))


def _sum(measures: tuple[str, ...]) -> Column:
    return F.sum(F.when(F.col("measure").isin(*measures), F.col("n")).otherwise(0))


def _percentiles(rows: DataFrame) -> DataFrame:
    """By sorting, which spills: memory does not grow with the number of values, as with the aggregate of that name."""
    timed = rows.where(F.col("measure").isin(*TIMES) & F.col("value").isNotNull())
    counted = timed.groupBy(*KEYS, "measure", "value").agg(F.sum("n").alias("n"))
    window = Window.partitionBy(*KEYS, "measure")
    ranked = counted.select(
        *KEYS,
        "measure",
        "value",
        F.sum("n").over(window.orderBy("value").rowsBetween(Window.unboundedPreceding, 0)).alias("rank"),
        F.sum("n").over(window).alias("of"),
    )
    return ranked.groupBy(*KEYS).agg(
        *(
            F.min(F.when((F.col("measure") == measure) & (F.col("rank") * 100 >= F.col("of") * rank), F.col("value")))
            .alias(f"{time}_p{rank}_ms")
            for measure, time in TIMES.items()
            for rank in RANKS
        )
    )  # fmt: skip


def _fairness(rows: DataFrame) -> DataFrame:
    delivered = rows.where(F.col("measure").isin(*DELIVERIES["deliveries"]) & F.col("group").isNotNull())
    shares = delivered.groupBy(*KEYS, "group").agg(F.sum("n").cast("double").alias("share"))
    sums = shares.groupBy(*KEYS).agg(
        F.count("*").alias("groups"),
        F.sum("share").alias("sum"),
        F.sum(F.col("share") * F.col("share")).alias("squares"),
    )
    index = F.col("sum") * F.col("sum") / (F.col("groups") * F.col("squares"))
    return sums.select(*KEYS, "groups", index.alias("fairness"))


def _judged(rows: DataFrame) -> DataFrame:
    of_all = F.col("type").isNull()
    failures = F.col("redelivered") + F.when(of_all, F.col("lost"))
    ended = F.col("deleted") + failures
    return rows.withColumns(
        {
            **{name: F.when(of_all, F.col(name)) for name in OUTCOMES},
            "failures": failures,
            "success_ratio": F.when(of_all & (ended > 0), F.col("deleted") / ended),
            "groups": F.coalesce("groups", F.lit(0)),
        }
    )
