"""Files or a table → queue: each row a message.

The body is a column, or the whole row as JSON. Rows of a group are sent in the order in which the input has them, file
by file. A load that is killed and started again begins anew: it does not know what it has sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType, VariantType

from penstock.pipeline.ask import Ask
from penstock.pipeline.progress import Progress
from penstock.pipeline.streaming import JobFailed, cause

DEFAULT_OPTIONS: Mapping[str, Mapping[str, str]] = {"csv": {"header": "true"}}
SAMPLE = 3
BODIES = ("body", "value")
"""Columns that are the body where no other is named."""


@dataclass(frozen=True)
class Load:
    queue: str
    input: str
    input_format: str = "text"
    body_column: str | None = None
    group_column: str | None = None
    rate: int | None = None
    input_options: Mapping[str, str] = field(default_factory=dict)
    queue_options: Mapping[str, str] = field(default_factory=dict)

    @property
    def fifo(self) -> bool:
        return self.queue.endswith(".fifo")


def asked(ask: Ask) -> Load:
    own = ask.own
    for name in ("queue", "input"):
        if not own[name]:
            raise JobFailed(f"give --{name}")
    if own["queue"].endswith(".fifo") and not own["group_column"]:
        raise JobFailed("a FIFO queue needs --group-column: the column that says which group a row is of")
    return Load(
        own["queue"],
        own["input"],
        own["input_format"],
        own["body_column"],
        own["group_column"],
        own["rate"],
        dict(own["input_option"]),
        queue_options(ask),
    )


def queue_options(ask: Ask) -> dict[str, str]:
    given = {"queueUrl": ask.own["queue"], "endpoint": ask.endpoint_url, "region": ask.region}
    return {name: value for name, value in given.items() if value}


def read(spark: SparkSession, load: Load) -> DataFrame:
    if load.input_format == "table":
        return spark.table(load.input)
    options = {**DEFAULT_OPTIONS.get(load.input_format, {}), **load.input_options}
    return spark.read.format(load.input_format).options(**options).load(load.input)


def transform(rows: DataFrame, load: Load) -> DataFrame:
    """Rows of any kind → `body`, and `group_id` where there are groups."""
    for name in filter(None, (load.body_column, load.group_column)):
        if name not in rows.columns:
            raise JobFailed(f"there is no column {name} in {load.input}; it has {', '.join(rows.columns)}")
    columns = [_body(rows, load.body_column).alias("body")]
    if load.group_column:
        columns.append(F.col(f"`{load.group_column}`").cast("string").alias("group_id"))
    return rows.select(*columns)


def _body(rows: DataFrame, named: str | None) -> Column:
    kinds: Mapping[str, Any] = {field.name: field.dataType for field in rows.schema.fields}
    name = named or next((one for one in BODIES if isinstance(kinds.get(one), StringType)), None)
    if name is None:
        return F.to_json(F.struct(*(f"`{column}`" for column in rows.columns)), {"ignoreNullFields": "false"})
    if isinstance(kinds[name], (ArrayType, MapType, StructType, VariantType)):
        return F.to_json(F.col(f"`{name}`"), {"ignoreNullFields": "false"})
    if isinstance(kinds[name], BinaryType):
        return F.decode(F.col(f"`{name}`"), "UTF-8")
    return F.col(f"`{name}`").cast("string")


def write(messages: DataFrame, load: Load) -> int:
    """The number of messages sent."""
    if load.fifo:
        position = messages.withColumn("_position", F.monotonically_increasing_id())
        messages = position.repartition("group_id").sortWithinPartitions("_position").drop("_position")
    options = dict(load.queue_options)
    if load.rate:
        messages = messages.coalesce(1)  # the rate is that of one task, so let there be one
        options["maxMessagesPerSecond"] = str(load.rate)
    observation = Observation()
    counted = messages.observe(observation, F.count(F.lit(1)).alias("messages"))
    counted.write.format("penstock.queue").options(**options).mode("append").save()
    return int(observation.get["messages"])


def run(spark: SparkSession, ask: Ask) -> int:
    load = asked(ask)
    try:
        messages = transform(read(spark, load), load)
        if ask.dry_run:
            print(plan(messages, load))  # noqa: T201 - what was asked for
            return 0
        progress = Progress(ask.job)
        sent = write(messages, load)
    except PySparkException as error:
        raise JobFailed(cause(str(error))) from None
    progress.end(f"load: {sent:,} messages to {load.queue} in {progress.seconds:.1f} s")
    return 0


def plan(messages: DataFrame, load: Load) -> str:
    sample = [f"  {row.asDict()}" for row in messages.limit(SAMPLE).collect()]
    pace = f" at {load.rate:,} a second" if load.rate else ""
    return "\n".join([f"load: {messages.count():,} messages of {load.input} → {load.queue}{pace}", *sample])
