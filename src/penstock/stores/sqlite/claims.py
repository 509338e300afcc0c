"""What a receiver may do with a message in hand, and how its claim on the message is told from an older one.

A claim names the shelf, the message and the number of times it had been received. A later delivery has a higher number,
so an older claim is recognised as superseded; after a purge the shelf is another, and the claim finds nothing.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from penstock.core.outbox import Deleted, Outbox
from penstock.core.store import LONGEST_VISIBILITY_MS, Outcome
from penstock.stores.sqlite.cards import Card
from penstock.stores.sqlite.catalogue import IN_FLIGHT, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.shelves import Shelves

PEEKED = b"\0"
"""Behind what would be a claim: a message that was only looked at cannot be deleted or hidden."""

NOTHING = 0, 0, 0, 0
"""What a claim says that was none; no shelf and no message has the number 0."""

_format = struct.Struct(">QQQI")


class Claim(NamedTuple):
    shelf: int
    enqueued: int
    number: int
    receives: int

    @classmethod
    def unpack(cls, raw: bytes) -> "Claim | None":
        return cls(*_format.unpack(raw)) if len(raw) == _format.size else None


def claimed(shelf: int, card: Card, receives: int) -> bytes:
    """The claim of whoever is given a message for this time."""
    return _format.pack(shelf, card.enqueued, card.number, receives)


def _told(card: Card) -> Deleted:
    """For the journal."""
    return card.message_id, card.receives, card.enqueued if card.received is None else card.received


class Claims:
    def __init__(self, db: Database, catalogue: Catalogue, shelves: Shelves, outbox: Outbox) -> None:
        self._db, self._catalogue, self._shelves, self._outbox = db, catalogue, shelves, outbox

    def delete(self, queue_id: int, claims: Sequence[bytes], now: int, by: str) -> list[Outcome]:
        entry = self._present(queue_id, now)
        known = [_format.unpack(raw) if len(raw) == _format.size else NOTHING for raw in claims]
        held = self._shelves.held(entry, [number for shelf, _, number, _ in known if shelf == entry.shelf])
        outcomes, deleted = [], []
        for _, _, number, receives in known:
            card = held.get(number)
            outcomes.append(outcome := self._deleting(entry, card, receives, now))
            if card and outcome is Outcome.DONE:
                deleted.append(held.pop(number))
        if deleted:
            self._shelves.remove(entry, deleted, now)
            self._outbox.deleted(entry.queue, map(_told, deleted), now, by)
        return outcomes

    def _deleting(self, entry: Entry, card: Card | None, receives: int, now: int) -> Outcome:
        if card is None:
            return Outcome.GONE
        current = card.receives == receives
        if entry.fifo and (not current or (card.due or 0) <= now):
            return Outcome.EXPIRED
        return Outcome.DONE if current else Outcome.SUPERSEDED

    def change_visibility(
        self, queue_id: int, changes: Sequence[tuple[bytes, int]], now: int, by: str
    ) -> list[Outcome]:
        entry = self._present(queue_id, now)
        return [self._change(entry, claim, seconds, now, by) for claim, seconds in changes]

    def _change(self, entry: Entry, raw: bytes, seconds: int, now: int, by: str) -> Outcome:
        card, current = self._find(entry, raw)
        if card is None:
            return Outcome.GONE
        if card.state != IN_FLIGHT:
            return Outcome.VISIBLE
        if entry.fifo and not current:
            return Outcome.EXPIRED
        due = now + seconds * 1000
        if due > (card.received or now) + LONGEST_VISIBILITY_MS:
            return Outcome.TOO_LONG
        if seconds:
            self._shelves.hide(entry, card, due, now)
        else:
            self._shelves.show(entry, card, now)
        self._outbox.visibility_changed(entry.queue, card.message_id, card.receives, seconds, now, by)
        return Outcome.DONE

    def _present(self, queue_id: int, now: int) -> Entry:
        """The queue as it is at this time."""
        entry = self._catalogue.live(queue_id)
        self._shelves.catch_up(now)
        self._shelves.expire(entry, now)
        return entry

    def _find(self, entry: Entry, raw: bytes) -> tuple[Card | None, bool]:
        """The message of a claim, and whether the claim stands for its latest delivery."""
        claim = Claim.unpack(raw)
        card = self._shelves.find(entry, claim.number) if claim and claim.shelf == entry.shelf else None
        return card, card is not None and claim is not None and card.receives == claim.receives
