"""What messages die of: events of the journal → dead letters → groups of one cause. Pure steps on DataFrames.

A dead letter is a stay that ended in a dead-letter queue (`stays` says which). Its cause is where it died, the reason,
the type and version of the message, the error that it tells itself, and who received it last. Errors are brought to
their form first: what differs from one message to the next, numbers and names in quotes, is not part of the cause.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from penstock.pipeline import stays
from penstock.pipeline.events import between
from penstock.pipeline.schemas import DEAD_LETTERS, LIFECYCLE_OPEN

CAUSE = ("arn", "dead_letter_queue", "reason", "type", "version", "error", "receiver")
LONGEST_ERROR = 200
LONGEST_BODY = 1000
NEVER = 36_500
"""Days after which a stay is given up, where none is to be."""
FORMS = (
    (r'"[^"]*"|(?<!\w)\'[^\']*\'(?!\w)', "<text>"),
    (r"\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>"),
    (r"\b0x[0-9a-fA-F]+\b|\b(?=\w*\d)(?=\w*[a-fA-F])[0-9a-fA-F]{8,}\b|\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b", "<id>"),
    (r"\d+([.,:]\d+)*", "<n>"),
    (r"\s+", " "),
)
"""What is put in the place of what differs, in this order."""


@dataclass(frozen=True)
class Question:
    """Which dead letters are asked about, and what tells their cause."""

    start_ms: int | None = None
    end_ms: int | None = None
    queues: tuple[str, ...] = ()
    """Names of queues in which messages died, or of dead-letter queues."""
    accounts: tuple[str, ...] = ()
    own: Mapping[str, Any] = field(default_factory=dict)
    """error_attribute, error_field, version_attribute: where the error and the version are."""


def normalised(text: Column) -> Column:
    for pattern, replacement in FORMS:
        text = F.regexp_replace(text, pattern, replacement)
    return F.substring(F.trim(text), 1, LONGEST_ERROR)


def asked_about(events: DataFrame, question: Question) -> DataFrame:
    """The DEAD_LETTERED events that are meant."""
    target = F.split("endpoint", ":", 6)
    chosen = (F.col("event") == "DEAD_LETTERED") & between(question.start_ms, question.end_ms)
    if question.queues:
        chosen &= F.col("queue").isin(*question.queues) | F.get(target, F.lit(5)).isin(*question.queues)
    if question.accounts:
        chosen &= F.col("account").isin(*question.accounts)
    return events.where(chosen)


def dead_letters(events: DataFrame, question: Question) -> DataFrame | None:
    """A row for each, with the columns of CAUSE, `signature`, `waiting` and `others`; None if there are none.

    `waiting`: it is still in the dead-letter queue. `others`: how many messages are known to wait there, with it.
    """
    meant = asked_about(events, question)
    targets = [row["endpoint"] for row in meant.select("endpoint").distinct().collect()]
    told = stays.told(_about(events, meant, targets))
    covers = stays.extent(told)
    if covers is None or not targets:
        return None
    nothing = events.sparkSession.createDataFrame([], LIFECYCLE_OPEN.all)
    merged = stays.merge(told, nothing, covers, NEVER).persist()  # looked at twice, and costly
    dead = _died(merged, meant).join(_waiting(merged, targets), ["dead_letter_queue", "message_id", "dead_ms"], "left")
    rows = dead.join(_sent(events, meant, question), "message_id", "left")
    rows = rows.withColumn("waiting", F.coalesce("waiting", F.lit(False)))
    signature = F.sha2(F.to_json(F.struct(*CAUSE)), 256)
    return rows.withColumn("signature", F.substring(signature, 1, 12))


def _about(events: DataFrame, meant: DataFrame, targets: list[str]) -> DataFrame:
    """Everything that tells what became of them, and what else is in the queues where they are."""
    ids = meant.select("message_id", F.lit(True).alias("dead")).distinct()
    arn = F.concat(F.lit("arn:aws:sqs:"), "region", F.lit(":"), "account", F.lit(":"), "queue")
    there = arn.isin(*targets) | F.col("endpoint").isin(*targets) | F.col("event").isin(*stays.QUEUE_ENDS)
    return events.join(ids, "message_id", "left").where(F.col("dead") | there).drop("dead")


def _died(merged: DataFrame, meant: DataFrame) -> DataFrame:
    end = F.col("end")
    rows = merged.where(end["outcome"] == "DEAD_LETTERED").select(
        "arn",
        end["next_queue"].alias("dead_letter_queue"),
        "message_id",
        end["ended_ms"].alias("dead_ms"),
        end["reason"].alias("reason"),
        "type",
        "receiver",
    )
    which = meant.select("message_id", F.col("ts_ms").alias("dead_ms"), F.col("endpoint").alias("dead_letter_queue"))
    return rows.join(which.distinct(), ["message_id", "dead_ms", "dead_letter_queue"], "left_semi")


def _waiting(merged: DataFrame, targets: list[str]) -> DataFrame:
    there = merged.where(F.col("end").isNull() & F.col("arn").isin(*targets))
    others = F.count(F.lit(1)).over(Window.partitionBy("arn"))
    return there.select(
        F.col("arn").alias("dead_letter_queue"),
        "message_id",
        F.col("entered_ms").alias("dead_ms"),
        F.lit(True).alias("waiting"),
        others.alias("others"),
    )


def _sent(events: DataFrame, meant: DataFrame, question: Question) -> DataFrame:
    """What the messages said when they were sent, as far as the journal has it."""

    def attribute(option: str) -> Column:
        name = question.own.get(option)
        return F.get(F.col("attributes")[name], F.lit(1)) if name else F.lit(None).cast("string")

    path = question.own.get("error_field")
    field_ = F.get_json_object("body", path) if path else F.lit(None).cast("string")
    sent = events.where(F.col("event") == "SENT").join(meant.select("message_id"), "message_id", "left_semi")
    return sent.select(
        "message_id",
        normalised(F.coalesce(attribute("error_attribute"), field_)).alias("error"),
        attribute("version_attribute").alias("version"),
        F.substring("body", 1, LONGEST_BODY).alias("body"),
    )


def groups(dead: DataFrame, samples: int) -> DataFrame:
    """Dead letters → rows of the table `dead_letters`. Samples are the latest, of those that wait if some do."""
    latest = Window.partitionBy("signature").orderBy(F.desc("waiting"), F.desc("dead_ms"), "message_id")
    place = F.row_number().over(latest)
    sample = F.when(F.col("place") <= samples, F.struct("place", "message_id", "body"))
    found = F.sort_array(F.collect_list(sample))
    rows = dead.withColumn("place", place).groupBy("signature", *CAUSE).agg(
        F.min("dead_ms").alias("first_ms"),
        F.max("dead_ms").alias("last_ms"),
        F.count(F.lit(1)).alias("count"),
        F.count(F.when(F.col("waiting"), 1)).alias("waiting"),
        found.alias("samples"),
    )  # fmt: skip
    parts = F.split("arn", ":", 6)
    return rows.select(
        "*",
        *(F.get(parts, F.lit(n)).alias(name) for n, name in enumerate(stays.NAMES, 3)),
        F.col("samples.message_id").alias("sample_ids"),
        F.col("samples.body").alias("sample_bodies"),
        F.to_date(F.timestamp_millis("last_ms")).alias("date"),
    ).select(*DEAD_LETTERS.all.names)


def waiting_ids(dead: DataFrame, most: int) -> DataFrame:
    """signature → ids of messages that wait, the oldest first and no more than `most`, and how many the queue has."""
    oldest = Window.partitionBy("signature").orderBy("dead_ms", "message_id")
    rows = dead.where("waiting").withColumn("place", F.row_number().over(oldest)).where(F.col("place") <= most)
    ids = F.sort_array(F.collect_list(F.struct("place", "message_id")))
    return rows.groupBy("signature").agg(ids["message_id"].alias("ids"), F.max("others").alias("others"))
