"""The data source `penstock.journal`: the journal's events as a DataFrame, of a batch or as a stream.

    spark.read.format("penstock.journal").load("/var/lib/penstock/journal")
    spark.readStream.format("penstock.journal").option("endpoint", "https://queues.example.org:9324").load()

This file is what Spark calls. Where lines come from (`files`, `server`), what is to be read
(`plan`), what a line says (`lines`) and which are wanted (`filters`) is decided elsewhere.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from penstock.pipeline.sources.journal import plan
from penstock.pipeline.sources.journal.columns import COLUMNS, GAP, arrow_schema, chosen
from penstock.pipeline.sources.journal.files import Files
from penstock.pipeline.sources.journal.filters import Condition, can_pass, passing
from penstock.pipeline.sources.journal.lines import problems, tables_of
from penstock.pipeline.sources.journal.options import JournalOptions
from penstock.pipeline.sources.journal.plan import Gap, Offset, Piece, Segment, Share
from penstock.pipeline.sources.journal.server import Server

POLL_SECONDS = 0.2
"""Spark asks for news a hundred times a second; the journal is looked at this often."""


class Broken(Exception):
    """Something of the journal is missing or cannot be read, and the options say to stop then."""


class JournalSource(DataSource):
    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self._options = JournalOptions.of(options)  # here, so that wrong options fail at analysis

    @classmethod
    def name(cls) -> str:
        return "penstock.journal"

    def schema(self) -> StructType:
        return COLUMNS

    def reader(self, schema: StructType) -> "JournalReader":
        return JournalReader(Reading.of(self._options.for_batch(), schema, gaps="fail"))

    def streamReader(self, schema: StructType) -> "JournalStream":  # noqa: N802
        return JournalStream(Reading.of(self._options, schema, gaps="report"))


@dataclass
class Reading:
    """What batches and streams have in common, and executors need."""

    options: JournalOptions
    columns: list[str]
    gaps: str
    place: Files | Server
    filters: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, options: JournalOptions, schema: StructType, gaps: str) -> "Reading":
        path = options.text("path")
        return cls(options, chosen(schema), options.text("gaps") or gaps, Files(path) if path else _server(options))

    def shares(self, segments: list[Segment], start: Mapping[str, int], end: Mapping[str, int]) -> list[Share]:
        conditions = [*self.options.asked, *self.filters]
        parts = [part for part in plan.between(segments, start, end) if can_pass(part, conditions)]
        for part in parts:
            if isinstance(part, Gap):
                self._check(part)
        events = sum(part.events for part in parts if isinstance(part, Piece))
        return plan.shares(parts, self.options.per_partition(events))

    def batches(self, share: InputPartition) -> Iterator[Any]:
        schema = arrow_schema(self.columns)
        with closing(self.place):
            for part in share.parts if isinstance(share, Share) else ():
                for table in self._tables(part):
                    wanted = passing(table, self.options.asked, self.filters)
                    if len(wanted):
                        yield from wanted.select(self.columns).cast(schema).combine_chunks().to_batches()

    def _tables(self, part: Piece | Gap) -> Iterator[Any]:
        for found in [part] if isinstance(part, Gap) else self.place.read(part):
            if isinstance(found, Gap):
                self._check(found)
                yield problems([_row(found)])
                continue
            for table in tables_of(found):
                self._check_lines(table)
                yield table

    def _check(self, gap: Gap) -> None:
        if gap.damaged and self.options.text("corrupt") == "fail":
            raise Broken(f"{gap.file}: {gap}; the option corrupt = keep reads on")
        if not gap.damaged and self.gaps == "fail":
            raise Broken(f"{gap}; the option gaps = report reads on, and has a row for it")

    def _check_lines(self, table: Any) -> None:
        if self.options.text("corrupt") == "fail" and table.column("_source").null_count < len(table):
            place = next(place for place in table.column("_source").to_pylist() if place)
            raise Broken(f"{place['file']}, offset {place['offset']}: the line is no event; corrupt = keep reads on")


def _row(gap: Gap) -> dict[str, Any]:
    told = {"node": gap.node, "from": gap.start, "to": gap.end}
    row = {"node": gap.node, "seq": gap.start, "event": GAP, "reason": gap.why, "count": gap.events, "date": gap.date}
    return row | {"_corrupt": json.dumps(told), "_source": {"file": gap.file, "offset": None}}


class JournalReader(DataSourceReader):
    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    @property
    def pushFilters(self) -> "Pushing":  # noqa: N802
        return Pushing(self._reading)

    def partitions(self) -> Sequence[InputPartition]:
        with closing(self._reading.place) as place:
            segments = place.segments()
        start = self._reading.options.starting
        return self._reading.shares(
            segments, _known(start, segments) if isinstance(start, dict) else {}, plan.latest(segments)
        )

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._reading.batches(partition)


class Pushing:
    """Takes filters where Spark offers them. Spark refuses a reader that could, in a session that has push-down
    switched off, as it is by default; but this one can do without, and so does not show it."""

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def __call__(self, filters: list[Filter]) -> Iterator[Filter]:
        for wanted in filters:
            condition = Condition.of(wanted)
            if condition is None:
                yield wanted
            else:
                self._reading.filters += (condition,)


class JournalStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._server = reading.place if isinstance(reading.place, Server) else _server(reading.options)
        self._target: Offset | None = None
        self._looked = 0.0
        self._registered = False
        self._committed: Offset = {}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self._reading.options.number("maxEventsPerTrigger")
        return ReadMaxRows(most) if most else ReadAllAvailable()

    def initialOffset(self) -> Offset:  # noqa: N802
        self._register()
        segments, start = self._reading.place.segments(), self._reading.options.starting
        if isinstance(start, dict):
            offset = _known(start, segments)
        else:
            offset = plan.latest(segments) if start == "latest" else plan.earliest(segments)
        return dict(sorted(offset.items()))  # Spark compares offsets as texts

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = plan.latest(self._reading.place.segments())

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        return plan.latest(self._reading.place.segments())

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        self._register()
        self.commit(start)  # Spark plans on from what is done, and would say so itself only with the batch after
        self._wait()
        segments = self._reading.place.segments()
        end = plan.latest(segments) if self._target is None else self._target
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else sum(end.values()) + 1
        return plan.limited(start, end, plan.earliest(segments), most)

    def _wait(self) -> None:
        time.sleep(max(0.0, self._looked + POLL_SECONDS - time.monotonic()))
        self._looked = time.monotonic()

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        self._looked = 0.0
        return self._reading.shares(self._reading.place.segments(), start, end)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._reading.batches(partition)

    def commit(self, end: Offset) -> None:
        reader = self._reading.options.text("reader")
        for node, seq in end.items():
            if reader and self._committed.get(node) != seq:
                self._server.commit(reader, node, seq)
        self._committed = end

    def _register(self) -> None:
        reader = self._reading.options.text("reader")
        if reader and not self._registered:
            self._server.register(reader)
            self._registered = True

    def stop(self) -> None:
        self._reading.place.close()
        self._server.close()


def _server(options: JournalOptions) -> Server:
    keys = options.text("accessKey"), options.text("secretKey"), options.text("sessionToken")
    return Server(str(options.text("endpoint")), options.text("region"), keys)


def _known(start: Offset, segments: list[Segment]) -> Offset:
    nodes = {segment.node for segment in segments}
    if unknown := sorted(start.keys() - nodes):
        raise ValueError(f"startingOffsets names the node {unknown[0]}; the journal has {', '.join(sorted(nodes))}")
    return start
