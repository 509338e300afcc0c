"""Where messages lie, and the steps from one state to the next. Every step keeps the counters and the groups right.

A card is the part of a message that changes: one row of the table `message`. Each step takes the card as it was.
"""

import asyncio
import math
from typing import NamedTuple

from penstock.core.store import Listener
from penstock.stores.sqlite.catalogue import DAMAGED, DELAYED, IN_FLIGHT, READY, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.groups import Groups

PROMOTED_AT_ONCE = 500
EXPIRED_AT_ONCE = 1000
LONGEST_DELAY_MS = 900_000

COLUMNS = "enqueued, number, state, place, due, grp, size, receives, first_received, received"
KEY = "shelf=? AND enqueued=? AND number=?"


class Card(NamedTuple):
    """See the schema for `state`, `place` and `due`; `received` is the time of the last delivery."""

    enqueued: int
    number: int
    state: int
    place: int | None
    due: int | None
    group: int
    size: int
    receives: int = 0
    first_received: int | None = None
    received: int | None = None

    def received_again(self, now: int) -> "Card":
        return self._replace(receives=self.receives + 1, first_received=self.first_received or now, received=now)


class Shelves:
    def __init__(self, db: Database, catalogue: Catalogue, groups: Groups, notify: Listener) -> None:
        self._db, self._catalogue, self.groups, self._notify = db, catalogue, groups, notify
        self.next_due: float = 0
        self.latest = 0

    def find(self, entry: Entry, enqueued: int, number: int) -> Card | None:
        row = self._db.execute(f"SELECT {COLUMNS} FROM message WHERE {KEY}", (entry.shelf, enqueued, number)).get
        return Card(*row) if row else None

    def oldest(self, entry: Entry) -> int | None:
        found: int | None = self._db.execute(
            "SELECT enqueued FROM message WHERE shelf=? ORDER BY enqueued LIMIT 1", (entry.shelf,)
        ).get
        return found

    # Steps

    def put(self, entry: Entry, card: Card, group: str | None, now: int) -> None:
        """A message comes onto a queue's shelf. Its group is given by name; the card knows only numbers."""
        if group:
            card = card._replace(group=self.groups.enter(entry, group, now))
        self._db.execute(f"INSERT INTO message (shelf, {COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", (entry.shelf, *card))
        self._count(entry, card.state, +1)
        entry.bytes += card.size
        entry.oldest = min(entry.oldest, card.enqueued)
        if card.group:
            self.groups.update(entry, card.group, now, messages=1, ready=int(card.state == READY))
        self._expect(entry, card.due, now)

    def take_off(self, entry: Entry, card: Card, now: int) -> None:
        """A message leaves a queue's shelf, for another or for good."""
        self._db.execute(f"DELETE FROM message WHERE {KEY}", (entry.shelf, card.enqueued, card.number))
        self._count(entry, card.state, -1)
        entry.bytes -= card.size
        if card.group:
            ready, in_flight = -(card.state == READY), -(card.state == IN_FLIGHT)
            self.groups.update(entry, card.group, now, messages=-1, ready=ready, in_flight=in_flight)
            if entry.queue.fifo:
                self._notify(entry.queue.id, now)

    def remove(self, entry: Entry, card: Card, now: int) -> None:
        """A message's end: deleted or expired."""
        self.groups.note_work(entry, card.group, card.received if card.state == IN_FLIGHT else None, now)
        self.take_off(entry, card, now)
        self._db.execute("DELETE FROM payload WHERE number=?", (card.number,))

    def show(self, entry: Entry, card: Card, since: int) -> None:
        """Hidden → ready, visible since the given time."""
        column = "shown" if entry.queue.fifo else "place"
        self._db.execute(
            f"UPDATE message SET state=0, due=NULL, {column}=? WHERE {KEY}",
            (since, entry.shelf, card.enqueued, card.number),
        )
        self._count(entry, card.state, -1)
        self._count(entry, READY, +1)
        if card.group:
            in_flight = card.state == IN_FLIGHT
            self.groups.note_work(entry, card.group, card.received if in_flight else None, since)
            self.groups.update(entry, card.group, since, ready=1, in_flight=-in_flight)
        self._notify(entry.queue.id, since)

    def hide(self, entry: Entry, card: Card, due: int, now: int) -> None:
        """In flight until another time; a ready message comes into flight (again)."""
        column = "" if entry.queue.fifo else "place=NULL, "
        self._db.execute(
            f"UPDATE message SET {column}state=1, due=? WHERE {KEY}", (due, entry.shelf, card.enqueued, card.number)
        )
        self._count(entry, card.state, -1)
        self._count(entry, IN_FLIGHT, +1)
        if card.group and card.state == READY:
            self.groups.update(entry, card.group, now, ready=-1, in_flight=1)
        self._expect(entry, due, now)

    def set_aside(self, entry: Entry, card: Card, now: int) -> None:
        """A message that cannot be read is handed out to nobody; it goes when its retention ends."""
        self._db.execute(
            f"UPDATE message SET state=?, place=NULL, due=NULL WHERE {KEY}",
            (DAMAGED, entry.shelf, card.enqueued, card.number),
        )
        self._count(entry, card.state, -1)
        self._count(entry, DAMAGED, +1)
        if card.group:
            self.groups.update(entry, card.group, now, ready=-1)
        self._notify(entry.queue.id, now)

    def deliver(self, entry: Entry, card: Card, due: int | None, now: int) -> None:
        """Ready → in flight, or ready still and at the back if it is not to be hidden. The caller tells the group."""
        place, shown = (card.place, now) if entry.queue.fifo else (None if due else now, None)
        self._db.execute(
            "UPDATE message SET state=?, place=?, shown=?, due=?, receives=?, first_received=?, received=?"
            f" WHERE {KEY}",
            (
                IN_FLIGHT if due else READY, place, shown, due, card.receives, card.first_received, now,
                entry.shelf, card.enqueued, card.number,
            ),
        )  # fmt: skip
        if due:
            self._count(entry, READY, -1)
            self._count(entry, IN_FLIGHT, +1)
        self._expect(entry, due, now)

    # Time

    def catch_up(self, now: int, rounds: int = 1) -> None:
        """Make ready what is due: at once for all but a storm, which is spread over calls."""
        self.latest = max(self.latest, now)
        while self.next_due <= now and rounds:
            self._promote(now)
            rounds -= 1

    def _promote(self, now: int) -> None:
        rows = self._db.execute(
            f"SELECT shelf, {COLUMNS} FROM message WHERE due<=? ORDER BY due LIMIT ?", (now, PROMOTED_AT_ONCE)
        ).fetchall()
        for shelf, *row in rows:
            card, entry = Card(*row), self._catalogue.by_shelf.get(shelf)
            if entry is not None and card.due is not None:
                self.show(entry, card, card.due)
            else:
                self._db.execute(f"UPDATE message SET due=NULL WHERE {KEY}", (shelf, card.enqueued, card.number))
        earliest = self._db.execute("SELECT due FROM message WHERE due IS NOT NULL ORDER BY due LIMIT 1").get
        self.next_due = math.inf if earliest is None else earliest

    def expire(self, entry: Entry, now: int) -> int:
        """Drop messages past their retention, at most so many at once; how many there were."""
        horizon = now - entry.retention_ms
        if entry.oldest > horizon:
            return 0
        rows = self._db.execute(
            f"SELECT {COLUMNS} FROM message WHERE shelf=? AND enqueued<=? ORDER BY enqueued LIMIT ?",
            (entry.shelf, horizon, EXPIRED_AT_ONCE),
        ).fetchall()
        for row in rows:
            self.remove(entry, Card(*row), now)
        oldest = self.oldest(entry)
        entry.oldest = math.inf if oldest is None else oldest
        return len(rows)

    def delay_anew(self, entry: Entry, now: int) -> None:
        """A FIFO queue's delay changed: messages still waiting wait for the new one."""
        rows = self._db.execute(
            "SELECT enqueued, number FROM message WHERE shelf=? AND enqueued>? AND state=?",
            (entry.shelf, now - LONGEST_DELAY_MS, DELAYED),
        ).fetchall()
        for enqueued, number in rows:
            due = enqueued + entry.queue.delay_seconds * 1000
            self._db.execute(f"UPDATE message SET due=? WHERE {KEY}", (due, entry.shelf, enqueued, number))
            self._expect(entry, due, now)
        self.catch_up(now)

    def look_again_soon(self, entry: Entry, now: int) -> None:
        """There is more than this call could deal with: tell a receiver, who may be about to wait."""
        asyncio.get_running_loop().call_later(0.01, self._notify, entry.queue.id, now)

    def _expect(self, entry: Entry, due: int | None, now: int) -> None:
        """A message of this queue can be had when it is due, or now."""
        if due is not None and due < self.next_due:
            self.next_due = due
        self._notify(entry.queue.id, due or now)

    def _count(self, entry: Entry, state: int, change: int) -> None:
        entry.counts[state] += change
        self._catalogue.touch(entry)
