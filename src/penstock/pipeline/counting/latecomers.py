"""Events that came when their minute was closed: rows of `_late`, how many they were, and what brings them in.

Knows what this run has seen, and not what the table has had from others before it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.pipeline.counting.tallies import MINUTE, NO_EVENTS


def transform(tallies: DataFrame, closed_ms: int) -> DataFrame:
    """Tallies → rows of `_late`."""
    counted = tallies.where(_late()).groupBy("minute_ms", "region", "account", "queue", "measure")
    dated = {"closed_ms": F.lit(closed_ms), "date": F.to_date(F.timestamp_millis("minute_ms"))}
    return counted.agg(F.sum("n").alias("events")).withColumns(dated)


def counts() -> list[Column]:
    """Over tallies, what `note` takes."""
    minute = F.when(_late(), F.col("minute_ms"))
    return [F.sum(F.when(_late(), F.col("n"))), F.min(minute), F.max(minute)]


def _late() -> Column:
    return F.col("late") & ~F.col("measure").isin(*NO_EVENTS)


@dataclass
class Latecomers:
    events: int = 0
    first_ms: int = 0
    last_ms: int = 0

    def note(self, events: int | None, first_ms: int | None, last_ms: int | None) -> bool:
        """Whether there were any."""
        if not events or first_ms is None or last_ms is None:
            return False
        self.first_ms = min(self.first_ms, first_ms) if self.events else first_ms
        self.last_ms = max(self.last_ms, last_ms)
        self.events += events
        return True

    def told(self) -> str:
        begin, end = (
            f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%dT%H:%M}" for ms in (self.first_ms, self.last_ms + MINUTE)
        )
        return f"{self.events:,} events came too late for their windows: --from {begin} --to {end} brings them in"
