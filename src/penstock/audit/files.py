"""Where the lines are: `audit/<number of the first line>.jsonl`, twenty digits, so that names sort as numbers do.

A file is only ever appended to, and whole files are removed when they are old. What a kill left unfinished at the end
of a file stays there: the next start begins a new file, and `lines` gives whole lines only.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penstock.core.audit import START, Sealed, read_line

NAME = re.compile(r"(\d{20})\.jsonl")


NEAR_THE_END = 65_536
"""Bytes in which the last line is, unless something is wrong with the file."""


class File(NamedTuple):
    path: Path
    first: int
    size: int
    modified: int


class Place(NamedTuple):
    """Where the chain has come to."""

    seq: int = 0
    hash: str = START


class Files:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def all(self) -> list[File]:
        """In order."""
        return sorted(self._found(), key=lambda file: file.first)

    def _found(self) -> Iterator[File]:
        for path in self.directory.glob("*.jsonl"):
            name = NAME.fullmatch(path.name)
            if name:
                try:
                    stat = path.stat()
                except FileNotFoundError:
                    continue
                yield File(path, int(name[1]), stat.st_size, int(stat.st_mtime * 1000))

    def path_of(self, first: int) -> Path:
        return self.directory / f"{first:020}.jsonl"

    def end(self) -> Place:
        """Of the last line that can be read."""
        for file in reversed(self.all()):
            last = _last(file.path, max(0, file.size - NEAR_THE_END)) or _last(file.path, 0)
            if last is not None:
                return Place(last.entry.seq, last.hash)
        return Place()


def _last(path: Path, begin: int) -> Sealed | None:
    with path.open("rb") as file:
        file.seek(begin)
        found = (sealed(line) for line in reversed(file.readlines()) if line.endswith(b"\n"))
        return next(filter(None, found), None)


def whole_part(path: Path) -> int:
    """How many bytes of a file are whole lines, ours or not."""
    return sum(map(len, lines(path)))


def lines(path: Path) -> Iterator[bytes]:
    """Those that are whole."""
    try:
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except FileNotFoundError:  # it was old enough to be removed
        return


def sealed(line: bytes) -> Sealed | None:
    """None if it is no line of ours: `penstock audit verify` tells."""
    try:
        return read_line(line)
    except ValueError:
        return None
