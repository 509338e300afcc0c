"""Finding entries: from the file in which a time or a number lies, line by line, up to a bound."""

from collections.abc import Iterator
from itertools import chain

from penstock.audit.files import File, Files, lines, sealed
from penstock.core.audit import Ask, Found, Sealed

MOST_BYTES = 4_194_304
"""Are looked through for one answer, which may then have nothing but the place to go on from."""


def find(files: Files, ask: Ask, most_bytes: int = MOST_BYTES) -> Found:
    found: list[Sealed] = []
    looked_at = 0
    for line in chain.from_iterable(lines(file.path) for file in _from(files.all(), ask)):
        looked_at += len(line)
        one = sealed(line)
        if one is None or one.entry.seq <= ask.after:
            continue
        if ask.wants(one.entry):
            found.append(one)
        if one.entry.ts_ms >= ask.end:
            break
        if len(found) == ask.most or looked_at >= most_bytes:
            return Found(found, one.entry.seq)
    return Found(found, None)


def _from(files: list[File], ask: Ask) -> Iterator[File]:
    """The last file that can hold the beginning of what is wanted, and those after it."""
    begin = 0
    for number, file in enumerate(files):
        if file.first > ask.after + 1 and (ask.after or _since(file) > ask.start):
            break
        begin = number
    yield from files[begin:]


def _since(file: File) -> int:
    """When the first of its lines was written."""
    first = next(filter(None, map(sealed, lines(file.path))), None)
    return first.entry.ts_ms if first else 0
