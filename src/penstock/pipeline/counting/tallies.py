"""Events → tallies: a minute, a queue, a measure, a value, and how many events had them.

Every metric is made of tallies, and of nothing else. They add up, in any order and in any number of batches, so they
are the state between batches, too: much smaller than the events, and exact. One pass over the events makes them; Spark
adds up each file's before it moves a row.

A measure is what an event is to the metrics, by MEASURES. A GAUGE is four; every other event is one or none.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MINUTE = 60_000

MEASURES: Mapping[str, Sequence[tuple[str, str]]] = {
    "SENT": [("'sent'", "size")],
    "RECEIVED": [
        (
            "CASE WHEN reason <=> 'repeat' THEN 'repeat' WHEN receive_count > 1 THEN 'redelivery' ELSE 'delivery' END",
            "CASE WHEN reason <=> 'repeat' OR receive_count > 1 THEN NULL ELSE duration_ms END",
        )
    ],
    "EMPTY_RECEIVE": [("'empty_receive'", "NULL")],
    "DELETED": [("'deleted'", "duration_ms")],
    "DEAD_LETTERED": [("'dead_lettered'", "NULL")],
    "EXPIRED": [("CASE WHEN receive_count > 0 THEN 'expired' ELSE 'expired_unreceived' END", "NULL")],
    "GAUGE": [
        ("'visible'", "visible"),
        ("'in_flight'", "in_flight"),
        ("'delayed'", "delayed"),
        ("'age'", "coalesce(duration_ms, 0) div 1000"),
    ],
}
"""Event → its measures and their values, in SQL. What is not here is in no metric."""
NO_EVENTS = ("in_flight", "delayed", "age")
"""Measures of events that are counted by another measure already."""

KEYS = ("minute_ms", "region", "account", "queue", "measure", "type", "group", "value")


def tally(events: DataFrame) -> DataFrame:
    """One row for each measure of each event, not added up yet."""
    counted = events.where(F.col("event").isin(*MEASURES) & ((F.col("event") != "GAUGE") | F.col("reason").isNull()))
    delivered = F.col("event") == "RECEIVED"
    rows = counted.select(
        (F.col("ts_ms") - F.col("ts_ms") % MINUTE).alias("minute_ms"),
        "region",
        "account",
        "queue",
        F.when(delivered, F.col("type")).alias("type"),
        F.when(delivered, F.col("group")).alias("group"),
        F.lit(1).cast("bigint").alias("n"),
        F.col("ts_ms").alias("last_ms"),
        F.explode(_measures()).alias("counted"),
    )
    return rows.select("*", "counted.*").drop("counted")


def _measures() -> Column:
    chosen = " ".join(
        f"WHEN '{event}' THEN array({', '.join(_struct(*pair) for pair in pairs)})" for event, pairs in MEASURES.items()
    )
    return F.expr(f"CASE event {chosen} END")


def _struct(measure: str, value: str) -> str:
    return f"named_struct('measure', {measure}, 'value', CAST({value} AS BIGINT))"


def added_up(tallies: DataFrame, *also: str) -> DataFrame:
    """One row for each key; `also` are columns that tell rows apart besides."""
    return tallies.groupBy(*KEYS, *also).agg(F.sum("n").alias("n"), F.max("last_ms").alias("last_ms"))
