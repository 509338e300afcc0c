"""What a report shows, summed up by Spark: however many events there are, a few hundred numbers come back.

Percentiles are of Spark's sketch with 10,000 steps: exact where a bucket has fewer values, else within a ten-thousandth
in rank. Depth and age are those of the last gauge of each queue in a bucket; the server makes one each minute of every
queue that holds something, so a queue without one is empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from penstock.pipeline.events import between
from penstock.pipeline.reporting.charts import Span
from penstock.pipeline.reporting.quantities import DAY, DURATIONS, MINUTE, SECOND

MOST_BUCKETS = 240
TOP = 10
CAUSES = 20
QUANTILES = (0.5, 0.95, 0.99)
ACCURACY = 10_000
FAILED = ("DEAD_LETTERED", "EXPIRED", "DAMAGED")
QUEUE = ("region", "account", "queue")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    span: Span
    gauge_span: Span
    totals: Row
    timeline: Mapping[int, Row] = field(default_factory=dict)
    """Bucket → its numbers; buckets without events are not there."""
    gauges: Mapping[int, Row] = field(default_factory=dict)
    queues: Sequence[Row] = ()
    accounts: Sequence[Row] = ()
    causes: Sequence[Row] = ()


def figures(events: DataFrame, start_ms: int, end_ms: int) -> Figures:
    """`events` may be more than the range: what it is filtered by besides time has been taken care of."""
    chosen = days(events, start_ms, end_ms).where(between(start_ms, end_ms))
    span = span_of(start_ms, end_ms)
    gauge_span = span_of(start_ms, end_ms, MINUTE)
    return Figures(
        span,
        gauge_span,
        totals(chosen),
        by_bucket(timeline(chosen, span)),
        by_bucket(gauges(chosen, gauge_span)),
        [row.asDict() for row in top(chosen, QUEUE).collect()],
        [row.asDict() for row in top(chosen, ("account",)).collect()],
        [row.asDict() for row in causes(chosen).collect()],
    )


def extent(events: DataFrame) -> tuple[int, int] | None:
    """The last 24 hours of the data; None if there is none."""
    end = events.agg(F.max("ts_ms").alias("end")).first()["end"]
    if end is None:
        return None
    last_day = days(events, end + 1 - DAY, end + 1).where(between(end + 1 - DAY, end + 1))
    return last_day.agg(F.min("ts_ms").alias("start")).first()["start"], end + 1


def days(events: DataFrame, start_ms: int, end_ms: int) -> DataFrame:
    """Only the folders of these days are looked into."""
    first, last = (datetime.fromtimestamp(ms / SECOND, UTC).date() for ms in (start_ms, end_ms))
    return events.where(F.col("date").between(first, last))


def span_of(start_ms: int, end_ms: int, least_ms: int = SECOND) -> Span:
    """The narrowest round buckets of which a few hundred are enough."""
    wanted = max(least_ms, (end_ms - start_ms) / MOST_BUCKETS)
    bucket = next((step for step in DURATIONS if step >= wanted), DURATIONS[-1])
    first = start_ms // bucket * bucket
    return Span(first, bucket, -(-(end_ms - first) // bucket))


def by_bucket(rows: DataFrame) -> dict[int, Row]:
    return {row["bucket"]: row.asDict() for row in rows.collect()}


def _bucket(span: Span) -> Column:
    return F.floor((F.col("ts_ms") - span.start_ms) / span.bucket_ms).cast("int").alias("bucket")


def _is(*names: str) -> Column:
    return F.col("event").isin(*names)


def _delivery() -> Column:
    """A FIFO receive attempt that was repeated hands out again what counts no delivery."""
    return _is("RECEIVED") & ~F.coalesce(F.col("reason") == "repeat", F.lit(False))


def _numbers() -> list[Column]:
    """What is counted, of a bucket and of all."""
    redelivered = _delivery() & (F.col("receive_count") > 1)
    dwell = F.when(_delivery() & (F.col("receive_count") == 1), F.col("duration_ms"))
    handling = F.when(_is("DELETED"), F.col("duration_ms"))
    return [
        F.count_if(_is("SENT")).alias("sent"),
        F.count_if(_delivery()).alias("received"),
        F.count_if(_is("DELETED")).alias("deleted"),
        F.count_if(redelivered).alias("redelivered"),
        F.count_if(_is("EXPIRED")).alias("expired"),
        F.count_if(_is("DEAD_LETTERED")).alias("dead"),
        F.count_if(_is(*FAILED)).alias("failed"),
        F.percentile_approx(dwell, list(QUANTILES), ACCURACY).alias("dwell"),
        F.percentile_approx(handling, list(QUANTILES), ACCURACY).alias("handling"),
    ]


def totals(events: DataFrame) -> Row:
    more = [
        F.coalesce(F.sum(F.when(_is("SENT"), F.col("size"))), F.lit(0)).alias("bytes"),
        F.count_if(_is("EMPTY_RECEIVE")).alias("empty_receives"),
        F.coalesce(F.sum(F.when(_is("DENIED"), F.coalesce("count", F.lit(1)))), F.lit(0)).alias("denied"),
        F.count_if(_is("DEDUPLICATED")).alias("deduplicated"),
        F.count("*").alias("events"),
    ]
    return events.agg(*_numbers(), *more).first().asDict()


def timeline(events: DataFrame, span: Span) -> DataFrame:
    return events.groupBy(_bucket(span)).agg(*_numbers())


def gauges(events: DataFrame, span: Span) -> DataFrame:
    last = F.max_by(F.struct("visible", "in_flight", "delayed", "duration_ms"), "seq").alias("last")
    each = (
        events.where(_is("GAUGE"))
        .groupBy(_bucket(span), *QUEUE)
        .agg(last, F.max("duration_ms").alias("oldest"), F.max("ts_ms").alias("last_ms"))
    )
    return each.groupBy("bucket").agg(
        *(F.sum(f"last.{name}").alias(name) for name in ("visible", "in_flight", "delayed")),
        F.max("oldest").alias("oldest"),
        F.max("last.duration_ms").alias("oldest_at_end"),
        F.max("last_ms").alias("last_ms"),
    )


def top(events: DataFrame, by: Sequence[str]) -> DataFrame:
    """The busiest, each with how many there are in all."""
    each = events.groupBy(*by).agg(
        F.count_if(_is("SENT")).alias("sent"),
        F.count_if(_delivery()).alias("received"),
        F.count_if(_is("DELETED")).alias("deleted"),
        F.count_if(_is(*FAILED)).alias("failed"),
    )
    busy = each.where((F.col("sent") + F.col("received") + F.col("deleted") + F.col("failed")) > 0)
    numbered = busy.withColumn("of", F.count("*").over(Window.partitionBy(F.lit(1))))
    return numbered.orderBy(F.desc(F.col("sent") + F.col("received")), *by).limit(TOP)


def causes(events: DataFrame) -> DataFrame:
    """Dead letters by where, why and what. The type is of the message as it was sent or received."""
    dead = events.where(_is("DEAD_LETTERED")).drop("type")
    typed = events.where(_is("SENT", "RECEIVED") & F.col("type").isNotNull())
    types = (
        typed.join(dead.select("message_id"), "message_id", "left_semi")
        .groupBy("message_id")
        .agg(F.max("type").alias("type"))
    )
    by = ("account", "queue", "endpoint", "reason", "type")
    grouped = (
        dead.join(types, "message_id", "left")
        .groupBy(*by)
        .agg(
            F.count("*").alias("messages"),
            F.max("receive_count").alias("receives"),
            F.min("ts_ms").alias("first_ms"),
            F.max("ts_ms").alias("last_ms"),
        )
    )
    numbered = grouped.withColumn("of", F.count("*").over(Window.partitionBy(F.lit(1))))
    return numbered.orderBy(F.desc("messages"), *by).limit(CAUSES)
