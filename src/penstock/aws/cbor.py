"""CBOR (RFC 8949), as far as requests and replies need it: bytes to plain values, and the pieces replies are made of.

Reading is strict. There are whole numbers of 64 bits, finite fractions, texts, bytes, lists, maps with texts for keys,
and moments (tag 1), which become numbers. Everything else is refused, and so are keys that come twice, what is nested
deeply or has very many parts, and bytes that are missing or left over. Nothing is sized by what a length claims.
"""

import math
import struct
from typing import Any

DEEPEST, MOST_PARTS = 32, 100_000
UNSIGNED, NEGATIVE, BYTES, TEXT, LIST, MAP, TAG, SIMPLE = range(8)
INDEFINITE, BREAK = 31, 0xFF
MOMENT = 1
_SIMPLE: dict[int, Any] = {20: False, 21: True, 22: None, 23: None}
"""The last is `undefined`, which says as little as null."""
_FRACTIONS = {25: ">e", 26: ">f", 27: ">d"}
_END = object()


class Malformed(Exception):
    """These bytes are not one value of the kinds that are read here."""


def decode(data: bytes) -> Any:
    reader = _Reader(data)
    value = reader.value(DEEPEST)
    if value is _END or reader.place != len(data):
        raise Malformed
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self.place, self._parts = data, 0, 0

    def value(self, depth: int) -> Any:
        """The next one, or `_END` for the end of something that did not tell its length."""
        self._parts += 1
        if not depth or self._parts > MOST_PARTS:
            raise Malformed
        first = self._take(1)[0]
        if first == BREAK:
            return _END
        kind, told = first >> 5, first & 31
        if kind == SIMPLE:
            return self._simple(told)
        if told == INDEFINITE:
            return self._indefinite(kind, depth)
        size = self._number(told)
        match kind:
            case 0 | 1:
                return size if kind == UNSIGNED else -1 - size
            case 2 | 3:
                return self._string(kind, size)
            case 4:
                return [self._item(depth) for _ in range(size)]
            case 5:
                return self._pairs((self._item(depth), self._item(depth)) for _ in range(size))
        return self._tagged(size, depth)

    def _item(self, depth: int) -> Any:
        value = self.value(depth - 1)
        if value is _END:
            raise Malformed
        return value

    def _indefinite(self, kind: int, depth: int) -> Any:
        if kind in (BYTES, TEXT):
            return self._chunks(kind)
        if kind not in (LIST, MAP):
            raise Malformed
        items = iter(lambda: self.value(depth - 1), _END)
        return list(items) if kind == LIST else self._pairs((key, self._item(depth)) for key in items)

    def _chunks(self, kind: int) -> Any:
        """A string in pieces, each of which tells its length and is whole in itself."""
        found = []
        while (first := self._take(1)[0]) != BREAK:
            self._parts += 1
            if first >> 5 != kind or self._parts > MOST_PARTS:
                raise Malformed
            found.append(self._string(kind, self._number(first & 31)))
        return "".join(found) if kind == TEXT else b"".join(found)

    def _pairs(self, pairs: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if not isinstance(key, str) or key in found:
                raise Malformed
            found[key] = value
        return found

    def _string(self, kind: int, size: int) -> Any:
        given = self._take(size)
        if kind == BYTES:
            return given
        try:
            return given.decode()
        except UnicodeDecodeError:
            raise Malformed from None

    def _simple(self, told: int) -> Any:
        if told in _FRACTIONS:
            (fraction,) = struct.unpack(_FRACTIONS[told], self._take(1 << (told - 24)))
            if math.isfinite(fraction):
                return fraction
        elif told in _SIMPLE:
            return _SIMPLE[told]
        raise Malformed

    def _tagged(self, tag: int, depth: int) -> Any:
        value = self._item(depth)
        if tag != MOMENT or type(value) not in (int, float):
            raise Malformed
        return value

    def _number(self, told: int) -> int:
        if told < 24:
            return told
        if told > 27:
            raise Malformed
        return int.from_bytes(self._take(1 << (told - 24)))

    def _take(self, size: int) -> bytes:
        start, self.place = self.place, self.place + size
        if self.place > len(self._data):
            raise Malformed
        return self._data[start : self.place]


TRUE, FALSE = b"\xf5", b"\xf4"


def head(kind: int, number: int) -> bytes:
    """How a value begins: its kind, and its size, length or tag in as few bytes as hold it."""
    if number < 24:
        return bytes((kind << 5 | number,))
    for told, (size, form) in enumerate(((8, ">BB"), (16, ">BH"), (32, ">BI"), (64, ">BQ")), 24):
        if number < 1 << size:
            return struct.pack(form, kind << 5 | told, number)
    raise ValueError(f"{number} takes more than 64 bits")


def integer(value: int) -> bytes:
    return head(UNSIGNED, value) if value >= 0 else head(NEGATIVE, -1 - value)


def fraction(value: float) -> bytes:
    return struct.pack(">Bd", SIMPLE << 5 | 27, value)


def text(value: str) -> bytes:
    encoded = value.encode("utf-8", "replace")
    return head(TEXT, len(encoded)) + encoded


def binary(value: bytes) -> bytes:
    return head(BYTES, len(value)) + value


def moment(seconds: float) -> bytes:
    return head(TAG, MOMENT) + (integer(seconds) if isinstance(seconds, int) else fraction(seconds))
