"""The part of a message that does not change while it lies in a queue: body, attributes, identity.

A checksum is written with every message and compared on every read: a damaged one is never handed out.
"""

import zlib

import msgspec

from penstock.core.message import Attribute, Attributes, Message, NewMessage
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.shelves import Card

_COLUMNS = "id, body, checksum, sender, sent, attributes, trace, grp, deduplication, sequence, source"
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


class Damaged(Exception):
    """What is read from the disk is not what was written."""


class Payloads:
    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, number: int, message: NewMessage, sequence: int | None, now: int) -> None:
        attributes = _pack(message.attributes) if message.attributes else None
        self._db.execute(
            f"INSERT INTO payload (number, {_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                number, packed_id(message.id), message.body,
                _checksum(message.body, attributes, message.trace, message.group), message.sender, now,
                attributes, message.trace, message.group, message.deduplication_id, sequence, None,
            ),
        )  # fmt: skip

    def read(self, card: Card, claim: bytes) -> Message:
        try:
            row = self._db.execute(f"SELECT {_COLUMNS} FROM payload WHERE number=?", (card.number,)).get
        except UnicodeDecodeError:
            row = None
        if row is None:
            raise Damaged(f"message number {card.number} has no readable payload")
        identity, body, checksum, sender, sent, attributes, trace, group, deduplication, sequence, source = row
        if _checksum(body, attributes, trace, group) != checksum:
            raise Damaged(f"message {readable_id(identity)} fails its checksum")
        return Message(
            id=readable_id(identity), body=body, sender=sender, sent=sent, receive_count=card.receives, claim=claim,
            attributes=_attributes(attributes) if attributes else {}, trace=trace, group=group,
            deduplication_id=deduplication, sequence=sequence, source_arn=source, first_received=card.first_received,
        )  # fmt: skip

    def origin(self, number: int) -> tuple[str | None, str, str | None]:
        """A message's group, id, and the queue it died in."""
        group, identity, source = self._db.execute("SELECT grp, id, source FROM payload WHERE number=?", (number,)).get
        return group, readable_id(identity), source

    def died(self, number: int, source_arn: str, sequence: int | None, deduplication_id: str | None) -> None:
        self._db.execute(
            "UPDATE payload SET source=?, sequence=?, deduplication=coalesce(?, deduplication) WHERE number=?",
            (source_arn, sequence, deduplication_id, number),
        )

    def sent_anew(
        self, number: int, identity: str, sequence: int | None, deduplication_id: str | None, now: int
    ) -> None:
        self._db.execute(
            "UPDATE payload SET id=?, sent=?, sequence=?, deduplication=?, source=NULL WHERE number=?",
            (packed_id(identity), now, sequence, deduplication_id, number),
        )


def packed_id(identity: str) -> bytes:
    return bytes.fromhex(identity.replace("-", ""))


def readable_id(raw: bytes) -> str:
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _attributes(packed: bytes) -> Attributes:
    return {name: Attribute(*pair) for name, pair in _unpack(packed).items()}


def _checksum(body: str, attributes: bytes | None, trace: str | None, group: str | None) -> int:
    """Over what a receiver is given and nobody may change."""
    checksum = zlib.crc32(body.encode())
    for part in (attributes, trace, group):
        if part is not None:
            checksum = zlib.crc32(part.encode() if isinstance(part, str) else part, checksum)
    return checksum
