"""One file of a staging: a task's messages as an Arrow file, written by its executor, read by all.

A message that was received before is in the file as `repeated`: it is no row of the batch, but its newer receipt is
what deletes it.

Does without `pyarrow.compute`: to load it takes longer than to load all else of this source, and a query would wait
for that twice as it starts.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa

from penstock.pipeline.sources.queue import calls
from penstock.pipeline.sources.queue.messages import ARROW, Message, batch_of
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.staging import Staging, StagingError, publish
from penstock.pipeline.sqs import Client

FILE = ARROW.append(pa.field("repeated", pa.bool_()))
ROWS, BYTES = 2_000, 4 << 20
"""An Arrow batch is cut when it has so many messages, or about so many bytes."""
RECEIVING = 1 / 3
"""The part of a window in which a task receives. The rest is for writing it down, and for the driver to take over."""
LATEST = 0.9
"""The part of a window after which a file must not appear any more: others may hold its messages by then."""


class Held(NamedTuple):
    """What a file holds, for those who extend, delete and give back."""

    message_id: str
    receipt: str
    repeated: bool


def chunks(received: Iterator[Sequence[Message]]) -> Iterator[list[Message]]:
    chunk: list[Message] = []
    size = 0
    for messages in received:
        chunk += messages
        size += sum(len(message["Body"]) for message in messages)
        if len(chunk) >= ROWS or size >= BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def rows(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of the batch, without what is only to be deleted."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            repeated = batch.column("repeated")
            if repeated.true_count:
                batch = batch.filter(pa.array([not one for one in repeated.to_pylist()]))
            if batch.num_rows:
                yield batch.select(columns)


def held(path: Path) -> list[Held]:
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        table = file.read_all().select(["message_id", "receipt_handle", "repeated"])
    return [Held(*values) for values in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def ids(path: Path) -> list[str]:
    """As `held`, where only that is asked: each task of a batch does, of all that is in the one before."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        found: list[str] = file.read_all().column("message_id").to_pylist()
    return found


def counted(path: Path) -> tuple[int, int]:
    """How many rows it has, and when the message that was sent last was sent."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        batches = [file.get_batch(number) for number in range(file.num_record_batches)]
        rows = sum(batch.num_rows - batch.column("repeated").true_count for batch in batches)
        times = (at for batch in batches for at in batch.column("sent_ms").to_pylist() if at is not None)
        return rows, max(times, default=0)


@dataclass
class Task:
    """Fills one file of a batch, once: a twin that comes later finds it there and gives back what it took."""

    settings: Settings
    staging: Staging
    batch: int
    index: int
    share: int
    clock: Callable[[], float] = time.monotonic

    def file(self) -> Path:
        path = self.staging.file(self.batch, self.index)
        if not path.exists():
            with self.settings.client() as client:
                self._fill(path, client)
        return path

    def _fill(self, path: Path, client: Client) -> None:
        self._receipts: list[str] = []
        self._seen = self._done_with()
        temporary = path.with_name(f".{self.index}.{uuid4().hex}")
        began = self.clock()
        try:
            self._write(temporary, client)
            if self.clock() - began > LATEST * self.settings.visibility_seconds:
                raise StagingError(
                    f"it took longer to write down what was received than messages stay hidden, "
                    f"{self.settings.visibility_seconds} s: raise visibilityTimeout, or lower maxMessagesPerTrigger"
                )
            first = publish(temporary, path)
        except FileNotFoundError as error:
            self._give_back(client)
            raise StagingError(
                f"{path.parent} is not there: stagingLocation must be a directory that driver and executors share"
            ) from error
        except BaseException:
            temporary.unlink(missing_ok=True)
            self._give_back(client)
            raise
        if not first:
            self._give_back(client)

    def _done_with(self) -> set[str]:
        """Ids of messages that are rows of earlier batches and may come again. What is being settled now is looked at
        first: whatever it leaves unsure, it notes before it is settled."""
        earlier = [one for one in self.staging.batches() if one < self.batch]
        settling = [one for one in earlier if not self.staging.marked(one, "settled")]
        return set(self.staging.unsure()).union(
            *(ids(path) for batch in settling for path in self.staging.files(batch))
        )

    def _write(self, temporary: Path, client: Client) -> None:
        settings = self.settings
        window = settings.visibility_seconds
        receive = calls.Share(
            client, settings.queue_url, self.share, settings.wait_seconds, window, window * RECEIVING, self.clock
        )
        with temporary.open("wb") as sink:
            with pa.ipc.new_file(sink, FILE) as writer:
                for chunk in chunks(self._noted(receive.messages())):
                    writer.write_batch(self._marked(batch_of(chunk, settings.queue_url), temporary))
            sink.flush()
            os.fsync(sink.fileno())

    def _noted(self, received: Iterator[Sequence[Message]]) -> Iterator[Sequence[Message]]:
        for messages in received:
            self._receipts += [message["ReceiptHandle"] for message in messages]
            yield messages

    def _marked(self, batch: pa.RecordBatch, temporary: Path) -> pa.RecordBatch:
        """With `repeated` for what is done with already, is in another file of this batch, or came twice here."""
        siblings: set[str] = set()
        if self._old(temporary):
            siblings = {one for path in self.staging.files(self.batch) for one in ids(path)}
        marks = []
        for message_id in batch.column("message_id").to_pylist():
            marks.append(message_id in self._seen or message_id in siblings)
            self._seen.add(message_id)
        return pa.RecordBatch.from_arrays([*batch.columns, pa.array(marks, pa.bool_())], schema=FILE)

    def _old(self, temporary: Path) -> bool:
        """Whether a window of this batch may have ended since it was planned, by the clock of the file system."""
        if self.staging.marked(self.batch, "given-back"):
            return True
        planned = (temporary.parent / "plan.json").stat().st_mtime
        return temporary.stat().st_mtime - planned > self.settings.visibility_seconds / 2

    def _give_back(self, client: Client) -> None:
        """As well as it can be done: those for which it fails come back when their window ends."""
        try:
            calls.hide(client, self.settings.queue_url, self._receipts, 0)
        except Exception:
            return  # what led here is the error to show
