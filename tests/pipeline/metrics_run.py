"""Running the job `metrics` in a test, and reading what it made."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import metrics
from penstock.pipeline.schemas import LATE, QUEUE_LATENCY, QUEUE_METRICS, Schema
from penstock.pipeline.tables import open_table
from pipeline.journals import START, Journal, Line
from pipeline.metrics_oracle import LATENCY_ROW, METRIC_ROW, Row

OWN = {"lateness": 120, "final": False, "source": "journal", "to_endpoint_url": None}


class Tables:
    """A journal, and the tables that jobs make of it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.journal = spark, Journal(folder / "journal")
        self.ask = Ask("metrics", journal=str(folder / "journal"), out=str(folder / "tables"), once=True, own=OWN)

    def publish(self, lines: Sequence[Line], cuts: Iterable[int] = ()) -> None:
        """In segments that end at these places."""
        edges = [0, *cuts, len(lines)]
        for first, last in pairwise(edges):
            if last > first:
                self.journal.publish(*lines[first:last])

    def follow(self, **changes: Any) -> None:
        own = {name: changes.pop(name) for name in OWN if name in changes}
        metrics.run(self.spark, replace(self.ask, **changes, own=OWN | own))

    def back_fill(self, start: int, end: int, **changes: Any) -> None:
        """The minutes of the day from `start` to before `end`."""
        times = {"start_ms": START + start * 60_000, "end_ms": START + end * 60_000}
        self.follow(**{"once": False, **times, **changes})

    def rows(self, schema: Schema, columns: Sequence[str]) -> list[Row]:
        found = open_table(self.spark, self.ask.out, schema).read().collect()
        return [tuple(row[name] for name in columns) for row in found]

    def metrics(self) -> set[Row]:
        return _once(self.rows(QUEUE_METRICS, METRIC_ROW))

    def latency(self) -> set[Row]:
        return _once(self.rows(QUEUE_LATENCY, LATENCY_ROW))

    def late(self) -> list[Row]:
        return sorted(self.rows(LATE, ("minute_ms", "queue", "measure", "events")))


def _once(rows: list[Row]) -> set[Row]:
    assert len(set(rows)) == len(rows), "a row is there twice"
    return set(rows)
