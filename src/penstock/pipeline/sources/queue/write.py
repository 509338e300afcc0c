"""Rows to messages: what columns mean, in which order they go, and what keeps a row from being sent twice.

On a standard queue a task that is tried again sends again: at least once. On a FIFO queue it sends the same
deduplication ids, which are made of the query, its batch, the partition, and the row: its content and how many like it
came before, for after a shuffle the order of rows is not the same each time.
"""

import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any
from uuid import uuid4
from zlib import crc32

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import (
    DataType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

from penstock.pipeline.sources.queue.calls import LANES, TEN
from penstock.pipeline.sources.queue.messages import ATTRIBUTE
from penstock.pipeline.sources.queue.options import WRITE, Settings
from penstock.pipeline.sqs import PATIENCE_SECONDS, Client, Script, SqsError

REQUEST_BYTES = 250_000
"""So much goes into one request: every server takes it. A larger message goes alone."""
PIECE = 2_000
"""Messages of a FIFO queue that are sorted into lanes together. At a rate it is a tenth of a second's: a piece is sent
at a blow."""
Entry = dict[str, Any]

COLUMNS: Mapping[str, tuple[DataType, ...]] = {
    "body": (StringType(),),
    "group_id": (StringType(),),
    "deduplication_id": (StringType(),),
    "delay_seconds": (IntegerType(), LongType(), ShortType()),
    "attributes": (MapType(StringType(), ATTRIBUTE), MapType(StringType(), StringType())),
}


def check(settings: Settings, schema: StructType, overwrite: bool) -> None:
    settings.check_use(WRITE)
    if overwrite:
        raise ValueError('penstock.queue cannot overwrite a queue: use mode("append"), or outputMode("append")')
    have = ", ".join(f"{name} {kinds[0].simpleString()}" for name, kinds in COLUMNS.items())
    for column in schema.fields:
        if not any(_same(column.dataType, kind) for kind in COLUMNS.get(column.name, ())):
            found = f"{column.name} {column.dataType.simpleString()}"
            raise ValueError(f"penstock.queue does not write a column {found}; it writes {have}")
    required = ["body", "group_id"] if settings.fifo else ["body"]
    for name in required:
        if name not in schema.names:
            raise ValueError(
                f"column {name} is missing, which {settings.queue_url} needs; penstock.queue writes {have}"
            )
    if settings.fifo and "delay_seconds" in schema.names:
        raise ValueError("a FIFO queue takes no delay_seconds for a single message: drop the column")


def _same(one: DataType, other: DataType) -> bool:
    """Whether they are the same but for what may be null."""
    return one.simpleString() == other.simpleString()


@dataclass
class Sent(WriterCommitMessage):
    messages: int


@dataclass
class Pace:
    """Lets entries through no faster than `rate` a second."""

    rate: int | None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def of(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        if self.rate is None:
            yield from entries
            return
        began = self.clock()
        for number, entry in enumerate(entries):
            ahead = number / self.rate - (self.clock() - began)
            if ahead > 0:
                self.sleep(ahead)
            yield entry


@dataclass
class Rows:
    """The rows of one task as entries of SendMessageBatch. `scope` is what its deduplication ids begin with."""

    scope: str
    fifo: bool
    alike: Counter[str] = field(default_factory=Counter)

    def entries(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
        for batch in batches:
            names = batch.schema.names
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield self._entry(dict(zip(names, values, strict=True)))

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        if row["body"] is None:
            raise ValueError("a row has no body: a message needs one; filter such rows, or give them a value")
        entry: Entry = {"MessageBody": row["body"]}
        if row.get("group_id") is not None:
            entry["MessageGroupId"] = row["group_id"]
        elif self.fifo:
            raise ValueError("a row has no group_id: a message of a FIFO queue needs one")
        if self.fifo:
            entry["MessageDeduplicationId"] = row.get("deduplication_id") or self._deduplication_id(row)
        if row.get("delay_seconds") is not None:
            entry["DelaySeconds"] = row["delay_seconds"]
        if row.get("attributes"):
            entry["MessageAttributes"] = {name: _attribute(name, value) for name, value in row["attributes"]}
        return entry

    def _deduplication_id(self, row: Mapping[str, Any]) -> str:
        content = sha256(repr((row["group_id"], row["body"], row.get("attributes"))).encode()).hexdigest()
        self.alike[content] += 1
        return sha256(f"{self.scope}/{content}/{self.alike[content]}".encode()).hexdigest()


def _attribute(name: str, value: Any) -> dict[str, str]:
    if isinstance(value, str):
        return {"DataType": "String", "StringValue": value}
    if value is None or value["data_type"] is None:
        raise ValueError(f"attribute {name} of a row has no data_type: String, Number or Binary")
    if value["binary_value"] is not None:
        return {"DataType": value["data_type"], "BinaryValue": b64encode(value["binary_value"]).decode()}
    return {"DataType": value["data_type"], "StringValue": value["string_value"]}


def send(client: Client, settings: Settings, entries: Iterator[Entry]) -> int:
    """All of them, in tens, over a few connections; of a FIFO queue, those of a group over one, in their order."""
    paced = Pace(settings.rate).of(entries)
    lanes = 1 if settings.rate is not None and settings.rate < 1000 else LANES
    counted: list[int] = []
    if not settings.fifo or lanes == 1:
        client.run([_lane(settings.queue_url, paced, counted) for _ in range(lanes)])
        return sum(counted)
    most = settings.rate // 10 if settings.rate else PIECE
    while piece := _piece(paced, most):
        groups: list[list[Entry]] = [[] for _ in range(lanes)]
        for entry in piece:
            groups[crc32(entry["MessageGroupId"].encode()) % lanes].append(entry)
        client.run([_lane(settings.queue_url, iter(own), counted) for own in groups])
    return sum(counted)


def _piece(entries: Iterator[Entry], most: int) -> list[Entry]:
    return list(islice(entries, most))


def _lane(queue_url: str, entries: Iterator[Entry], counted: list[int]) -> Script:
    for batch in _packed(entries):
        unsent: Sequence[Entry] = batch
        deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.05
        while unsent:
            numbered = [entry | {"Id": str(number)} for number, entry in enumerate(unsent)]
            reply = yield "SendMessageBatch", {"QueueUrl": queue_url, "Entries": numbered}
            failed = reply.get("Failed") or []
            for failure in failed:
                if failure.get("SenderFault") or time.monotonic() > deadline:
                    raise SqsError(failure["Code"], failure.get("Message", ""), "SendMessageBatch", queue_url)
            counted.append(len(unsent) - len(failed))
            unsent = [unsent[int(failure["Id"])] for failure in failed]
            if unsent:
                time.sleep(pause)
                pause *= 2


def _packed(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """Lists of up to ten that fit into one request. Lanes share the iterator, so nothing is taken ahead of need."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        weight = _weight(entry)
        if batch and size + weight > REQUEST_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += weight
        if len(batch) == TEN:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _weight(entry: Entry) -> int:
    """Bytes, and never too few: a character has up to four."""
    attributes = entry.get("MessageAttributes")
    return 4 * (len(entry["MessageBody"]) + (len(repr(attributes)) if attributes else 0))


class _Writer:
    def __init__(self, settings: Settings, schema: StructType, overwrite: bool) -> None:
        check(settings, schema, overwrite)
        self._settings = settings
        self._job = uuid4().hex
        """Made once, on the driver: each try of a task has the same."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        epoch = context.getLocalProperty("streaming.sql.batchId")
        began = f"{query}/{epoch}" if query and epoch else self._job
        rows = Rows(f"{began}/{context.partitionId()}", self._settings.fifo)
        with self._settings.client() as client:
            return Sent(send(client, self._settings, rows.entries(iterator)))


class QueueWriter(_Writer, DataSourceArrowWriter):
    pass


class QueueStreamWriter(_Writer, DataSourceStreamArrowWriter):
    pass
