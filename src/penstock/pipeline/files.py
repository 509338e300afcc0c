"""Small files beside the tables: manifests, stamps, the names of data files.

Two ways to a file system, because neither goes everywhere: Python's own for paths of this machine, with fsync and a
create that fails if the name is taken; Hadoop's, through the driver's JVM, for every address that Spark itself can
write to (hdfs:, s3a:, abfs:, and file: with its scheme).
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Found(NamedTuple):
    """A file below a folder: its path relative to that, with slashes."""

    path: str
    size: int
    modified_ms: int


class Taken(Exception):
    """There is a file of this name already."""


class Files(Protocol):
    """Files below one folder, named by their path relative to it."""

    root: str

    def url(self, path: str = "") -> str:
        """How Spark names it."""

    def read(self, path: str) -> bytes | None:
        """None if there is none."""

    def create(self, path: str, content: bytes) -> None:
        """MUST appear whole or not at all, and raise `Taken` if the name is in use."""

    def replace(self, path: str, content: bytes) -> None:
        """MUST appear whole or not at all."""

    def move(self, source: str, target: str) -> None: ...

    def remove(self, path: str) -> None:
        """A file, or a folder with what is in it; nothing if there is none."""

    def below(self, folder: str = "") -> Iterator[Found]:
        """Every file below a folder, however deep."""


def files(root: str, spark: Any = None) -> Files:
    if "://" not in root and not root.startswith("file:"):
        return LocalFiles(root)
    return HadoopFiles(root, spark)


class LocalFiles:
    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    def url(self, path: str = "") -> str:
        return os.path.join(self.root, path) if path else self.root

    def read(self, path: str) -> bytes | None:
        try:
            return Path(self.root, path).read_bytes()
        except FileNotFoundError:
            return None

    def create(self, path: str, content: bytes) -> None:
        target = self._room_for(path)
        draft = self._draft(target, content)
        try:
            os.link(draft, target)
        except FileExistsError:
            raise Taken(path) from None
        finally:
            os.unlink(draft)
        sync(target.parent)

    def replace(self, path: str, content: bytes) -> None:
        target = self._room_for(path)
        os.replace(self._draft(target, content), target)
        sync(target.parent)

    def move(self, source: str, target: str) -> None:
        place = self._room_for(target)
        sync(Path(self.root, source))
        os.replace(Path(self.root, source), place)
        sync(place.parent)

    def remove(self, path: str) -> None:
        place = Path(self.root, path)
        if place.is_dir():
            for child in place.iterdir():
                self.remove(os.path.relpath(child, self.root))
            place.rmdir()
        else:
            with suppress(FileNotFoundError):
                place.unlink()

    def below(self, folder: str = "") -> Iterator[Found]:
        for place, _, names in os.walk(Path(self.root, folder)):
            for name in names:
                with suppress(FileNotFoundError):
                    found = os.stat(full := os.path.join(place, name))
                    yield Found(os.path.relpath(full, self.root), found.st_size, found.st_mtime_ns // 1_000_000)

    def _room_for(self, path: str) -> Path:
        place = Path(self.root, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _draft(self, target: Path, content: bytes) -> Path:
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return draft


def sync(place: Path) -> None:
    """A file's content, or a folder's names, are on disk when this returns."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class HadoopFiles:
    """Renaming is the atomic step here. Where a store has no rename of its own, as S3, it has one writer at a time."""

    def __init__(self, root: str, spark: Any) -> None:
        jvm = getattr(spark, "_jvm", None)
        if jvm is None:
            raise ValueError(f"{root} is reached through Spark's JVM, which a session with --remote does not have")
        self.root = root.rstrip("/")
        self._path = jvm.org.apache.hadoop.fs.Path
        self._read_all = jvm.org.apache.commons.io.IOUtils.toByteArray
        self._system = self._path(self.root).getFileSystem(spark._jsc.hadoopConfiguration())
        self._base = self._system.makeQualified(self._path(self.root)).toString()

    def url(self, path: str = "") -> str:
        return f"{self.root}/{path}" if path else self.root

    def read(self, path: str) -> bytes | None:
        if not self._system.exists(self._at(path)):
            return None
        stream = self._system.open(self._at(path))
        try:
            return bytes(self._read_all(stream))
        finally:
            stream.close()

    def create(self, path: str, content: bytes) -> None:
        if self._system.exists(self._at(path)) or not self._put(path, content):
            raise Taken(path)

    def replace(self, path: str, content: bytes) -> None:
        self.remove(path)
        self._put(path, content)

    def _put(self, path: str, content: bytes) -> bool:
        folder, _, name = path.rpartition("/")
        draft = self._at(f"{folder}/.{name}.draft".lstrip("/"))
        stream = self._system.create(draft, True)
        stream.write(bytearray(content))
        stream.close()
        return bool(self._system.rename(draft, self._at(path)))

    def move(self, source: str, target: str) -> None:
        self._system.mkdirs(self._at(target).getParent())
        if not self._system.rename(self._at(source), self._at(target)):
            raise OSError(f"cannot rename {self.url(source)} to {self.url(target)}")

    def remove(self, path: str) -> None:
        self._system.delete(self._at(path), True)

    def below(self, folder: str = "") -> Iterator[Found]:
        if not self._system.exists(self._at(folder)):
            return
        listing = self._system.listFiles(self._at(folder), True)
        while listing.hasNext():
            status = listing.next()
            relative = status.getPath().toString()[len(self._base) + 1 :]
            yield Found(relative, status.getLen(), status.getModificationTime())

    def _at(self, path: str) -> Any:
        return self._path(self.url(path))
