"""Where the lines are: names of segments, and how a segment that is full is published.

    journal/node=<id>/date=YYYY-MM-DD/<first seq>-<last seq>.jsonl.gz    published: never changed again
    journal/node=<id>/date=YYYY-MM-DD/_open-<first seq>.jsonl            being written, or waiting to be published

Numbers have twenty digits, so names sort as numbers do. Spark and its kin pass over names that begin with `_`. The date
(UTC) is the day on which the segment was opened. This file refuses to know what a line says, but for node and number.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from penstock.core.journal import Segment
from penstock.core.queue import QueueKey
from penstock.journal.disk import Disk

CLOSED = re.compile(r"(\d{20})-(\d{20})\.jsonl\.gz")
OPEN = re.compile(r"_open-(\d{20})\.jsonl")
FOREVER = 10**20 - 1
"""The last number of a segment that is still open."""


SETTLED_NS = 2_000_000_000
"""A folder that was changed later may be changed again without another time to show for it."""


class Place(msgspec.Struct):
    """As much of a line as says where it belongs."""

    node: str
    seq: int
    region: str = ""
    account: str = ""
    queue: str = ""
    endpoint: str = ""

    def concerns(self, queue: str) -> bool:
        """Whether this is about a queue, given by its name or ARN, or about a message on its way there."""
        if queue.startswith("arn:"):
            return queue in (self.endpoint, QueueKey(self.region, self.account, self.queue).arn)
        return queue == self.queue or self.endpoint.endswith(f":{queue}")


place_of = msgspec.json.Decoder(Place).decode


def date_of(now: int) -> str:
    return datetime.fromtimestamp(now / 1000, UTC).strftime("%Y-%m-%d")


class Segments:
    def __init__(self, directory: Path, disk: Disk | None = None) -> None:
        self.directory, self.disk = directory, disk or Disk()
        self._known: dict[str, tuple[dict[Path, int], list[Segment]]] = {}

    def nodes(self) -> list[str]:
        return sorted(folder.name.removeprefix("node=") for folder in self.directory.glob("node=*"))

    def closed(self, node: str) -> list[Segment]:
        return [segment for segment in self.all(node) if not segment.open]

    def open(self, node: str) -> list[Segment]:
        return [segment for segment in self.all(node) if segment.open]

    def all(self, node: str) -> list[Segment]:
        """In order. One that is published and not yet removed under its open name is there once."""
        found = sorted(self._files(node), key=lambda segment: (segment.first, segment.open))
        return [s for s, before in zip(found, [None, *found], strict=False) if not before or s.first != before.first]

    def leftovers(self, node: str) -> list[Path]:
        """What an interrupted publication left: the open file of a published segment, a gzip file not finished."""
        published = {segment.first for segment in self.closed(node)}
        opened = [s.path for s in self._files(node) if s.open and s.first in published]
        return opened + sorted((self.directory / f"node={node}").glob("date=*/_*.partial"))

    def known(self, node: str) -> list[Segment]:
        """`all`, from memory while no name has come or gone: in a week there are ten thousand. Sizes may be old."""
        with contextlib.suppress(FileNotFoundError):  # retention removes folders too
            changed = {folder: folder.stat().st_mtime_ns for folder in self._folders(node)}
            before, found = self._known.get(node, ({}, []))
            if changed and changed == before:
                return found
            settled = time.time_ns() - max(changed.values(), default=0) > SETTLED_NS
            found = self.all(node)
            self._known[node] = (changed if settled else {}), found
            return found
        return self.all(node)

    def _folders(self, node: str) -> list[Path]:
        return list((self.directory / f"node={node}").glob("date=*"))

    def _files(self, node: str) -> Iterator[Segment]:
        for folder in self._folders(node):
            date = folder.name.removeprefix("date=")
            for name in _names(folder):
                if found := CLOSED.fullmatch(name) or OPEN.fullmatch(name):
                    path = folder / name
                    try:
                        stat = path.stat()
                    except FileNotFoundError:
                        continue
                    last = int(found[2]) if found.re is CLOSED else FOREVER
                    modified = int(stat.st_mtime * 1000)
                    yield Segment(node, int(found[1]), last, date, stat.st_size, modified, path, last == FOREVER)

    def open_path(self, node: str, first: int, now: int) -> Path:
        return self.directory / f"node={node}" / f"date={date_of(now)}" / f"_open-{first:020}.jsonl"

    def publish(self, path: Path, last: int) -> Path:
        """Killed between any two of these steps, the segment is there under one of its names, whole, and only once:
        `leftovers` are removed at the next start and what is still open is published again."""
        first = OPEN.fullmatch(path.name)
        assert first is not None, f"{path} is not an open segment"
        name = f"{first[1]}-{last:020}.jsonl.gz"
        partial, target = path.with_name(f"_{name}.partial"), path.with_name(name)
        self.disk.compress(path, partial)
        self.disk.rename(partial, target)
        self.disk.sync_folder(path.parent)
        self.disk.remove(path)
        return target

    def remove(self, segment: Segment) -> None:
        self.disk.remove(segment.path)
        with contextlib.suppress(OSError):  # there are others in it
            segment.path.parent.rmdir()
            segment.path.parent.parent.rmdir()


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def sound_part(path: Path, node: str, first: int, limit: int) -> tuple[int, int]:
    """How far an open file can be used: up to where a line is torn, unreadable, out of order or after `limit`. The
    number of its last good line (`first` - 1 if there is none), and the bytes up to there."""
    last, size = first - 1, 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or last == limit:
                break
            try:
                place = place_of(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                break
            if (place.node, place.seq) != (node, last + 1):
                break
            last, size = place.seq, size + len(line)
    return last, size
