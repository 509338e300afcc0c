"""Journal → `queue_metrics` and `queue_latency`: windows of one and of five minutes, each computed once, when closed.

A minute is closed when an event has come that is later than its end by `--lateness`. A batch is written in this order:

    1  the plan: up to which minute it closes
    2  the rows of the windows that it closes, and of events that came too late for theirs
    3  the same windows, into the server's store of metrics, if one is named
    4  the state: what has been counted in windows that are open

Tried again after a crash, it finds the plan and the state from before, and the tables know what they have; to the
server, a window that comes again is the same window.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.ask import Ask
from penstock.pipeline.counting import backfill, latecomers, queue_latency, queue_metrics, write_back
from penstock.pipeline.counting.closing import FINAL, Closing
from penstock.pipeline.counting.tallies import MINUTE, added_up, tally
from penstock.pipeline.counting.windows import LONGEST, Span, floor
from penstock.pipeline.following import Job, follow
from penstock.pipeline.progress import Progress
from penstock.pipeline.schemas import LATE, QUEUE_LATENCY, QUEUE_METRICS, TALLIES
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, open_table


def run(spark: SparkSession, ask: Ask) -> int:
    if ask.start_ms is not None or ask.end_ms is not None:
        return backfill.run(spark, ask)
    if ask.own["final"] and not ask.once:
        raise TableError("--final goes with --once: a job that goes on has no end to close")
    if ask.own["source"] != "journal":
        raise TableError("--source goes with --from and --to: what is followed is the journal")
    counting = Counting(spark, ask)
    status = follow(spark, Job(ask, counting.tables, counting.write, late=lambda: counting.late.events))
    if counting.late.events:
        Progress(ask.job).end(f"{ask.job}: {counting.late.told()}")
    if ask.once and not ask.dry_run:
        counting.end()
    return status


class Counting:
    def __init__(self, spark: SparkSession, ask: Ask) -> None:
        self._ask = ask
        self._metrics = open_table(spark, ask.out, QUEUE_METRICS, ask.format)
        self._latency = open_table(spark, ask.out, QUEUE_LATENCY, ask.format)
        self._late = open_table(spark, ask.out, LATE, ask.format)
        self._state = open_table(spark, f"{ask.checkpoint_place}/_state", TALLIES)
        self._closing = Closing(spark, ask.checkpoint_place)
        self.tables = [self._metrics, self._latency, self._late]
        self.late = latecomers.Latecomers()

    def write(self, events: DataFrame, batch: Batch) -> int | None:
        if self._state.has(batch):
            return None
        self._resume()
        before = self._closing.before(batch)
        new = tally(events).withColumn("late", F.col("minute_ms") < before)
        counted = new.unionByName(self._state.read().drop("date").withColumn("late", F.lit(False)))
        with _once(added_up(counted, "late")) as tallies:
            newest, *late = tallies.agg(F.max("last_ms"), *latecomers.counts()).collect()[0]
            after = self._closing.plan(batch, floor((newest or 0) - self._ask.own["lateness"] * 1000, MINUTE))
            if self.late.note(*late):
                self._late.append(latecomers.transform(tallies, before).repartition("date"), batch)
            return self._close(tallies.where(~F.col("late")), Span(before, after), batch)

    def _close(self, tallies: DataFrame, span: Span, batch: Batch) -> int:
        rows = 0
        if span.end_ms > span.start_ms:
            windows = queue_metrics.transform(tallies, span)
            rows += self._metrics.append(windows.repartition("date"), batch) or 0
            rows += self._latency.append(queue_latency.transform(tallies, span).repartition("date"), batch) or 0
            write_back.put_if_asked(windows, self._ask)
        still_open = tallies.where(F.col("minute_ms") >= floor(span.end_ms)).withColumn("date", _date("minute_ms"))
        self._state.replace(still_open, batch)
        return rows

    def _resume(self) -> None:
        """Bring to its end what was begun by --final."""
        planned = self._closing.planned()
        if planned and planned.query == FINAL and not self._state.has(planned):
            self._finish()

    def end(self) -> None:
        self._resume()
        first, windows = self._open()
        if windows and self._ask.own["final"]:
            rows = self._finish()
            Progress(self._ask.job).end(f"{self._ask.job}: closed {windows} windows to the end, {rows:,} rows")
        elif windows:
            since = datetime.fromtimestamp(first / 1000, UTC).isoformat()
            words = f"{windows} windows of five minutes are open, from {since} on: later events close them, or --final"
            Progress(self._ask.job).end(f"{self._ask.job}: {words}")

    def _finish(self) -> int:
        tallies = self._state.read()
        end = floor(tallies.agg(F.max("minute_ms")).collect()[0][0]) + LONGEST
        batch = Batch(FINAL, end // MINUTE)
        before = self._closing.before(batch)
        return self._close(tallies, Span(before, self._closing.plan(batch, end)), batch)

    def _open(self) -> tuple[int, int]:
        """The first window of those that are open, and how many they are."""
        start = F.col("minute_ms") - F.col("minute_ms") % LONGEST
        first, windows = self._state.read().agg(F.min(start), F.count_distinct(start)).collect()[0]
        return first or 0, windows


def _date(column: str) -> F.Column:
    return F.to_date(F.timestamp_millis(column))


@contextmanager
def _once(rows: DataFrame) -> Iterator[DataFrame]:
    """Computed once, however many tables are made of it; what memory has no room for goes to disk."""
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()
