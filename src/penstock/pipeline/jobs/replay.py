"""Messages that were sent once → a queue, again: any time, any filter, at a rate, each group in its order.

The table `replays` has what a replay has sent; it is written after each piece. So a replay that is repeated, or goes on
after a kill, sends what is missing. What was under way when it was killed, at most one piece, is sent again: a FIFO
queue drops it within five minutes by its deduplication ids, a standard queue gets it twice.
"""

import math
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import events, replaying, warehouse
from penstock.pipeline.ask import Ask
from penstock.pipeline.progress import Progress, Step
from penstock.pipeline.replaying import Piece, Sum
from penstock.pipeline.reporting.quantities import count, duration, moment, size
from penstock.pipeline.schemas import EVENTS, REPLAYS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.streaming import JobFailed, cause
from penstock.pipeline.tables import Batch, open_table

ONE_PARTITION_BELOW = 200
"""Messages a second that one partition sends easily; more partitions only spread the rate."""


def read(spark: SparkSession, ask: Ask) -> DataFrame:
    """The journal if it is named, else the table `events`."""
    if ask.journal:
        return events.readable(events.batch(spark, ask.journal, ask.start_ms, ask.end_ms))
    return warehouse.read(spark, ask.out, EVENTS, ask.format)


def run(spark: SparkSession, ask: Ask, queue_options: Mapping[str, str] | None = None) -> int:
    replay = Replay(spark, ask, queue_options or {})
    total = replay.sum()
    print(replay.plan(total))  # noqa: T201 - the first thing a replay does is to say what it is
    replay.check(total)
    if ask.dry_run or not total.messages:
        return 0
    if not ask.own.get("yes") and not _agreed():
        return 1
    replay.send(total)
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise TableError("nobody is here to be asked: give --yes to send, or --dry-run to only look")
    return input("Send them? [y/N] ").strip().lower() in ("y", "yes")


@dataclass
class Replay:
    spark: SparkSession
    ask: Ask
    queue_options: Mapping[str, str]
    """More options of `penstock.queue`. Without keys among them, executors look for their own as AWS tools do."""

    def __post_init__(self) -> None:
        self.target: str = self.ask.own["to_queue"]
        self.fifo = self.target.endswith(".fifo")
        self.rate: int | None = self.ask.own.get("rate")
        self.id = replaying.replay_id(self.ask)
        self.rows = replaying.chosen(read(self.spark, self.ask), self.ask)

    def missing(self) -> DataFrame:
        """Read anew each time: the table's files change with every piece."""
        return replaying.missing(
            self.rows, warehouse.read_any(self.spark, self.ask.out, REPLAYS, self.ask.format), self.id
        )

    def sum(self) -> Sum:
        try:
            self.sent_before = replaying.summed(self.rows).messages
            total = replaying.summed(self.missing())
        except (PySparkException, Py4JJavaError) as error:
            raise JobFailed(cause(str(error))) from None
        self.sent_before -= total.messages
        return total

    def plan(self, total: Sum) -> str:
        requests = max(math.ceil(total.messages / 10), math.ceil(total.bytes / 250_000))
        took = duration(1000 * total.messages / self.rate) if self.rate else "as fast as the queue takes them"
        when = f", sent {moment(total.first_ms)} – {moment(total.last_ms or 0)} UTC" if total.first_ms else ""
        lines = [
            f"replay {self.id} → {self.target}",
            f"  messages   {count(total.messages)} in {count(total.groups)} groups, {size(total.bytes)}{when}",
            f"  cost       at least {count(requests)} requests SendMessageBatch",
            f"  time       {took}" + (f" at {count(self.rate)} a second" if self.rate else ""),
        ]
        if self.sent_before:
            lines.append(f"  before     {count(self.sent_before)} more were sent by this replay and are left out")
        return "\n".join(lines)

    def check(self, total: Sum) -> None:
        if total.without_body:
            raise TableError(
                f"{count(total.without_body)} of the {count(total.messages)} messages have no body: the journal was "
                "not `full` when they were sent (setting journal, or the queue's tag penstock:journal). "
                'Leave them out with --where "body IS NOT NULL"'
            )
        if self.fifo and total.without_group:
            raise TableError(
                f"{count(total.without_group)} of the {count(total.messages)} messages have no group, which a FIFO "
                'queue needs: leave them out with --where "`group` IS NOT NULL", or send to a standard queue'
            )

    def send(self, total: Sum) -> None:
        progress, query, done = Progress(self.ask.job), uuid.uuid4().hex, 0
        for number, piece in enumerate(replaying.pieces(self.missing(), self.rate)):
            began = time.monotonic()
            self._send(piece, Batch(query, number))
            done += piece.messages
            step = Step(number, piece.messages, time.monotonic() - began, done, total.messages - done)
            progress.show(step)
        progress.end(f"replay {self.id}: {count(done)} messages sent to {self.target} in {progress.seconds:.1f} s")

    def _send(self, piece: Piece, batch: Batch) -> None:
        rows = replaying.of(self.missing(), piece)
        partitions = self._partitions()
        options = {
            "queueUrl": self.target,
            "endpoint": self.ask.endpoint_url,
            "region": self.ask.region,
            "maxMessagesPerSecond": max(1, self.rate // partitions) if self.rate else None,
        }
        writer = replaying.messages(rows, self.id, self.fifo, partitions).write.format("penstock.queue").mode("append")
        given = {name: str(value) for name, value in options.items() if value is not None}
        try:
            writer.options(**given, **self.queue_options).save()
        except (PySparkException, Py4JJavaError) as error:
            raise JobFailed(cause(str(error))) from None
        open_table(self.spark, self.ask.out, REPLAYS, self.ask.format).append(self._record(rows), batch)

    def _record(self, rows: DataFrame) -> DataFrame:
        now = datetime.now(UTC)
        about = {"replay": self.id, "target": self.target, "replayed_ms": round(now.timestamp() * 1000)}
        columns = [F.lit(value).alias(name) for name, value in about.items()]
        return rows.select("node", "seq", "message_id", *columns, F.lit(now.date()).alias("date"))

    def _partitions(self) -> int:
        if self.rate and self.rate < ONE_PARTITION_BELOW:
            return 1
        context = getattr(self.spark, "_sc", None)
        return context.defaultParallelism if context else int(self.spark.conf.get("spark.sql.shuffle.partitions"))
