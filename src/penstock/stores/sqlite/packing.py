"""The content of a message as bytes, and the checksum that tells whether they are still the bytes that were written."""

import zlib
from typing import Any

import msgspec

from penstock.core.message import Attribute, Message

pack = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


def packed(message: Message) -> bytes:
    return pack(
        (
            message.body, message.sender, message.sent, message.attributes, message.trace, message.group,
            message.deduplication_id, message.sequence, message.source_arn,
        )
    )  # fmt: skip


class _Unpacked(Message, array_like=True):
    """A message straight from its content; what is not in a content keeps its default."""

    attributes: Any = msgspec.field(default_factory=dict)


_unpack = msgspec.msgpack.Decoder(_Unpacked).decode


def unpacked(content: bytes) -> Message:
    message = _unpack(content)
    if message.attributes:
        message.attributes = {name: Attribute(*pair) for name, pair in message.attributes.items()}
    return message


def checksum(identity: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(identity))


def repacked(
    body: str, sender: str, sent: int, attributes: bytes | None, trace: str | None, group: str | None,
    deduplication: str | None, sequence: int | None, source: str | None,
) -> bytes:  # fmt: skip
    """For the migration: the content of a message from the columns in which it used to be."""
    pairs: Any = _decode(attributes) if attributes else {}
    return pack((body, sender, sent, pairs, trace, group, deduplication, sequence, source))


def fresh_from_the_start(counters: bytes) -> bytes:
    """For the migration: the time of the first fresh message, behind five counters, is left out, and which it is."""
    rows = ((*row[:6], None if row[7] is None else 0) for row in _decode(counters))
    return pack(list(rows))


def readable_id(raw: bytes) -> bytes:
    """For the migration: ids used to be packed."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}".encode()
