"""What is in a drive: `python -m faults.platter IMAGE FILE` serves the image as that file, by FUSE, until its standard
input ends, and then keeps it.

Over its standard input it is told when to cut the power. Then it draws what is left of the sectors that were written
since the last flush, keeps that, and answers nobody any more.
"""

import ctypes
import os
import random
import select
import sys
from collections.abc import Callable
from errno import ENOSYS
from pathlib import Path
from stat import S_IFREG
from struct import Struct

from .power import SECTOR, Change, apply, torn


class PowerCut(Exception):
    """Whoever is being answered gets no answer any more."""


class Platter:
    """What is on the drive, and what would be if the power went now."""

    def __init__(self, image: Path) -> None:
        self._image = image
        self._safe = bytearray(image.read_bytes())
        self.content = bytearray(self._safe)
        self._pending: list[Change] = []
        self._left, self._rng, self._lies = 0, random.Random(), False

    def told(self, order: str, changes: str = "0", seed: str = "") -> None:
        self._left, self._rng, self._lies = int(changes), random.Random(seed), self._lies or order == "lie"

    def write(self, offset: int, data: bytes) -> None:
        self._count()
        apply(self.content, (offset, data))
        self._pending.append((offset, data))

    def flush(self) -> None:
        self._count()
        if not self._lies:
            self._keep(1)

    def store(self) -> None:
        self._image.write_bytes(self.content)

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._keep(0 if self._lies else self._rng.choice((0, self._rng.random(), 1)))
            self._image.write_bytes(self._safe)
            raise PowerCut

    def _keep(self, share: float) -> None:
        for change in self._pending:
            for piece in torn(change) if share < 1 else (change,):
                if self._rng.random() < share:
                    apply(self._safe, piece)
        self._pending.clear()


class Fuse:
    """One file, and the kernel's questions about it. Numbers and layouts are those of linux/fuse.h, protocol 7.31."""

    MAX_WRITE, BIG_WRITES = 128 << 10, 1 << 5
    ASKED, ANSWER = Struct("<IIQQIIIHH"), Struct("<IiQ")
    SPAN, WRITTEN_AT = Struct("<QQI"), 40  # a handle, an offset, a size; where the bytes of a write begin
    BEGUN, ATTRIBUTES, WRITTEN = Struct("<IIIIHHII32x"), Struct("<QII6Q10I"), Struct("<II")
    NOT_ANSWERED = (2, 36, 42)  # a file is forgotten, a question withdrawn, files are forgotten

    def __init__(self, file: Path, platter: Platter) -> None:
        self._platter = platter
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode={S_IFREG:o},user_id=0,group_id=0"
        if ctypes.CDLL(None, use_errno=True).mount(b"drive", os.fsencode(file), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._answers: dict[int, Callable[[memoryview], bytes]] = {
            3: self._attributes,
            14: lambda asked: bytes(16),  # opened
            15: self._read,
            16: self._write,
            18: lambda asked: b"",  # closed by the last
            20: self._flush,
            25: lambda asked: b"",  # closed
            26: self._begin,
        }

    def answer(self) -> None:
        asked = memoryview(os.read(self.device, self.MAX_WRITE + 4096))
        _, question, number, *_ = self.ASKED.unpack_from(asked)
        if question not in self.NOT_ANSWERED:
            answer = self._answers.get(question)
            reply = answer(asked[self.ASKED.size :]) if answer else b""
            size, error = self.ANSWER.size + len(reply), 0 if answer else -ENOSYS
            os.write(self.device, self.ANSWER.pack(size, error, number) + reply)

    def _begin(self, asked: memoryview) -> bytes:
        return self.BEGUN.pack(7, 31, 0, self.BIG_WRITES, 16, 12, self.MAX_WRITE, 1)

    def _attributes(self, asked: memoryview) -> bytes:
        size, times, owner = len(self._platter.content), [0] * 6, [0] * 3
        file = (1, size, size // SECTOR, *times, S_IFREG | 0o600, 1, *owner, SECTOR, 0)
        return self.ATTRIBUTES.pack(3600, 0, 0, *file)

    def _read(self, asked: memoryview) -> bytes:
        _, offset, size = self.SPAN.unpack_from(asked)
        return bytes(self._platter.content[offset : offset + size])

    def _write(self, asked: memoryview) -> bytes:
        _, offset, size = self.SPAN.unpack_from(asked)
        self._platter.write(offset, bytes(asked[self.WRITTEN_AT : self.WRITTEN_AT + size]))
        return self.WRITTEN.pack(size, 0)

    def _flush(self, asked: memoryview) -> bytes:
        self._platter.flush()
        return b""


def main(image: str, file: str) -> None:
    platter = Platter(Path(image))
    fuse = Fuse(Path(file), platter)
    print("on", flush=True)
    try:
        while True:
            ready, _, _ = select.select([sys.stdin, fuse.device], [], [])
            if sys.stdin in ready:
                if not (order := sys.stdin.readline()):
                    break
                platter.told(*order.split())
            if fuse.device in ready:
                fuse.answer()
        platter.store()
    except PowerCut:
        print("cut", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
