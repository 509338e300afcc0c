"""Queue → table `messages`: every message, once, and then deleted from the queue.

A message is deleted after the table has committed its batch. A batch that is tried again has the same rows, from the
staging, and the table knows it by its number.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.pipeline import streaming
from penstock.pipeline.ask import Ask
from penstock.pipeline.checkpoint import open_checkpoint
from penstock.pipeline.jobs.load import queue_options
from penstock.pipeline.progress import Progress, Step
from penstock.pipeline.schemas import PARTITION, Schema
from penstock.pipeline.sources.queue import calls
from penstock.pipeline.sources.queue.messages import SCHEMA
from penstock.pipeline.sources.queue.options import Settings, WrongOption, parse
from penstock.pipeline.sqs import SqsError
from penstock.pipeline.streaming import JobFailed
from penstock.pipeline.tables import Batch, Table, open_table

MESSAGES = Schema("messages", 1, StructType([field for field in SCHEMA.fields if field.name != "receipt_handle"]))
"""A receipt says nothing once its message is deleted."""


@dataclass(frozen=True)
class Drain:
    options: Mapping[str, str]

    @property
    def settings(self) -> Settings:
        return parse(self.options)


def asked(ask: Ask) -> Drain:
    own = ask.own
    if not own["queue"]:
        raise JobFailed("give --queue")
    staging = own["staging"] or f"{ask.checkpoint_place.rstrip('/')}/staging"
    if ":" not in staging:
        staging = str(Path(staging).absolute())
    given = {
        "stagingLocation": staging,
        "maxMessagesPerTrigger": own["batch"],
        "visibilityTimeout": own["visibility_timeout"],
        "numPartitions": own["partitions"],
    }
    drain = Drain(queue_options(ask) | {name: str(value) for name, value in given.items() if value})
    try:
        drain.settings  # noqa: B018 - to say what is wrong before anything is made
    except WrongOption as error:
        raise JobFailed(str(error).replace("option stagingLocation", "--staging")) from None
    return drain


def read(spark: SparkSession, drain: Drain) -> DataFrame:
    return spark.readStream.format("penstock.queue").options(**drain.options).load()


def transform(received: DataFrame) -> DataFrame:
    """Messages as they are received → rows of `messages`, by the day on which they were sent."""
    day = F.to_date(F.timestamp_millis(F.col("sent_ms")))
    return received.drop("receipt_handle").withColumn(PARTITION, day)


def write(received: DataFrame, table: Table, batch: Batch) -> int | None:
    return table.append(transform(received), batch)


def run(spark: SparkSession, ask: Ask) -> int:
    drain = asked(ask)
    table = open_table(spark, ask.out, MESSAGES, ask.format)
    about = {"table": table.id, "queue": drain.settings.queue_url}
    checkpoint = open_checkpoint(spark, ask.checkpoint_place, ask.job, about)
    if ask.dry_run:
        print(f"drain: {depth(drain):,} messages of {drain.settings.queue_url} → messages in {ask.out}")  # noqa: T201
        return 0
    table.tidy(checkpoint.query)
    progress = Progress(ask.job)

    def commit(received: DataFrame, number: int) -> None:
        began = time.monotonic()
        rows = write(received, table, Batch(checkpoint.query, number)) or 0
        progress.show(Step(number, rows, time.monotonic() - began, progress.rows + rows, depth(drain)))

    streaming.run(read(spark, drain), commit, checkpoint.place, streaming.Pace(ask.once, ask.every))
    progress.end(f"drain: {progress.rows:,} messages in {progress.seconds:.1f} s")
    return 0


def depth(drain: Drain) -> int:
    try:
        with drain.settings.client() as client:
            return calls.depth(client, drain.settings.queue_url)
    except SqsError as error:
        raise JobFailed(str(error)) from None
