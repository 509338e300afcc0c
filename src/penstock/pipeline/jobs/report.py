"""Table `events` → one HTML page with what went through the queues in a time: traffic, latency, depth, failures."""

import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import warehouse
from penstock.pipeline.ask import Ask
from penstock.pipeline.files import files
from penstock.pipeline.reporting.charts import Span
from penstock.pipeline.reporting.figures import Figures, extent, figures, totals
from penstock.pipeline.reporting.page import About, page
from penstock.pipeline.schemas import CORRUPT, EVENTS
from penstock.pipeline.stamps import TableError


def chosen(events: DataFrame, ask: Ask) -> DataFrame:
    for column, wanted in (("queue", ask.queue), ("account", ask.account)):
        if wanted:
            events = events.where(F.col(column).isin(*wanted))
    return events


def transform(events: DataFrame, ask: Ask) -> tuple[Figures, int, int]:
    """Figures of what was asked for, and of which time they are."""
    events = chosen(events, ask)
    start, end = ask.start_ms, ask.end_ms
    if start is None or end is None:
        there = extent(events if end is None else events.where(F.col("ts_ms") < end))
        if there is None:
            return Figures(Span(0, 1, 0), Span(0, 1, 0), totals(events)), 0, 0
        start, end = there[0] if start is None else start, there[1] if end is None else end
    if start >= end:
        raise TableError("the time to report is empty: --from is at or after --to, or after the last event")
    return figures(events, start, end), start, end


def run(spark: SparkSession, ask: Ask) -> int:
    result, start, end = transform(warehouse.read(spark, ask.out, EVENTS, ask.format), ask)
    about = About(
        start,
        end,
        round(time.time() * 1000),
        f"{ask.out.rstrip('/')}/{EVENTS.name}",
        ask.queue,
        ask.account,
        warehouse.read_any(spark, ask.out, CORRUPT, ask.format).count(),
    )
    place = ask.own.get("page") or f"{ask.out.rstrip('/')}/report.html"
    folder, _, name = place.rpartition("/")
    to = files(folder or ".", spark)
    to.replace(name, page(result, about).encode())
    print(f"report: {result.totals['events']:,} events → {to.url(name)}")  # noqa: T201 - where it is
    return 0
