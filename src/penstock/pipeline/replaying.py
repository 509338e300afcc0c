"""What a replay is made of: which messages, in which pieces, and as what they are sent.

Pieces are stretches of one node's numbers, so that a piece is found again in the table without looking at the rest. A
piece is sent whole before the next, and within one a group has one partition: so a group keeps its order.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.pipeline import statements
from penstock.pipeline.ask import Ask
from penstock.pipeline.events import between

MOST = 10_000
"""Messages in a piece."""
SECONDS = 60
"""A piece takes no longer at the rate: five minutes later a FIFO queue has forgotten what was sent."""
BLOCK = 1_000
"""Numbers that are counted together when pieces are cut."""


class Piece(NamedTuple):
    """Events `first` to `last` of a node, with so many messages to send."""

    node: str
    first: int
    last: int
    messages: int


class Sum(NamedTuple):
    messages: int
    bytes: int
    groups: int
    without_body: int
    without_group: int
    first_ms: int | None
    last_ms: int | None


def chosen(events: DataFrame, ask: Ask) -> DataFrame:
    """The messages that were sent in the time and that the filters let through."""
    rows = events.where((F.col("event") == "SENT") & between(ask.start_ms, ask.end_ms))
    for column, wanted in (("queue", ask.queue), ("account", ask.account)):
        if wanted:
            rows = rows.where(F.col(column).isin(*wanted))
    if ask.own.get("where"):
        with statements.told("--where"):
            rows = rows.where(ask.own["where"])
            rows.schema  # noqa: B018 - a session elsewhere looks at the condition only when it is asked something
    return rows


def replay_id(ask: Ask) -> str:
    """The same for the same question to the same queue."""
    if ask.own.get("id"):
        return str(ask.own["id"])
    about = [
        ask.own["to_queue"],
        ask.start_ms,
        ask.end_ms,
        sorted(ask.queue),
        sorted(ask.account),
        ask.own.get("where"),
    ]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]


def missing(rows: DataFrame, replays: DataFrame, replay: str) -> DataFrame:
    """What this replay has not sent yet."""
    return rows.join(replays.where(F.col("replay") == replay), ["node", "seq"], "left_anti")


def summed(rows: DataFrame) -> Sum:
    row = rows.agg(
        F.count("*"),
        F.coalesce(F.sum("size"), F.lit(0)),
        F.count_distinct("group"),
        F.count_if(F.col("body").isNull()),
        F.count_if(F.col("group").isNull()),
        F.min("ts_ms"),
        F.max("ts_ms"),
    ).first()
    return Sum(*row)


def pieces(rows: DataFrame, rate: int | None) -> Sequence[Piece]:
    """In the order in which nodes began, and in each by number."""
    most = min(MOST, rate * SECONDS) if rate else MOST
    block = min(BLOCK, most)
    counted = rows.groupBy("node", F.floor(F.col("seq") / block).alias("block")).agg(
        F.min("seq").alias("first"), F.max("seq").alias("last"), F.count("*").alias("n"), F.min("ts_ms").alias("since")
    )
    blocks = [(row["node"], row["first"], row["last"], row["n"], row["since"]) for row in counted.collect()]
    begins: dict[str, int] = {}
    for node, _, _, _, since in blocks:
        begins[node] = min(since, begins.get(node, since))
    ordered = sorted(blocks, key=lambda one: (begins[one[0]], one[0], one[1]))
    return list(_joined((Piece(*one[:4]) for one in ordered), most))


def _joined(blocks: Iterator[Piece], most: int) -> Iterator[Piece]:
    open_: Piece | None = None
    for block in blocks:
        if open_ and open_.node == block.node and open_.messages + block.messages <= most:
            open_ = Piece(open_.node, open_.first, block.last, open_.messages + block.messages)
            continue
        if open_:
            yield open_
        open_ = block
    if open_:
        yield open_


def of(rows: DataFrame, piece: Piece) -> DataFrame:
    return rows.where((F.col("node") == piece.node) & F.col("seq").between(piece.first, piece.last))


def messages(rows: DataFrame, replay: str, fifo: bool, partitions: int) -> DataFrame:
    """Rows of `events` → columns that `penstock.queue` writes; each group in one partition, in the order of sending."""
    again = F.sha2(F.concat_ws("/", F.lit(replay), "node", F.col("seq").cast("string")), 256)
    columns = [
        F.col("body"),
        F.col("group").alias("group_id"),
        F.transform_values("attributes", _attribute).alias("attributes"),
        *([again.alias("deduplication_id")] if fifo else []),
    ]
    spread = rows.repartition(partitions, F.coalesce("group", "message_id"))
    return spread.sortWithinPartitions("seq").select(*columns)


def _attribute(name: Column, value: Column) -> Column:
    """[data type, value] → the struct of the data source; binary values are in base64."""
    binary = value[0].startswith("Binary")
    return F.struct(
        value[0].alias("data_type"),
        F.when(~binary, value[1]).alias("string_value"),
        F.when(binary, F.unbase64(value[1])).alias("binary_value"),
    )
