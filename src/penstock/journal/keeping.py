"""The journal of one server: writer, reader, readers and retention, joined.

Who the node is: a node is one unbroken stretch of one store's history. It is made with the store's first event and kept
in the store. A store that was restored, or that ran for a while without a journal, gets another, so that (node, seq)
never means two things; every queue's number of messages is then said anew, in a baseline.
"""

import asyncio
import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec
import structlog

from penstock.core.clock import Clock
from penstock.core.errors import Unavailable
from penstock.core.journal import BASELINE, LEVELS, Chunk, Event, ReaderState, Segment
from penstock.core.store import Store
from penstock.journal.absence import Absence
from penstock.journal.reader import Reader
from penstock.journal.readers import Readers
from penstock.journal.retention import Retention
from penstock.journal.segments import FOREVER, Segments
from penstock.journal.writer import Writer

log = structlog.get_logger("penstock")
P = ParamSpec("P")
T = TypeVar("T")

NODE = "journal-node"
"""Under which name the store keeps the node."""
ENDED = "-"
"""Before the name of a node that a restored store must not go on with."""
QUEUES_AT_ONCE = 100
FORMAT = "_format.json"
"""Says which fields the lines may have, before the first line that has them is written: a reader of an older version
learns from it that there are some it does not know."""
FIELDS_WRITTEN = msgspec.json.encode({"version": 1, "fields": list(Event.__struct_fields__)})
TIMES_KEPT = 100


@dataclass(frozen=True)
class Keeping:
    """How the journal is kept; the names are those of the settings."""

    directory: Path
    level: str = "events"
    segment_bytes: int = 67_108_864
    segment_seconds: int = 60
    keep_days: int = 7
    keep_bytes: int = 10_737_418_240


def stop_at_once(error: BaseException) -> None:
    """What is on the disk is not known any more; the next start writes what is missing from the store's outbox."""
    log.critical("stopping: the journal's disk failed", reason=str(error))
    sys.stderr.flush()
    os._exit(70)


class JournalOfServer:
    """What `core.journal` calls a Journal for the store, and an Archive for operations."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        keeping: Keeping,
        *,
        segments: Segments | None = None,
        on_fatal: Callable[[BaseException], None] = stop_at_once,
    ) -> None:
        self._store, self._clock, self.keeping, self.on_fatal = store, clock, keeping, on_fatal
        self.level, self.node = LEVELS[keeping.level], ""
        self.files = segments or Segments(keeping.directory)
        self._reader, self._readers = Reader(self.files), Readers(keeping.directory, self.files.disk)
        self._lookups, self._times = Reader(self.files), dict[int, int]()
        self._retention = Retention(self.files, self._readers, keeping.keep_days, keeping.keep_bytes)
        self._lock, self._reading = asyncio.Lock(), asyncio.Lock()
        self.forced, self._noted = 0, False
        self.wake: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Once the store is open, and before anything is changed in it."""
        self.files.disk.prepare(self.files.directory)
        self._readers.all()
        self._say_the_format()
        kept = (await self._store.keep(NODE, b"")).decode()
        if kept and (kept.startswith(ENDED) or self._is_ahead(kept)):
            await self.end(kept)
            kept = ""
        self.node = kept or secrets.token_hex(6)
        self.writer = self._writer(self.node)
        if kept:
            await self.writer.start(self._store, self._store.journal_seq())
        else:
            self.writer.begin(self._store.journal_seq())
            if begun := self._store.journal_seq():
                Absence(self.files.directory, self.files.disk).note({self.node: begun})
        self._store.attach_journal(self)
        if not kept:
            # Killed before it is kept, this node ends here, and the next start begins another.
            self._store.published(self._store.journal_seq())  # what is in the outbox is another node's
            await self._baseline()
            await self._store.put(NODE, self.node.encode())

    def _say_the_format(self) -> None:
        place = self.files.directory / FORMAT
        if not place.exists() or place.read_bytes() != FIELDS_WRITTEN:
            self.files.disk.replace(place, FIELDS_WRITTEN)

    def _is_ahead(self, node: str) -> bool:
        """Whether the journal has what the store does not know: then the store is an old one, put back by hand."""
        newest = self.files.closed(node)[-1:]
        if newest and newest[0].last > self._store.journal_seq():
            log.warning("the store is older than its journal: going on as another node", node=node)
            return True
        return False

    async def end(self, kept: str) -> None:
        """Write out the last events of a node that nobody goes on with, and publish what it left open."""
        writer = self._writer(kept.removeprefix(ENDED))
        await writer.start(self._store, FOREVER)
        if writer.behind:
            raise OSError(
                errno.ENOSPC, "there is no room for the last events of the journal", str(self.files.directory)
            )
        writer.roll()
        await writer.publish()

    def _writer(self, node: str) -> Writer:
        size = self.keeping.segment_bytes
        return Writer(self.files, node, self._clock, size, lambda: self.wake(), self.on_fatal)

    async def _baseline(self) -> None:
        queues = [queue.id for queue in await self._store.all_queues()]
        for start in range(0, len(queues), QUEUES_AT_ONCE):
            await self._store.gauge(queues[start : start + QUEUES_AT_ONCE], self._clock.now(), BASELINE)

    async def stop(self) -> None:
        """After the last change, before the store is closed."""
        await self.settle(self._clock.now())
        await self.writer.stop(self._store)
        self._reader.close()
        self._lookups.close()

    # For the store

    def committed(self, first: int, last: int, lines: bytes) -> None:
        self.writer.committed(first, last, lines)

    # For operations

    @property
    def last(self) -> int:
        return self.writer.last

    def trouble(self) -> str | None:
        return "The journal's disk is full." if self.writer.full else None

    def note(self, event: Event) -> None:
        self._store.note(event)
        if not self._noted:
            self._noted = True
            self.wake()

    @property
    def idle(self) -> bool:
        return self.writer.idle and not self._noted

    async def settle(self, now: int) -> None:
        """Commit what was noted, if the store can: on a full disk there is more to do here that helps."""
        if self._noted:
            self._noted = False
            with contextlib.suppress(Unavailable):
                await self._store.gauge([], now)

    async def segments(self) -> Sequence[Segment]:
        await self.writer.settle()
        return await asyncio.to_thread(lambda: [s for node in self.files.nodes() for s in self.files.all(node)])

    async def read(self, node: str, seq: int, most: int, queue: str | None = None) -> Chunk:
        await self.writer.settle()
        async with self._reading:  # one thread at most, so that readers cannot keep the writer from one
            return await asyncio.to_thread(self._reader.read, node, seq, most, queue)

    async def time_of(self, seq: int) -> int | None:
        """Remembered, because a segment is unpacked for it, and the same number is asked for until a reader goes on."""
        if seq not in self._times:
            try:
                async with self._reading:
                    found = await asyncio.to_thread(self._lookups.read, self.node, seq, 1)
                if not found.lines:
                    return None
                self._times[seq] = msgspec.json.decode(found.lines, type=Event).ts_ms
            except ValueError:  # no event: `penstock journal verify` tells
                return None
            if len(self._times) > TIMES_KEPT:
                del self._times[next(iter(self._times))]
        return self._times[seq]

    async def wait(self, seq: int, seconds: float) -> None:
        await self.writer.wait(seq, seconds)

    async def readers(self) -> Sequence[ReaderState]:
        return list((await asyncio.to_thread(self._readers.all)).values())

    async def register(self, name: str, now: int) -> ReaderState:
        return await self._alone(self._readers.register, name, now)

    async def commit(self, name: str, node: str, seq: int) -> ReaderState:
        return await self._alone(self._readers.commit, name, node, seq)

    async def unregister(self, name: str) -> None:
        await self._alone(self._readers.remove, name)

    async def enforce_retention(self) -> None:
        removed = await self._alone(self._retention.enforce, self._clock.wall())
        self.forced += removed.forced

    async def _alone(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """To its end, whoever stops waiting: a thread cannot be called back, and the next must not start beside it."""

        async def to_its_end() -> T:
            async with self._lock:
                return await asyncio.to_thread(work, *arguments, **options)

        return await asyncio.shield(asyncio.ensure_future(to_its_end()))


async def without_journal(journal: JournalOfServer, store: Store) -> None:
    """The server runs with the journal off: what happens now is in no journal, so a later one is another node's."""
    if store.capabilities.journal and (kept := (await store.keep(NODE, b"")).decode()):
        with journal.files.disk.claim(journal.files.directory):
            await journal.end(kept)
        await store.put(NODE, b"")
