"""Windows: which minutes make one, and which of them a span of time closes.

Windows of one and of five minutes begin at multiples of their length since the epoch, in UTC. Both are closed by one
boundary that moves from minute to minute: what comes for an earlier minute is late for both, so the five minutes of a
window always add up to it.
"""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

PERIODS = (60, 300)
"""Seconds. Each is a multiple of the one before."""
LONGEST = PERIODS[-1] * 1000

WINDOW = ("window_ms", "period_seconds", "region", "account", "queue")


def floor(ms: int, step: int = LONGEST) -> int:
    return ms - ms % step


class Span(NamedTuple):
    """The windows that end after `start_ms` and not after `end_ms`; both are whole minutes."""

    start_ms: int
    end_ms: int

    @classmethod
    def around(cls, start_ms: int, end_ms: int) -> "Span":
        """Of whole windows of every length, with all of this time in them."""
        return cls(floor(start_ms), -floor(-end_ms))


def in_windows(rows: DataFrame, span: Span) -> DataFrame:
    """Rows by minute → rows by window, once for each period in whose window they are, if the span closes it."""
    spread = rows.withColumn("period_seconds", F.explode(F.array(*map(F.lit, PERIODS))))
    length = F.col("period_seconds") * F.lit(1000).cast("bigint")
    spread = spread.withColumn("window_ms", F.col("minute_ms") - F.col("minute_ms") % length).drop("minute_ms")
    end = F.col("window_ms") + length
    return spread.where((end > span.start_ms) & (end <= span.end_ms))


def dated(rows: DataFrame) -> DataFrame:
    """With the beginning as a time, and the partition."""
    start = F.timestamp_millis("window_ms")
    return rows.withColumns({"window_start": start, "date": F.to_date(start)})
