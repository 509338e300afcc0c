"""`metrics --from --to`: the windows of a range computed again, and put in the place of those that are there.

Whole windows only: a range is widened to multiples of five minutes. Other windows of the same days stay as they are.
Windows that a job is still counting are left to it, or they would be there twice.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import density, events
from penstock.pipeline.ask import Ask
from penstock.pipeline.counting import queue_latency, queue_metrics, write_back
from penstock.pipeline.counting.closing import FINAL, Closing
from penstock.pipeline.counting.extent import Extent, of_journal, of_table
from penstock.pipeline.counting.tallies import added_up, tally
from penstock.pipeline.counting.windows import Span, floor
from penstock.pipeline.density import Census
from penstock.pipeline.progress import Progress
from penstock.pipeline.schemas import EVENTS, QUEUE_LATENCY, QUEUE_METRICS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, Table, open_table, overtaken

BACKFILL = "backfill"
"""The query under which ranges are committed."""


def run(spark: SparkSession, ask: Ask) -> int:
    span = _span(ask)
    targets = {
        open_table(spark, ask.out, QUEUE_METRICS, ask.format): queue_metrics.transform,
        open_table(spark, ask.out, QUEUE_LATENCY, ask.format): queue_latency.transform,
    }
    _leave_open_windows(Closing(spark, ask.checkpoint_place), list(targets), span)
    found, extent, census = _source(spark, ask, span)
    extent.must_cover(span.start_ms)
    where = f"{ask.job}: {_time(span.start_ms)} to {_time(span.end_ms)} from {ask.own['source']}"
    if ask.dry_run:
        print(f"{where} → queue_metrics, queue_latency in {ask.out} ({ask.format})")  # noqa: T201 - what was asked for
        return 0
    tallies = added_up(tally(found.where(_wanted(ask)))).persist()
    try:
        rows = [_replace(table, transform(tallies, span), span, ask) for table, transform in targets.items()]
        write_back.put_if_asked(queue_metrics.transform(tallies, span), ask)
    finally:
        tallies.unpersist()
    Progress(ask.job).end("; ".join([f"{where}, {sum(rows):,} rows", *_wanting(spark, ask, span, extent, census)]))
    return 0


def _wanting(spark: SparkSession, ask: Ask, span: Span, extent: Extent, census: Census | None) -> Iterator[str]:
    """What the numbers are without."""
    if extent.last_ms < span.end_ms:
        yield f"{ask.own['source']} ends at {_time(extent.last_ms)}, before that"
    if census and (bad := census.result().bad):
        yield f"{bad:,} lines of the journal cannot be read"
    if census and ask.journal_place:
        there = events.of_time(events.segments(spark, ask.journal_place), span.start_ms, span.end_ms)
        if gone := density.missing(there):
            yield f"{gone:,} events are missing from the journal"


def _span(ask: Ask) -> Span:
    if ask.start_ms is None or ask.end_ms is None:
        raise TableError("--from and --to go together: they name the range that is computed again")
    if ask.start_ms >= ask.end_ms:
        raise TableError(f"--from {_time(ask.start_ms)} is not before --to {_time(ask.end_ms)}")
    if ask.once or ask.own["final"]:
        raise TableError("--from and --to compute a range and end: they do not go with --once or --final")
    return Span.around(ask.start_ms, ask.end_ms)


def _leave_open_windows(closing: Closing, tables: list[Table], span: Span) -> None:
    followed = any(table.writers().keys() - {BACKFILL, FINAL} for table in tables)
    reached = closing.reached()
    if followed and reached is None:
        raise TableError("a job fills these tables as it follows the journal: name its --checkpoint")
    if reached is not None and span.end_ms > reached:
        raise TableError(
            f"windows after {_time(reached)} are not closed yet by the job that follows the journal: "
            f"the latest --to is {_time(floor(reached))}"
        )


def _source(spark: SparkSession, ask: Ask, span: Span) -> tuple[DataFrame, Extent, Census | None]:
    """The events of the span, and what else there is; of a journal also who counts its lines."""
    if ask.own["source"] == "events":
        table = open_table(spark, ask.out, EVENTS, ask.format).read()
        in_time = events.between(span.start_ms, span.end_ms) & F.col("date").isin(*_dates(span))
        return table.where(in_time), of_table(table, f"the table events in {ask.out}"), None
    place = ask.journal_place
    if place is None:
        raise TableError("--journal names the journal's folder, or --source events its table")
    census = Census()
    found = events.readable(census.of(events.batch(spark, place, span.start_ms, span.end_ms)))
    return found, of_journal(spark, place), census


def _wanted(ask: Ask) -> Column:
    wanted = F.lit(True)
    for column, names in (("queue", ask.queue), ("account", ask.account)):
        if names:
            wanted = wanted & F.col(column).isin(*names)
    return wanted


def _replace(table: Table, rows: DataFrame, span: Span, ask: Ask) -> int:
    """The rows in the place of those of the span and of the queues that were asked for."""
    seen = table.writers()
    old = F.col("window_ms").between(span.start_ms, span.end_ms - 1) & _wanted(ask)
    others = table.read().where(F.col("date").isin(*_dates(span)) & ~old)
    batch = Batch(BACKFILL, seen.get(BACKFILL, -1) + 1)
    counted = Observation()
    new = rows.select(*others.columns).observe(counted, F.count(F.lit(1)).alias("rows"))
    whole = others.unionByName(new).repartition("date")
    if table.replace(whole, batch, [str(day) for day in _dates(span)], seen) is None:
        raise overtaken(table)
    return int(counted.get["rows"])


def _dates(span: Span) -> list[date]:
    return list(_days(_moment(span.start_ms).date(), _moment(span.end_ms - 1).date()))


def _days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += timedelta(days=1)


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _time(ms: int) -> str:
    return _moment(ms).isoformat(timespec="minutes").removesuffix("+00:00")
