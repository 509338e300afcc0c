"""What is in a segment's file, up to where it is damaged. Knows bytes, and neither lines nor events."""

import zlib
from collections.abc import Iterator
from typing import IO, Any

PACKED = 1 << 18
UNPACKED = 1 << 22
"""Bytes that are read, and parsed, at a time."""
GZIP = 16 + zlib.MAX_WBITS


class Damaged(Exception):
    """The file cannot be read any further."""


def unpacked(stream: IO[bytes], name: str) -> Iterator[bytes]:
    if not name.endswith(".gz"):
        while data := stream.read(UNPACKED):
            yield data
        return
    unpacking, read = zlib.decompressobj(GZIP), 0
    while data := stream.read(PACKED):
        read += len(data)
        while data:
            if unpacking.eof:  # files of several members, as `cat a.gz b.gz` makes them
                unpacking = zlib.decompressobj(GZIP)
            before = unpacking.copy()
            try:
                yield unpacking.decompress(data, UNPACKED)
            except zlib.error as reason:
                yield from _up_to_the_damage(before, data)
                raise Damaged(f"the gzip file is damaged before byte {read} ({reason})") from None
            data = unpacking.unconsumed_tail or unpacking.unused_data
    if not unpacking.eof:
        raise Damaged(f"the gzip file is cut off at byte {read}")


def _up_to_the_damage(unpacking: Any, data: bytes) -> Iterator[bytes]:
    """The failed call kept what it had unpacked before it failed: byte by byte, only the last one fails."""
    for place in range(len(data)):
        try:
            yield unpacking.decompress(data[place : place + 1])
        except zlib.error:
            return
