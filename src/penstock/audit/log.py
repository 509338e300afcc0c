"""The log of a running server: takes entries, numbers and chains them, and makes them last.

Whoever changes something waits until its line is on disk; those who wait together share one fsync. Other lines follow a
second later. While the disk is full nothing that must be written down is done (`trouble`), and refused calls are only
counted. Any other disk error stops the process, as it does for the store.

It refuses to know what is worth a line (`api.audit` does) and when to do what is due (`loops.audit` does).
"""

import asyncio
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import structlog

from penstock.audit.files import Files, whole_part
from penstock.audit.search import find
from penstock.core.audit import START, Ask, Entry, Found, Kind, line_of
from penstock.core.clock import Clock
from penstock.core.errors import Unavailable
from penstock.core.neighbourhood import neighbourhood_of
from penstock.core.thinning import DAY_MS, OTHERS, REFUSED, Thinning
from penstock.journal.disk import Disk
from penstock.journal.writer import FULL_DISK

log = structlog.get_logger("penstock")

FILE_BYTES = 16_777_216
MOST_WAITING = 1_048_576
"""Bytes that may wait for a disk with no room; refused calls beyond them are only counted."""
LOOKS = (60_000, 1, 1_000, 100_000)
"""Of looks: one a minute for the same caller, action and thing."""


def stop_at_once(error: BaseException) -> None:
    log.critical("stopping: the audit log's disk failed", reason=str(error))
    sys.stderr.flush()
    os._exit(70)


class Log:
    """`keep_days`: 0 is for ever. `wake` is called when there is something to do that was not there before."""

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        keep_days: int,
        *,
        file_bytes: int = FILE_BYTES,
        disk: Disk | None = None,
        on_fatal: Callable[[BaseException], None] = stop_at_once,
    ) -> None:
        self.files, self._disk, self._clock = Files(directory), disk or Disk(), clock
        self._keep_days, self._file_bytes, self._on_fatal = keep_days, file_bytes, on_fatal
        self.wake: Callable[[], None] = lambda: None
        self.last, self._hash, self._lasting = 0, START, 0
        self._waiting: list[bytes] = []
        self._bytes_waiting = 0
        self._file, self._size, self._day = -1, 0, -1
        self._full = False
        self._lock, self._reading = asyncio.Lock(), asyncio.Lock()
        self._refused, self._looks = Thinning(*REFUSED), Thinning(*LOOKS)
        self._looked: dict[str, Entry] = {}

    def start(self) -> None:
        self.files.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.last, self._hash = self.files.end()
        self._lasting = self.last

    async def stop(self) -> None:
        self.summarise(self._clock.now())
        try:
            await self.lasting()
        except Unavailable as error:
            log.error("the last lines of the audit log are lost", reason=str(error))
        if self._file >= 0:
            self._disk.close(self._file)
            self._file = -1

    # Taking entries

    def admits(self, entry: Entry) -> bool:
        match entry:
            case Entry(kind=Kind.READ, result="ok"):
                key = f"{entry.principal} {entry.peer} {entry.action} {entry.resource}"
                admitted = self._thinned(self._looks, key, entry)
                if key in self._looks.held:
                    self._looked[key] = entry
            case Entry(result="denied" | "failed"):
                admitted = self._thinned(self._refused, neighbourhood_of(entry.peer), entry)
            case _:
                return True
        if not admitted:
            self.wake()
        return admitted

    def _thinned(self, thinning: Thinning, key: str, entry: Entry) -> bool:
        if self._bytes_waiting > MOST_WAITING:
            thinning.hold(key)
            return False
        return thinning.admits(key, entry.ts_ms)

    def write(self, entry: Entry) -> None:
        entry.seq, entry.prev = self.last + 1, self._hash
        line, self._hash = line_of(entry)
        self.last = entry.seq
        self._waiting.append(line)
        self._bytes_waiting += len(line)
        self.wake()

    def summarise(self, now: int) -> None:
        """A line for each address or look that was counted since the last time."""
        if self._full:
            return
        for peer, count in self._refused.take_held().items():
            self.write(Entry(seq=0, ts_ms=now, kind=Kind.DENIED, peer=peer, result="denied", count=count))
        looked, self._looked = self._looked, {}
        for key, count in self._looks.take_held().items():
            entry = Entry(seq=0, ts_ms=now, kind=Kind.READ, result="ok") if key == OTHERS else looked[key]
            entry.ts_ms, entry.count, entry.request_id = now, count, ""
            self.write(entry)

    @property
    def idle(self) -> bool:
        return self._lasting == self.last

    @property
    def counted(self) -> bool:
        """Whether there is something to summarise."""
        return bool(self._refused.held or self._looks.held)

    # Making them last

    async def lasting(self) -> None:
        if not self.idle:
            await asyncio.shield(asyncio.ensure_future(self._save(self.last)))

    async def _save(self, goal: int) -> None:
        async with self._lock:
            if self._lasting >= goal:
                return
            waiting, size, last = self._waiting, self._bytes_waiting, self.last
            self._waiting, self._bytes_waiting = [], 0
            try:
                first, day = last - len(waiting) + 1, self._clock.now() // DAY_MS
                await asyncio.to_thread(self._append, first, day, b"".join(waiting))
            except OSError as error:
                self._waiting, self._bytes_waiting = waiting + self._waiting, size + self._bytes_waiting
                self._failed(error)
            self._lasting, self._full = last, False

    def _failed(self, error: OSError) -> None:
        if error.errno not in FULL_DISK:
            self._on_fatal(error)
        if not self._full:
            log.error("the audit log's disk is full: identities cannot be changed", reason=str(error))
        self._full = True
        raise Unavailable("The audit log's disk is full.")

    def _append(self, first: int, day: int, lines: bytes) -> None:
        if self._file < 0 or self._size >= self._file_bytes or day != self._day:
            self._open(first)
            self._day = day
        try:
            self._disk.write(self._file, lines)
            self._disk.sync(self._file)
        except OSError as error:
            if error.errno in FULL_DISK:  # a part may have been written, and all of it will be again
                self._disk.truncate(self._file, self._size)
            raise
        self._size += len(lines)

    def _open(self, first: int) -> None:
        if self._file >= 0:
            self._disk.close(self._file)
            self._file = -1
        path = self.files.path_of(first)
        self._file = self._disk.create(path)
        self._size = whole_part(path)
        self._disk.truncate(self._file, self._size)
        self._disk.sync_folder(path.parent)

    def trouble(self) -> str | None:
        return "The audit log's disk is full." if self._full else None

    # Looking, and forgetting

    async def find(self, ask: Ask) -> Found:
        if not self._full:
            await self.lasting()
        async with self._reading:  # one thread at most, so that readers cannot keep the writer from one
            return await asyncio.to_thread(find, self.files, ask)

    async def forget(self, now: int) -> None:
        """Remove the files whose last line is older than lines are kept; that this was done is a line itself, and on
        disk before."""
        if not self._keep_days:
            return
        files = await asyncio.to_thread(self.files.all)
        old = []
        for file, following in pairwise(files):
            if file.modified >= now - self._keep_days * DAY_MS:
                break
            old.append((file, following.first - 1))
        if old:
            through = str(old[-1][1])
            self.write(Entry(seq=0, ts_ms=now, kind=Kind.FORGOTTEN, result="ok", resource=through))
            await self.lasting()
            for file, _ in old:
                self._disk.remove(file.path)
