"""A message as it lies in the database: one row, of which the content never changes while it stays in its queue.

A checksum is written with every message and compared on every read: a damaged one is never handed out. A content that
is too large to be written again at every step of the message lies apart, in the table `bulk`.
"""

import msgspec

from penstock.core.message import Message
from penstock.core.vault import Unopenable
from penstock.stores.sqlite.catalogue import Entry
from penstock.stores.sqlite.data_keys import MARK, DataKeys
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import checksum, packed, unpacked

CARRIED_BYTES = 2000
_CHANGING = "number, enqueued, state, place, due, grp, size, receives, first_received, received, id, checksum"
COLUMNS = f"{_CHANGING}, content"
WITHOUT_CONTENT = f"{_CHANGING}, CASE WHEN content IS NOT NULL THEN x'' END"
"""For those who need to know only whether the content is in the row."""

TIME_BYTES = 6
"""What a time takes in a row."""


def room(fifo: bool, waits: bool) -> bytes:
    """As much as the row of a new message is going to grow by when it is handed out: by the times of that, of the first
    such, and of its end, and on a FIFO queue by another of that. Those that wait in line, or for their delay, have one
    time already that they lose then."""
    return bytes(TIME_BYTES * (3 + fifo - waits))


class Card(msgspec.Struct, frozen=True, gc=False):
    """A row. See the schema for `state`, `place` and `due`; `received` is the time of the last delivery."""

    number: int
    enqueued: int
    state: int
    place: int | None
    due: int | None
    group: int
    size: int
    receives: int
    first_received: int | None
    received: int | None
    id: bytes
    checksum: int
    content: bytes | None

    @property
    def message_id(self) -> str:
        return str(self.id, "ascii", "replace") if isinstance(self.id, bytes) else repr(self.id)


class Damaged(Exception):
    """What is read from the disk is not what was written."""


class Cards:
    """The rows of messages, and what is in them."""

    def __init__(self, db: Database, keys: DataKeys) -> None:
        self._db, self._keys = db, keys

    def message(self, card: Card) -> Message:
        """What the card says: receive counts and claims are the business of whoever hands it out. Raises KeyRefused if
        it is encrypted and must not be read now."""
        content = card.content
        if content is None:
            content = self._db.execute("SELECT content FROM bulk WHERE number=?", (card.number,)).get
            if content is None:
                raise Damaged(f"message {card.message_id} has lost its content")
        try:
            intact = checksum(card.id, content) == card.checksum and card.enqueued >= 0 <= card.receives
        except TypeError:  # not even of the type that was written
            intact = False
        if not intact:
            raise Damaged(f"message {card.message_id} fails its checksum")
        try:
            message = unpacked(self._keys.decrypted(card.id, content) if content.startswith(MARK) else content)
        except (Unopenable, msgspec.DecodeError) as reason:
            raise Damaged(f"message {card.message_id} cannot be read: {reason}") from None
        message.id = card.id.decode()
        return message

    def rewrite(self, old: int, number: int, message: Message, target: Entry, now: int) -> None:
        """The message goes on as another, with another number, in this queue."""
        self.drop_bulk(old)
        identity, content = message.id.encode(), packed(message)
        if key := self._keys.key_for(target, now):
            content = key.encrypted(identity, content)
        self._db.execute(
            "UPDATE message SET number=?, id=?, checksum=?, content=? WHERE number=?",
            (number, identity, checksum(identity, content), self.carried(number, content), old),
        )

    def carried(self, number: int, content: bytes) -> bytes | None:
        """The content if it is to be in the message's row; otherwise it is put where bulky ones lie."""
        if len(content) <= CARRIED_BYTES:
            return content
        self._db.execute("INSERT INTO bulk VALUES (?,?)", (number, content))
        return None

    def drop_bulk(self, number: int) -> None:
        self._db.execute("DELETE FROM bulk WHERE number=?", (number,))
