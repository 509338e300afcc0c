"""What the journal does to a file system, one small verb each. Tests put a sick disk in its place.

It refuses to know what is in the files.
"""

import errno
import fcntl
import gzip
import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import IO

from penstock.core.store import StoreError

LOCK = "_lock"
PIECE_BYTES = 1 << 20
COMPRESSION = 3
"""Of gzip: lines of JSON shrink to a tenth at any level, and the higher ones cost three times as much."""


class Disk:
    native: ModuleType | None = None
    """What is compiled, if it is."""

    def prepare(self, directory: Path) -> None:
        """Fails at once where nothing could be written later."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "the journal cannot be written here", str(directory))

    def claim(self, directory: Path) -> IO[bytes]:
        """The right to be the only server that writes here, for as long as the file returned is open. A file system
        that knows no locks gives it to everyone."""
        self.prepare(directory)
        lock = (directory / LOCK).open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise StoreError(
                f"{directory} is in use by another Penstock; stop it, or give this one another journal_directory."
            ) from None
        except OSError:
            pass
        return lock

    def create(self, path: Path) -> int:
        """A new or existing file to append to, readable by its owner alone."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:  # retention found the folder empty, and removed it
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(path, flags, 0o600)

    def write(self, file: int, lines: bytes) -> None:
        written = os.write(file, lines)
        while written < len(lines):
            written += os.write(file, memoryview(lines)[written:])

    def truncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        os.fdatasync(file)

    def close(self, file: int) -> None:
        os.close(file)

    def sync_folder(self, path: Path) -> None:
        """Make names last: those of new, renamed and removed files."""
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def compress(self, source: Path, target: Path) -> None:
        with source.open("rb") as plain, target.open("wb") as raw:
            os.fchmod(raw.fileno(), 0o600)
            if self.native is not None:
                self.native.compress(plain.fileno(), raw.fileno())
            else:
                with gzip.GzipFile("", "wb", COMPRESSION, raw, mtime=0) as packed:
                    shutil.copyfileobj(plain, packed, PIECE_BYTES)
            raw.flush()
            os.fsync(raw.fileno())

    def replace(self, path: Path, content: bytes) -> None:
        """The whole content of a small file, or what it had before; never a part."""
        partial = path.with_name(f"{path.name}.partial")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with partial.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.rename(partial, path)
        self.sync_folder(path.parent)

    def rename(self, source: Path, target: Path) -> None:
        source.rename(target)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
