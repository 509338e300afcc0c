"""Reading the journal from any number on, over published and open segments alike; also while it is being written.

A reader who goes on where it stopped finds its file still open and positioned, so that reading a segment from end to
end unpacks it once. It refuses to know the server: the command line reads a data directory with it, running or not.
"""

import gzip
import zlib
from bisect import bisect_right
from operator import attrgetter
from threading import Lock
from typing import IO

import msgspec
import structlog

from penstock.core.journal import Chunk, Segment
from penstock.journal.segments import Segments, place_of

log = structlog.get_logger("penstock")

_first = attrgetter("first")

CURSORS = 8
SEARCHED = 16
"""How many times the bytes asked for are looked through for the events of one queue, before a reader is answered."""


class Cursor:
    """A file, and the number of the line that comes next in it."""

    def __init__(self, segment: Segment) -> None:
        raw = segment.path.open("rb")
        self._file: IO[bytes] | gzip.GzipFile = raw if segment.open else gzip.GzipFile("", "rb", fileobj=raw)
        self._raw = raw
        self._growing, self._pushed, self._segment = segment.open, b"", segment
        self._damaged = False
        """From this line on nothing can be read. It ends like any other, and whoever reads on misses the numbers."""
        self.first = self.seq = segment.first
        if not segment.open and not _is_whole(raw):  # its checksum is at its end: nothing before it can be trusted
            self._say_damaged()

    def line(self) -> bytes:
        """The next line, or nothing: the end, or the end of what has been written yet."""
        line, self._pushed = self._pushed, b""
        if self._damaged:
            return b""
        if not line:
            place = self._file.tell() if self._growing else 0
            try:
                line = self._file.readline()
            except (EOFError, OSError, zlib.error):
                line = b""
            if not line.endswith(b"\n"):
                if self._growing:
                    self._file.seek(place)
                elif self.seq <= self._segment.last:
                    self._say_damaged()
                return b""
        self.seq += 1
        return line

    def _say_damaged(self) -> None:
        if not self._damaged:
            log.error("the journal has a damaged segment", path=str(self._segment.path), from_seq=self.seq)
        self._damaged = True

    def push_back(self, line: bytes) -> None:
        self._pushed, self.seq = line, self.seq - 1

    def skip_to(self, seq: int) -> "Cursor":
        while self.seq < seq and self.line():
            pass
        return self

    def close(self) -> None:
        self._file.close()
        self._raw.close()


class Reader:
    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._kept: dict[tuple[str, int], Cursor] = {}
        self._lock = Lock()
        self._listed: list[Segment] = []
        """Of the node that is read now. Another list is made where this one ends, and not for every segment."""

    def read(self, node: str, seq: int, most: int, queue: str | None = None) -> Chunk:
        """At least one line if there is one, and then as many as fit."""
        with self._lock:
            self._listed = self._segments.known(node)
            cursor = self._kept.pop((node, seq), None) or self._found(node, seq)
            if cursor is None:
                return Chunk(b"", seq, seq, False)
            lines: list[bytes] = []
            first, size, searched = cursor.seq, 0, 0
            while True:
                line = cursor.line()
                if not line:
                    following = self._following(node, cursor)
                    if following is None:
                        break
                    if searched and following.seq > cursor.seq:  # what is missing begins at the next number asked for
                        following.close()
                        return Chunk(b"".join(lines), first, cursor.seq, True)
                    cursor = following
                    first = first if searched else cursor.seq
                    continue
                if (size and size + len(line) > most) or searched > most * SEARCHED:
                    cursor.push_back(line)
                    break
                searched += len(line)
                if queue is None or _concerns(line, queue):
                    lines.append(line)
                    size += len(line)
            self._keep(node, cursor)
            return Chunk(b"".join(lines), first, max(seq, cursor.seq), bool(cursor._pushed))

    def _found(self, node: str, seq: int) -> Cursor | None:
        """At this number, or at the first one there is after it."""
        while True:
            place = bisect_right(self._listed, seq, key=_first)
            before = self._listed[place - 1 : place]
            segment = next((s for s in [*before, *self._listed[place : place + 1]] if s.last >= seq), None)
            if segment is None:
                return None
            try:
                return Cursor(segment).skip_to(seq)
            except FileNotFoundError:  # published or deleted since it was listed
                self._listed = self._segments.all(node)

    def _following(self, node: str, cursor: Cursor) -> Cursor | None:
        """Where to go on at the end of a file; None if this is the end of everything."""
        if (after := self._after(cursor)) is None:
            self._listed = self._segments.known(node)
            after = self._after(cursor)
        if after is None:
            return None
        if line := cursor.line():  # written between the last look and the list, and nothing more will be
            cursor.push_back(line)
            return cursor
        cursor.close()
        return self._found(node, max(cursor.seq, after.first))

    def _after(self, cursor: Cursor) -> Segment | None:
        place = bisect_right(self._listed, cursor.first, key=_first)
        return self._listed[place] if place < len(self._listed) else None

    def _keep(self, node: str, cursor: Cursor) -> None:
        place = node, cursor.seq
        if place in self._kept or len(self._kept) == CURSORS:
            self._kept.pop(place if place in self._kept else next(iter(self._kept))).close()
        self._kept[place] = cursor

    def close(self) -> None:
        while self._kept:
            self._kept.popitem()[1].close()


def _is_whole(raw: IO[bytes]) -> bool:
    """Whether a published file is what was published, by its checksum."""
    try:
        with gzip.GzipFile("", "rb", fileobj=raw) as packed:
            while packed.read(1 << 20):
                pass
    except (EOFError, OSError, zlib.error):
        return False
    finally:
        raw.seek(0)
    return True


def _concerns(line: bytes, queue: str) -> bool:
    """A line that cannot be read, in a file that is still open, is about nobody."""
    try:
        return place_of(line).concerns(queue)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
