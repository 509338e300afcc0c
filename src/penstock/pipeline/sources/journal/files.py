"""Segments in a folder: this machine's, or any file system that Arrow knows by URI.

Only published segments: what has a leading `_` is still being written. A file that is damaged is read up to the damage;
what is missing after it is told as a gap, with the place.
"""

import datetime as dt
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyarrow import fs

from penstock.pipeline.sources.journal.lines import Block
from penstock.pipeline.sources.journal.plan import Gap, Piece, Segment
from penstock.pipeline.unpacking import UNPACKED, Damaged, unpacked

SEGMENT = re.compile(r"node=([^/]+)/date=(\d{4}-\d\d-\d\d)/(\d{20})-(\d{20})\.jsonl(\.gz)?")


class Files:
    def __init__(self, path: str) -> None:
        self.path = path if "://" in path else os.path.abspath(path)

    def _opened(self) -> tuple[Any, str]:
        try:
            return fs.FileSystem.from_uri(self.path)
        except ValueError as reason:
            raise ValueError(f"penstock.journal cannot read the path {self.path}: {reason}") from None

    def close(self) -> None:
        """Files are open only while they are read."""

    def segments(self) -> list[Segment]:
        files, folder = self._opened()
        if files.get_file_info(folder).type != fs.FileType.Directory:
            raise FileNotFoundError(f"there is no journal in {self.path}: give the folder that has node=… in it")
        found = files.get_file_info(fs.FileSelector(folder, recursive=True))
        named = (SEGMENT.fullmatch(info.path.removeprefix(folder).lstrip("/")) for info in found if info.is_file)
        return [_segment(match) for match in named if match]

    def read(self, piece: Piece) -> Iterator[Block | Gap]:
        """Its lines, in blocks, and then a gap if there are fewer than the name of the file promises."""
        files, folder = self._opened()
        segment, found, why = piece.segment, 0, "the file has fewer lines than its name says"
        window = Window(piece.start - segment.first, None if piece.end == segment.last else piece.events)
        damaged = False
        try:
            with files.open_input_stream(f"{folder}/{segment.name}", compression=None) as stream:
                for offset, lines in window.of(_whole_lines(unpacked(stream, segment.name))):
                    found += lines.count(b"\n")
                    yield Block(lines, segment.name, offset, segment.date)
        except FileNotFoundError:
            why = "its segment was deleted before it could be read"
        except Damaged as reason:
            why, damaged = str(reason), True
        if damaged or found < piece.events:
            start = min(piece.start + found, piece.end + 1)
            yield Gap(segment.node, start, piece.end, why, segment.name, segment.date, damaged)


def _segment(match: re.Match[str]) -> Segment:
    node, date, first, last, packed = match.groups()
    return Segment(node, int(first), int(last), dt.date.fromisoformat(date), match[0], whole=packed is not None)


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Blocks that end where a line does, with their offset. The last line counts as one even if it is torn."""
    offset, size, kept, damage = 0, 0, list[bytes](), None
    try:
        for chunk in chunks:
            kept.append(chunk)
            size += len(chunk)
            if size >= UNPACKED and b"\n" in chunk:
                data = b"".join(kept)
                cut = data.rfind(b"\n") + 1
                yield offset, data[:cut]
                offset, kept, size = offset + cut, [data[cut:]], len(data) - cut
    except Damaged as reason:
        damage = reason
    if rest := b"".join(kept):
        yield offset, rest if rest.endswith(b"\n") else rest + b"\n"
    if damage:
        raise damage


class Window(NamedTuple):
    """Some lines of a file: after so many, so many, or all that follow."""

    skip: int
    take: int | None

    def of(self, blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        skip, take = self
        for offset, lines in blocks:
            count = lines.count(b"\n")
            begin = _after(lines, min(skip, count))
            count, skip = max(0, count - skip), max(0, skip - count)
            if take is not None and count >= take:
                yield offset + begin, lines[begin : _after(lines, take, begin)]
                return
            if count:
                yield offset + begin, lines[begin:]
                take = None if take is None else take - count


def _after(lines: bytes, count: int, place: int = 0) -> int:
    """Where the line begins that comes after so many."""
    for _ in range(count):
        place = lines.index(b"\n", place) + 1
    return place
