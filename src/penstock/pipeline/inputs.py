"""Where a job that follows the journal has it from: its folder, which Spark's own reader takes, or the server.

Both give lines in the same columns, tell what was wrong with a batch of them, and let the server know how far we are.
"""

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import density, events
from penstock.pipeline.ask import Ask
from penstock.pipeline.checkpoint import Checkpoint
from penstock.pipeline.density import Count, Covered, Finding
from penstock.pipeline.events import CORRUPT, FILE
from penstock.pipeline.ranges import Range, joined, reached, total
from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.whole import Whole, planned, whole

if TYPE_CHECKING:
    from penstock.pipeline.sources.journal.server import Server

EVENTS_AT_ONCE = 1_000_000
"""Of a batch over HTTP. A batch from a folder is counted in segments."""


class Input(Protocol):
    name: str

    def stream(self) -> DataFrame:
        """Lines, in the columns that `events` describes."""

    def waiting(self, covered: Covered) -> int:
        """Events that could be read and have not been."""

    def whole(self, batch: int) -> Whole | None:
        """The quick way for a batch, if it may have one."""

    def examine(self, lines: DataFrame, count: Count, covered: Covered, batch: int) -> tuple[list[Finding], Covered]:
        """What is wrong with a batch, and what has been read with it."""

    def acknowledge(self, covered: Covered) -> None:
        """Tell the server, if it knows us, what it need not keep for us."""

    def close(self) -> None: ...


def open_input(spark: SparkSession, ask: Ask, checkpoint: Checkpoint) -> Input:
    if ask.journal_place:
        return FolderInput(spark, ask, checkpoint)
    return ServerInput(spark, ask, checkpoint)


class FolderInput:
    def __init__(self, spark: SparkSession, ask: Ask, checkpoint: Checkpoint) -> None:
        self.name = ask.journal_place or ""
        self._spark, self._ask, self._checkpoint = spark, ask, checkpoint
        self._server = _server(ask) if ask.reader and ask.endpoint_url else None

    def stream(self) -> DataFrame:
        if self._ask.once:  # whoever stays may have come before the server
            events.check_there(self._spark, self.name)
        if self._server and self._ask.reader:
            self._server.register(self._ask.reader)
        return events.stream(self._spark, self.name, self._ask.segments_at_once)

    def waiting(self, covered: Covered) -> int:
        published: defaultdict[str, list[Range]] = defaultdict(list)
        for one in events.segments(self._spark, self.name):
            published[one.node].append((one.first, one.last))
        return sum(
            total(joined([*there, *covered.get(node, [])])) - total(covered.get(node, []))
            for node, there in published.items()
        )

    def whole(self, batch: int) -> Whole | None:
        if events.unknown_fields(self._spark, self.name) != []:
            return None
        return whole(self._spark, planned(self._checkpoint.folder, batch), events.segments(self._spark, self.name))

    def examine(self, lines: DataFrame, count: Count, covered: Covered, batch: int) -> tuple[list[Finding], Covered]:
        wanted = planned(self._checkpoint.folder, batch)
        return density.examine(lines, count, covered, events.segments(self._spark, self.name), wanted)

    def acknowledge(self, covered: Covered) -> None:
        if self._server and self._ask.reader:
            for node, ranges in covered.items():
                self._server.commit(self._ask.reader, node, reached(ranges))

    def close(self) -> None:
        if self._server:
            self._server.close()


class ServerInput:
    """Through the data source `penstock.journal`, which counts for itself and says what is missing in rows."""

    def __init__(self, spark: SparkSession, ask: Ask, checkpoint: Checkpoint) -> None:
        self.name = ask.endpoint_url or ""
        self._spark, self._ask, self._checkpoint = spark, ask, checkpoint
        self._server = _server(ask)

    def stream(self) -> DataFrame:
        from penstock.pipeline.sources import register

        register(self._spark)
        given = {"endpoint": self.name, "region": self._ask.region, "reader": self._ask.reader}
        options = {name: value for name, value in given.items() if value}
        reader = self._spark.readStream.format("penstock.journal").option("maxEventsPerTrigger", EVENTS_AT_ONCE)
        lines = reader.options(**options).load()
        return lines.select(
            *(f"`{name}`" for name in JOURNAL.names), CORRUPT, "extra", F.col("_source.file").alias(FILE)
        )

    def waiting(self, covered: Covered) -> int:
        ends = {segment.node: segment.last for segment in self._server.segments()}
        return sum(max(0, end - reached(covered.get(node, []))) for node, end in ends.items())

    def whole(self, batch: int) -> Whole | None:
        return None

    def examine(self, lines: DataFrame, count: Count, covered: Covered, batch: int) -> tuple[list[Finding], Covered]:
        return _set_aside(lines) if count.bad else [], {node: [(1, seq)] for node, seq in self._ends(batch).items()}

    def _ends(self, batch: int) -> dict[str, int]:
        """Where Spark planned the batch to end: its own note has that on the third line."""
        planned = (self._checkpoint.folder.read(f"offsets/{batch}") or b"").decode().splitlines()
        return {node: int(seq) for node, seq in json.loads(planned[2]).items()}

    def acknowledge(self, covered: Covered) -> None:
        """The data source does, when Spark has committed."""

    def close(self) -> None:
        self._server.close()


def _server(ask: Ask) -> "Server":
    from penstock.pipeline.sources.journal.server import Server  # needs Spark 4.2, as folders and tables do not

    return Server(ask.endpoint_url or "", ask.region)


def _set_aside(lines: DataFrame) -> list[Finding]:
    from penstock.pipeline.sources.journal.columns import GAP

    rows = lines.where(F.col(CORRUPT).isNotNull()).select("event", "node", "seq", "count", FILE, CORRUPT)
    return [
        Finding("events are missing", row[FILE], None, row.node, row.seq, row.seq + row["count"] - 1)
        if row.event == GAP
        else Finding("not a line of the journal", row[FILE], line=row[CORRUPT])
        for row in rows.limit(density.MOST_LINES).collect()
    ]
