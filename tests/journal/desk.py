"""What the tests of the journal are written in: a store that remembers every line it ever committed, a journal on it,
a clock that moves when told to, and disks that fail."""

import errno
import gzip
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.core.clock import ManualClock
from penstock.core.message import NewMessage
from penstock.core.queue import QueueKey
from penstock.core.store import Receive
from penstock.journal.disk import Disk
from penstock.journal.keeping import JournalOfServer, Keeping
from penstock.journal.segments import Segments
from penstock.loops.gauges import Gauges
from penstock.loops.journal import JournalKeeper
from penstock.stores.memory import MemoryStore

ORDERS = QueueKey("us-east-1", "000000000000", "orders")


class Fatal(Exception):
    """The server would have stopped."""


class Killed(Exception):
    """The process would have died here."""


@dataclass
class Desk:
    """A store and a directory, over any number of lives of the server."""

    directory: Path
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: ManualClock = field(default_factory=ManualClock)
    lines: list[bytes] = field(default_factory=list)

    async def begin(self, disk: Disk | None = None, **keeping: Any) -> JournalOfServer:
        def fatal(error: BaseException) -> None:
            raise Fatal(str(error))

        kept = Keeping(self.directory, **keeping)
        segments = Segments(self.directory, disk)
        self.journal = JournalOfServer(self.store, self.clock, kept, segments=segments, on_fatal=fatal)
        self.keeper, self.gauges, self._sampled = JournalKeeper(self.journal, self.store), Gauges(self.store), 0
        self._listen()
        await self.journal.start()
        return self.journal

    def _listen(self) -> None:
        inner = self.journal.committed

        def committed(first: int, last: int, lines: bytes) -> None:
            self.lines += lines.splitlines(keepends=True)
            inner(first, last, lines)

        self.journal.committed = committed  # type: ignore[method-assign]

    async def send(self, *bodies: str, queue: QueueKey = ORDERS) -> None:
        messages = [NewMessage(f"id-{body}", body, len(body), "AIDA") for body in bodies]
        made = await self.store.create_queue(queue, {}, {}, self.clock.now())
        await self.store.send(made.id, messages, self.clock.now())

    async def receive(self) -> None:
        made = await self.store.create_queue(ORDERS, {}, {}, self.clock.now())
        await self.store.receive(made.id, Receive(10, 0), self.clock.now())

    async def tick(self, seconds: float = 1) -> int | None:
        self.clock.advance(seconds)
        again_at = await self.keeper.run_once(self.clock.now())
        if self._sampled <= self.clock.now():
            self._sampled = await self.gauges.run_once(self.clock.now())
        return again_at

    @property
    def files(self) -> list[str]:
        """Of the present node, in order."""
        folder = self.directory / f"node={self.journal.node}"
        return sorted(path.name for path in folder.glob("date=*/*"))

    def find(self, pattern: str) -> list[Path]:
        """Paths in the folders of days, of any node."""
        return sorted(self.directory.glob(f"node=*/date=*/{pattern}"))

    def written(self, node: str = "") -> list[bytes]:
        """Every line in the files, in the order of their names."""
        found = []
        for segment in Segments(self.directory).all(node or self.journal.node):
            raw = segment.path.read_bytes()
            found += (raw if segment.open else gzip.decompress(raw)).splitlines(keepends=True)
        return found


class DyingDisk(Disk):
    """Dies at its n-th step: before it, after it, or in the middle of a write."""

    def __init__(self, at: int, how: str) -> None:
        self.at, self.how, self.steps = at, how, 0

    def _step(self, verb: str, *arguments: Any) -> Any:
        self.steps += 1
        dies = self.steps >= self.at > 0
        if dies and self.how == "torn" and verb == "write":
            super().write(arguments[0], arguments[1][: len(arguments[1]) // 2])
        if dies and self.how == "after":
            getattr(super(), verb)(*arguments)
        if dies:
            raise Killed(verb)
        return getattr(super(), verb)(*arguments)

    def create(self, path: Path) -> int:
        return self._step("create", path)  # type: ignore[no-any-return]

    def write(self, file: int, lines: bytes) -> None:
        self._step("write", file, lines)

    def truncate(self, file: int, size: int) -> None:
        self._step("truncate", file, size)

    def sync(self, file: int) -> None:
        self._step("sync", file)

    def sync_folder(self, path: Path) -> None:
        self._step("sync_folder", path)

    def compress(self, source: Path, target: Path) -> None:
        if self.steps + 1 == self.at and self.how == "torn":
            target.write_bytes(b"\x1f\x8b torn")
        self._step("compress", source, target)

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename", source, target)

    def remove(self, path: Path) -> None:
        self._step("remove", path)


class ForgetfulDisk(DyingDisk):
    """Dies as a machine does that loses its power: of each file only what was synced is there, and a part of the rest,
    maybe as zeros. Names that were not synced may be gone."""

    def __init__(self, at: int, how: str) -> None:
        super().__init__(at, "before")
        self._loses = how
        self._paths: dict[int, Path] = {}
        self._synced: dict[Path, int] = {}

    def create(self, path: Path) -> int:
        file = super().create(path)
        self._paths[file] = path
        return file

    def sync(self, file: int) -> None:
        super().sync(file)
        self._synced[self._paths[file]] = os.fstat(file).st_size

    def lose_power(self) -> None:
        for path in self._paths.values():
            if not path.exists():
                continue
            size, synced = path.stat().st_size, self._synced.get(path, 0)
            kept = (size + synced) // 2 if self._loses == "half" else synced
            os.truncate(path, kept)
            if self._loses == "zeros":
                os.truncate(path, size)
            if not synced and self._loses == "all":
                path.unlink()


class FullDisk(Disk):
    """Takes so many bytes more."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, file: int, lines: bytes) -> None:
        taken = lines[: self.room]
        self.room -= len(taken)
        super().write(file, taken)
        if len(taken) < len(lines):
            raise OSError(errno.ENOSPC, "No space left on device")
