"""Journal → table `events`: every event, once."""

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.following import Job, follow
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.tables import open_table


def transform(events: DataFrame) -> DataFrame:
    """Events as the journal has them → rows of `events`."""
    return events.select(*(f"`{name}`" for name in EVENTS.all.names))


def run(spark: SparkSession, ask: Ask) -> int:
    table = open_table(spark, ask.out, EVENTS, ask.format)
    quick = None if ask.queue or ask.account else table.append_day
    return follow(spark, Job(ask, [table], lambda events, batch: table.append(transform(events), batch), quick))
