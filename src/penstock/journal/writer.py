"""The writer: takes the lines of each commit and appends them to the open segment.

The store has the lines already, in its outbox, and keeps them until this writer says that they are on disk here too. So
nothing waits for this disk, and nothing that happens to it loses an event: a torn line is cut off at the next start and
written again from the outbox; while the disk is full the outbox grows, and is written out when there is room.

Lines that come packed are many, and to make text of them takes longer than to take them. They wait for a moment, and
become text in another thread: whoever wants to read or move files `settle`s that first.

It refuses to know what the lines say, when to do what is due (`loops.journal` does), and old segments.
"""

import asyncio
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from penstock.core.clock import Clock
from penstock.core.journal import Batch
from penstock.core.outbox import PACKED, unpacked
from penstock.core.store import Store
from penstock.journal.segments import Segments, date_of, sound_part

log = structlog.get_logger("penstock")

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}
DAY_MS = 86_400_000
BATCHES_AT_ONCE = 100
GATHER_SECONDS = 0.05
"""For so long packed lines may wait for others."""
PORTION_BYTES = 64 * 1024
"""Of packed lines, that become text at once. The thread that does it, and the loop, have to wait for each other before
and after. In a small segment they are fewer: what is written at once is not divided between segments."""
PORTIONS_OF_A_SEGMENT = 100
MOST_GATHERED = 32 * 1024 * 1024
"""Bytes: if so many wait, the disk does not keep up, and they are in the outbox anyway."""


@dataclass(slots=True)
class Opened:
    """A segment that is not published. `synced` is the last number known to be on disk."""

    path: Path
    file: int
    first: int
    last: int
    size: int
    since: int
    synced: int = 0


class Writer:
    """`wake` is called when there is something to do that was not there before; `on_fatal` when the disk fails."""

    def __init__(
        self,
        segments: Segments,
        node: str,
        clock: Clock,
        segment_bytes: int,
        wake: Callable[[], None],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self._segments, self._disk, self._node, self._clock = segments, segments.disk, node, clock
        self._segment_bytes, self._wake, self._on_fatal = segment_bytes, wake, on_fatal
        self.last = self._taken = 0
        """The last number that is in a file, and the last that was taken."""
        self.open: Opened | None = None
        self.rolled: list[Opened] = []
        """Full, and to be published."""
        self.full = False
        self.behind = True
        self._day_end = 0
        self._awake = False
        self._working: asyncio.Future[object] | None = None
        self._gathered: list[Batch] = []
        self._gathered_bytes, self.most_gathered = 0, MOST_GATHERED
        self._gathering: asyncio.TimerHandle | None = None
        self._appending: asyncio.Future[None] | None = None
        self._closing = False
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    # Taking lines

    def committed(self, first: int, last: int, lines: bytes) -> None:
        if self.behind or first != self._taken + 1 or self._gathered_bytes > self.most_gathered:
            self.behind = True
        else:
            self._take((first, last, lines))
        if not self._awake:
            self._awake = True
            self._wake()

    def _take(self, batch: Batch) -> None:
        first, last, lines = batch
        self._taken = last
        if not (lines.startswith(PACKED) or self._gathered or self._appending):
            self._append(first, last, lines, self._clock.now())
            self._tell()
            return
        self._gathered.append(batch)
        self._gathered_bytes += len(lines)
        if self._waiting:
            self._begin_to_append()
        elif not self._gathering:
            self._gather()

    def _gather(self) -> None:
        self._gathering = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._begin_to_append)

    def _begin_to_append(self) -> None:
        if self._gathering:
            self._gathering.cancel()
            self._gathering = None
        if self._gathered and not self._appending:
            self._appending = asyncio.ensure_future(self._append_gathered())

    async def _append_gathered(self) -> None:
        batches, self._gathered, self._gathered_bytes = self._gathered, [], 0
        try:
            await asyncio.to_thread(self._append_all, batches, self._clock.now())
        except BaseException:
            self.behind = True
            raise
        finally:
            self._appending = None
            if self.behind:
                self._gathered, self._gathered_bytes = [], 0
            self._tell()
            if self._gathered and not self._gathering:
                self._gather()

    def _append_all(self, batches: list[Batch], now: int) -> None:
        for portion in _portions(batches, min(PORTION_BYTES, self._segment_bytes // PORTIONS_OF_A_SEGMENT)):
            firsts, lasts, kept = zip(*portion, strict=True)
            if not self._append(firsts[0], lasts[-1], self._lines(kept), now):
                return

    async def settle(self) -> None:
        """Wait until everything that was taken up to now is in a file, unless the disk fails or is full, and no thread
        is at it."""
        goal = self._taken
        while self._appending or (self._gathered and self.last < goal):
            self._begin_to_append()
            if self._appending:
                await asyncio.shield(self._appending)

    def _lines(self, kept: Sequence[bytes]) -> bytes:
        native = self._disk.native
        return (native and native.unpacked(kept)) or b"".join(map(unpacked, kept))

    def _append(self, first: int, last: int, lines: bytes, now: int) -> bool:
        """Whether there was room."""
        try:
            opened = self._room(first, now)
            self._disk.write(opened.file, lines)
        except OSError as error:
            self._cut_back(error)
            return False
        opened.last = self.last = last
        opened.size += len(lines)
        return True

    def _room(self, first: int, now: int) -> Opened:
        opened = self.open
        if opened is None or (opened.size and (opened.size >= self._segment_bytes or now >= self._day_end)):
            self.roll()
            path = self._segments.open_path(self._node, first, now)
            opened = self.open = Opened(path, self._disk.create(path), first, first - 1, 0, now)
            self._day_end = now - now % DAY_MS + DAY_MS
        return opened

    def roll(self) -> None:
        if self.open is not None and self.open.size:
            self.rolled.append(self.open)
            self.open = None

    def _cut_back(self, error: OSError) -> None:
        """A part of a line may have been written: the file ends where it ended before."""
        self.behind = True
        if error.errno not in FULL_DISK:
            self._on_fatal(error)
            return
        if not self.full:
            log.error("the journal's disk is full: events wait in the store", reason=str(error))
        self.full = True
        if self.open is not None:
            try:
                self._disk.truncate(self.open.file, self.open.size)
            except OSError as worse:
                self._on_fatal(worse)

    # What the loop does

    async def catch_up(self, store: Store) -> None:
        """Write out what is in the store's outbox and not here."""
        await self.settle()
        while self.behind:
            goal = store.journal_seq()
            batches = await store.outbox_after(self.last, BATCHES_AT_ONCE)
            if not batches:
                self._pass_over(goal + 1)
            for batch in batches:
                first, last, lines = _after((*batch[:2], self._lines(batch[2:])), self.last)
                self._pass_over(first)
                if not self._append(first, last, lines, self._clock.now()):
                    return
                self._tell()
            self.behind, self._taken = self.last < store.journal_seq(), self.last

    def _pass_over(self, first: int) -> None:
        """What the store no longer has, and what was not found here, is lost: only someone who deletes files does that.
        A segment has no gaps, so another begins after one."""
        if first > self.last + 1:
            if self.last:
                log.error("events are missing in the journal", node=self._node, after=self.last, before=first)
            self.roll()
            self.last = first - 1

    @property
    def idle(self) -> bool:
        """Whether everything that was taken is on disk."""
        waiting = self.rolled or self.behind or self._gathered or self._appending
        return not waiting and (self.open is None or self.open.synced == self.open.last)

    def rest(self) -> None:
        """Nobody looks after this until it wakes them."""
        self._awake = False

    async def _in_thread(self, work: Callable[..., object], *arguments: object) -> None:
        """What has begun is finished, even if whoever waits for it is told to stop."""
        self._working = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
        await asyncio.shield(self._working)

    async def sync(self, store: Store) -> None:
        """Make everything that was taken last, and tell the store."""
        last, files = self.last, [*self.rolled, *([self.open] if self.open else [])]
        due = [(opened, opened.last) for opened in files if opened.synced < opened.last]
        if due:
            try:
                await self._in_thread(self._sync, due)
            except OSError as error:  # what was not written then is not known, and is not written by trying again
                self._on_fatal(error)
                raise
            store.published(last)

    def _sync(self, due: list[tuple[Opened, int]]) -> None:
        for opened, last in due:
            self._disk.sync(opened.file)
            if not opened.synced:
                for folder in list(opened.path.parents)[:3]:
                    self._disk.sync_folder(folder)
            opened.synced = last

    async def publish(self) -> None:
        while self.rolled:
            opened = self.rolled[0]
            try:
                await self._in_thread(self._segments.publish, opened.path, opened.last)
            except FileNotFoundError:
                log.error("a segment was deleted before it was published", path=str(opened.path))
            self._disk.close(opened.file)
            del self.rolled[0]

    # Starting

    def begin(self, after: int) -> None:
        """A node without an earlier life."""
        self.last, self._taken, self.behind = after, after, False

    async def start(self, store: Store, limit: int) -> None:
        """Go on where the last life ended: what is there and good, up to the last number that the store knows, is kept;
        the rest comes from the outbox."""
        for path in self._segments.leftovers(self._node):
            self._disk.remove(path)
        closed = self._segments.closed(self._node)
        self.last = closed[-1].last if closed else 0
        for segment in self._segments.open(self._node):
            if segment.first != self.last + 1 and await self._has_what_is_before(store, segment.first):
                self._disk.remove(segment.path)
                continue
            self._take_up(segment.path, segment.first, limit)
        await self.catch_up(store)

    def _take_up(self, path: Path, first: int, limit: int) -> None:
        last, size = sound_part(path, self._node, first, limit)
        if not size:
            self._disk.remove(path)
            return
        self.roll()
        now, file = self._clock.now(), self._disk.create(path)
        self._disk.truncate(file, size)
        self.open = Opened(path, file, first, last, size, now)
        self._day_end = now - now % DAY_MS + DAY_MS
        self.last = last
        if path.parent.name != f"date={date_of(now)}":
            self.roll()

    async def _has_what_is_before(self, store: Store, first: int) -> bool:
        """Whether the store can give what is missing between here and a file that begins with this number."""
        following = await store.outbox_after(self.last, 1)
        return bool(following) and following[0][0] <= (self.last + 1 if self.last else first - 1)

    async def stop(self, store: Store) -> None:
        if self._working is not None:
            await asyncio.wait([self._working])
        await self.catch_up(store)
        await self.sync(store)
        for opened in [*self.rolled, *([self.open] if self.open else [])]:
            self._disk.close(opened.file)
        self.open, self.behind = None, True
        self.rolled.clear()
        self.release()

    # Waiting for events

    async def wait(self, seq: int, seconds: float) -> None:
        if self.last >= seq or seconds <= 0 or self._closing:
            return
        entry = (seq, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        try:
            await asyncio.wait_for(entry[1], seconds)
        except TimeoutError:
            pass
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)

    def release(self) -> None:
        """Let nobody wait any longer."""
        self._closing = True
        self._tell()

    def _tell(self) -> None:
        if not self._waiting:
            return
        for entry in [entry for entry in self._waiting if entry[0] <= self.last or self._closing]:
            self._waiting.remove(entry)
            if not entry[1].done():
                entry[1].set_result(None)


def _after(batch: Batch, seq: int) -> Batch:
    """The part of a batch that comes after a number."""
    first, last, lines = batch
    if first > seq:
        return batch
    return seq + 1, last, lines.split(b"\n", seq - first + 1)[-1]


def _portions(batches: Sequence[Batch], most_bytes: int) -> Iterator[Sequence[Batch]]:
    """In each of them as many as are so many bytes, and one at least."""
    begin = size = 0
    for end, (_, _, kept) in enumerate(batches):
        size += len(kept)
        if size > most_bytes and end > begin:
            yield batches[begin:end]
            begin, size = end, len(kept)
    if batches:
        yield batches[begin:]
