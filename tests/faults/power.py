"""A disk that forgets: a SQLite VFS that knows, at every moment, what would be left if the power went now.

What was written since a file's last sync may reach the disk or not, sector by sector, in any order: `cut` draws one of
those outcomes and writes it to another folder. Nothing is disturbed by that, so one run can be cut many times.
A disk that lies says that it synced and did not.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

SECTOR = 512
HONEST = "unix"

Change = tuple[int, bytes | None]
"""An offset and the bytes written there; None is: the file ends here."""


class Disk(apsw.VFS):
    """`before_change` is called before every write, truncation, sync and delete: a moment when the power may go."""

    def __init__(self, lies: bool = False) -> None:
        super().__init__("forgetful", HONEST)
        self.lies = lies
        self.safe: dict[str, bytearray] = {}
        self.pending: dict[str, list[Change]] = {}
        self.before_change: Callable[[], None] = lambda: None

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> "File":  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.safe.setdefault(path, bytearray())
        self.pending.setdefault(path, [])
        return File(self, name, path, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.before_change()
        super().xDelete(filename, syncdir)
        if self.lies:
            self.pending[filename].append((0, None))
        else:
            self.safe.pop(filename, None)
            self.pending.pop(filename, None)

    def cut(self, rng: random.Random, target: Path) -> None:
        """What the machine finds when it is switched on again."""
        target.mkdir()
        keeps = rng.choice((0.0, rng.random(), 1.0))
        for path, image in self.safe.items():
            left = bytearray(image)
            for change in self.pending[path]:
                for piece in torn(change):
                    if rng.random() < keeps:
                        apply(left, piece)
            if left or path.endswith(".db"):
                (target / Path(path).name).write_bytes(left)


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: apsw.URIFilename | str | None, path: str, flags: list[int]) -> None:
        super().__init__(HONEST, name, flags)
        self._disk, self._path = disk, path

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.before_change()
        self._disk.pending[self._path].append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.before_change()
        self._disk.pending[self._path].append((newsize, None))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.before_change()
        if not self._disk.lies:
            for change in self._disk.pending[self._path]:
                apply(self._disk.safe[self._path], change)
            self._disk.pending[self._path].clear()


def torn(change: Change) -> Iterator[Change]:
    """The pieces of a write that a disk stores at once: none crosses a sector's end."""
    offset, data = change
    if data is None:
        yield change
        return
    start = 0
    while start < len(data):
        end = start + SECTOR - (offset + start) % SECTOR
        yield offset + start, data[start:end]
        start = end


def apply(image: bytearray, change: Change) -> None:
    offset, data = change
    if data is None:
        del image[offset:]
    else:
        image.extend(bytes(max(0, offset - len(image))))
        image[offset : offset + len(data)] = data


@contextmanager
def installed(disk: Disk) -> Iterator[Disk]:
    """While it lasts, every database that is opened is on this disk."""
    apsw.set_default_vfs("forgetful")
    try:
        yield disk
    finally:
        apsw.set_default_vfs(HONEST)
        disk.unregister()
