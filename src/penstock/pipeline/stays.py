"""What became of each message, queue by queue: events of the journal → stays. Pure steps on DataFrames.

A stay begins when a message comes into a queue (SENT, or DEAD_LETTERED and MOVED from another) and ends when it leaves
it. A message that goes on elsewhere has a stay there too: `next_queue` and `successor` of the one are `arn` and
`message_id` of the other.

    told        the events that say something about messages
    extent      which nodes, days and times those cover: small, so that everything after knows its order
    merge       open stays of before + what was told → stays, ended or not
    ended, open_stays     rows of the tables `lifecycle` and `lifecycle_open`

Every event becomes a row of what it says about its stay, an open stay of before is such a row too, and the sum of rows
is taken column by column with functions that do not care how the rows were grouped on the way. So it does not matter
where the journal is cut into batches.

PURGED and QUEUE_DELETED name no messages. They cut the time of their queue into eras, and what is open at the end of an
era ended with it.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from penstock.pipeline.schemas import LIFECYCLE, LIFECYCLE_OPEN

TRANSFERS = ("DEAD_LETTERED", "MOVED", "REROUTED")
ENDS = ("DELETED", "EXPIRED", "DAMAGED", *TRANSFERS)
QUEUE_ENDS = ("PURGED", "QUEUE_DELETED")
OF_MESSAGES = ("SENT", "RECEIVED", "VISIBILITY_CHANGED", *ENDS)
UNKNOWN = "UNKNOWN"
"""The outcome of a stay whose end is in no journal that was read, and cannot come any more."""

KEY = ("arn", "message_id")
ORDER = ("turn", "seq")
"""Where an event stands: the turn of its node, and its number there. Open stays of before come before all."""
BEFORE = -1
END = {
    "outcome": "string",
    "ended_ms": "bigint",
    "reason": "string",
    "handling_ms": "bigint",
    "next_queue": "string",
    "successor": "string",
}
"""How a stay ended, as the column `end` has it."""


class Extent(NamedTuple):
    """What a number of events covers."""

    turns: Mapping[str, int]
    """Node → its turn. Nodes follow one another: a restored store goes on as another node."""
    firsts: Mapping[str, int]
    """Node → its first event."""
    days: frozenset[date]
    purged: bool
    """Whether a queue was emptied or deleted."""

    @property
    def today(self) -> date:
        return max(self.days)


def told(events: DataFrame) -> DataFrame:
    """Events as they are read → those that matter here, with the ARN of their queue, and no columns that do not."""
    arn = F.concat(F.lit("arn:aws:sqs:"), "region", F.lit(":"), "account", F.lit(":"), "queue")
    matters = F.col("event").isin(*QUEUE_ENDS) | (F.col("event").isin(*OF_MESSAGES) & F.col("message_id").isNotNull())
    return events.where(matters & F.col("queue").isNotNull()).select(
        "node", "seq", "ts_ms", "event", arn.alias("arn"), "message_id", "group", "type", "endpoint", "size",
        "receive_count", "sent_ms", "first_receive_ms", "principal", "duration_ms", "reason", "successor",
    )  # fmt: skip


def extent(events: DataFrame) -> Extent | None:
    """None if nothing was told."""
    day = F.to_date(F.timestamp_millis("ts_ms"))
    rows = events.groupBy("node", day.alias("day")).agg(
        F.min("ts_ms").alias("began"),
        F.min("seq").alias("first"),
        F.max(F.col("event").isin(*QUEUE_ENDS)).alias("purged"),
    )
    found = rows.collect()
    if not found:
        return None
    nodes = dict.fromkeys(row["node"] for row in sorted(found, key=lambda row: (row["began"], row["node"])))
    return Extent(
        turns={node: turn for turn, node in enumerate(nodes)},
        firsts={node: min(row["first"] for row in found if row["node"] == node) for node in nodes},
        days=frozenset(row["day"] for row in found),
        purged=any(row["purged"] for row in found),
    )


def merge(events: DataFrame, before: DataFrame, covers: Extent, give_up_days: int) -> DataFrame:
    """What was told + open stays of before → stays: `end` is null for those that are open still."""
    ordered = events.withColumn("turn", _turn(covers))
    rows = _here(ordered).unionByName(_arriving(ordered)).unionByName(_resumed(before))
    ends = _queue_ends(ordered) if covers.purged else None
    placed = rows.withColumn("era", F.lit(0)) if ends is None else _eras(rows, ends)
    window = Window.partitionBy(*KEY, "era").orderBy(*ORDER).rowsBetween(Window.unboundedPreceding, -1)
    numbered = placed.withColumn("stay", F.coalesce(F.count("end").over(window), F.lit(0)))
    stays = numbered.groupBy(*KEY, "era", "stay").agg(*_sums())
    if ends is not None:
        stays = _emptied(stays, ends)
    return _given_up(stays, covers.today, give_up_days)


def _turn(covers: Extent) -> Column:
    if len(covers.turns) == 1:
        return F.lit(0)
    pairs = [F.lit(part) for pair in covers.turns.items() for part in pair]
    return F.create_map(*pairs)[F.col("node")]


# What one event says


def _here(events: DataFrame) -> DataFrame:
    """What an event says about the stay in its own queue."""
    kind, ts = F.col("event"), F.col("ts_ms")
    sent, received, shown = kind == "SENT", kind == "RECEIVED", kind.isin("SENT", "RECEIVED")
    since_it_came = kind.isin("RECEIVED", "EXPIRED", "DEAD_LETTERED")
    end = _end(
        outcome=kind,
        ended_ms=ts,
        reason=F.col("reason"),
        handling_ms=F.when(kind == "DELETED", F.col("duration_ms")),
        next_queue=F.when(kind.isin(*TRANSFERS), F.col("endpoint")),
        successor=F.when(kind == "DEAD_LETTERED", F.col("message_id")).otherwise(F.col("successor")),
    )
    return events.where(~kind.isin(*QUEUE_ENDS)).select(
        *KEY,
        *ORDER,
        F.when(sent, kind).alias("origin"),
        F.lit(None).cast("string").alias("origin_queue"),
        F.lit(None).cast("string").alias("predecessor"),
        "group",
        "type",
        F.when(shown, F.col("endpoint")).alias("endpoint"),
        "size",
        F.when(sent, ts).otherwise(F.col("sent_ms")).alias("sent_ms"),
        F.when(sent, ts).when(since_it_came, ts - F.col("duration_ms")).alias("entered_ms"),
        ts.alias("seen_ms"),
        F.when(received, ts).alias("received_ms"),
        F.when(received, F.coalesce("first_receive_ms", ts)).alias("first_receive_ms"),
        F.when(received, ts).alias("last_receive_ms"),
        "receive_count",
        F.lit(None).cast("int").alias("received_before"),
        (kind == "VISIBILITY_CHANGED").cast("int").alias("visibility_changes"),
        F.when(sent, F.col("principal")).alias("sender"),
        F.when(received, F.col("principal")).alias("receiver"),
        F.when(kind.isin(*ENDS), end).alias("end"),
    )


def _arriving(events: DataFrame) -> DataFrame:
    """What it says about the stay that begins in another queue, with the columns of `_here`."""
    kind, ts = F.col("event"), F.col("ts_ms")
    known = {
        "arn": F.col("endpoint"),
        "message_id": F.when(kind == "DEAD_LETTERED", F.col("message_id")).otherwise(F.col("successor")),
        "turn": F.col("turn"),
        "seq": F.col("seq"),
        "origin": kind,
        "origin_queue": F.col("arn"),
        "predecessor": F.col("message_id"),
        "sent_ms": F.when(kind != "DEAD_LETTERED", ts),  # a move makes a new message
        "entered_ms": ts,
        "seen_ms": ts,
        "receive_count": F.col("receive_count"),
        "received_before": F.col("receive_count"),
        "visibility_changes": F.lit(0),
    }
    wanted = _here(events).schema
    arrivals = events.where(kind.isin(*TRANSFERS))
    columns = [known.get(at.name, F.lit(None)).cast(at.dataType).alias(at.name) for at in wanted]
    return arrivals.select(*columns).where(F.col("arn").isNotNull() & F.col("message_id").isNotNull())


def _resumed(before: DataFrame) -> DataFrame:
    """Rows of `lifecycle_open` with the columns of `_here`."""
    kept = [name for name in LIFECYCLE_OPEN.columns.names if name not in ("region", "account", "queue")]
    return before.select(
        *(f"`{name}`" for name in kept),
        F.lit(BEFORE).alias("turn"),
        F.lit(0).cast("bigint").alias("seq"),
        F.col("first_receive_ms").alias("received_ms"),
        F.when(F.lit(False), _end()).alias("end"),
    )


def _end(**known: Column) -> Column:
    return F.struct(*(known.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in END.items()))


# Which rows are of one stay


def _queue_ends(events: DataFrame) -> DataFrame:
    """Queue → when and how it was emptied, in order."""
    one = F.struct(*ORDER, F.col("event").alias("outcome"), F.col("ts_ms").alias("ended_ms"))
    rows = events.where(F.col("event").isin(*QUEUE_ENDS)).groupBy("arn")
    return F.broadcast(rows.agg(F.sort_array(F.collect_list(one)).alias("ends")))


def _eras(rows: DataFrame, ends: DataFrame) -> DataFrame:
    at = F.struct(*ORDER)
    past = F.size(F.filter("ends", lambda one: F.struct(one["turn"], one["seq"]) < at))
    return rows.join(ends, "arn", "left").withColumn("era", F.when(F.col("ends").isNull(), 0).otherwise(past))


def _emptied(stays: DataFrame, ends: DataFrame) -> DataFrame:
    """What is open at the end of its era went with everything else in the queue."""
    emptied = F.get("ends", F.col("era"))
    end = _end(outcome=emptied["outcome"], ended_ms=emptied["ended_ms"])
    return (
        stays.join(ends, "arn", "left")
        .withColumn("end", F.coalesce("end", F.when(emptied.isNotNull(), end)))
        .drop("ends")
    )


# The sum of the rows of one stay


def _sums() -> list[Column]:
    entered = F.col("origin").isNotNull()
    same = ("origin", "origin_queue", "predecessor", "group", "type", "endpoint", "size", "sender")
    largest = ("last_receive_ms", "receive_count", "received_before")
    smallest = ("sent_ms", "seen_ms")
    last_receive = F.when(F.col("last_receive_ms").isNotNull(), F.struct(*ORDER))
    first_receive = F.when(F.max(entered), F.min("received_ms")).otherwise(F.min("first_receive_ms"))
    return [
        *(F.max(name).alias(name) for name in (*same, *largest)),
        *(F.min(name).alias(name) for name in smallest),
        # How long it has been here is what later events of a message say too; that it came is said once, and exactly.
        F.coalesce(F.min(F.when(entered, F.col("entered_ms"))), F.min("entered_ms")).alias("entered_ms"),
        # The server counts the first delivery of a message's life, which a dead letter may have had in another queue.
        first_receive.alias("first_receive_ms"),
        F.sum("visibility_changes").cast("int").alias("visibility_changes"),
        F.max_by("receiver", last_receive).alias("receiver"),
        F.first("end", ignorenulls=True).alias("end"),
    ]


def _given_up(stays: DataFrame, today: date, days: int) -> DataFrame:
    """A message is not kept for ever: one that has not ended when every retention is over has ended unseen."""
    seen = F.to_date(F.timestamp_millis("seen_ms"))
    over = seen < F.lit(given_up_before(today, days))
    return stays.withColumn("end", F.coalesce("end", F.when(over, _end(outcome=F.lit(UNKNOWN)))))


def given_up_before(today: date, days: int) -> date:
    """Open stays first seen before this day are given up."""
    return today - timedelta(days)


# Rows of the tables


def open_stays(stays: DataFrame) -> DataFrame:
    rows = _named(stays.where(F.col("end").isNull()))
    return rows.withColumn("date", F.to_date(F.timestamp_millis("seen_ms"))).select(*_columns(LIFECYCLE_OPEN.all.names))


def ended(stays: DataFrame, give_up_days: int) -> DataFrame:
    end = F.col("end")
    attempts = F.coalesce("receive_count", F.lit(0)) - F.coalesce("received_before", F.lit(0))
    unseen = F.date_add(F.to_date(F.timestamp_millis("seen_ms")), give_up_days)
    rows = (
        _named(stays.where(end.isNotNull()))
        .select("*", "end.*", attempts.alias("attempts"))
        .withColumn("dwell_ms", F.col("first_receive_ms") - F.col("entered_ms"))
        .withColumn("total_ms", F.col("ended_ms") - F.col("entered_ms"))
        .withColumn("date", F.coalesce(F.to_date(F.timestamp_millis("ended_ms")), unseen))
    )
    return rows.select(*_columns(LIFECYCLE.all.names))


def _named(stays: DataFrame) -> DataFrame:
    parts = F.split("arn", ":", 6)
    return stays.select("*", *(F.get(parts, F.lit(n)).alias(name) for n, name in enumerate(NAMES, 3)))


NAMES = ("region", "account", "queue")


def _columns(names: list[str]) -> list[str]:
    return [f"`{name}`" for name in names]
