"""Where messages lie, and the steps from one state to the next. Every step keeps the counters and the groups right.

Each step takes the card of the message as it was.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, starmap, takewhile

from penstock.core.outbox import Outbox
from penstock.stores.sqlite.cards import COLUMNS, WITHOUT_CONTENT, Card
from penstock.stores.sqlite.catalogue import DAMAGED, DELAYED, IN_FLIGHT, NEVER, READY, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.groups import Groups
from penstock.stores.sqlite.runs import Runs
from penstock.stores.sqlite.statements import numbered

PROMOTED_AT_ONCE = 500
EXPIRED_AT_ONCE = 1000
LONGEST_DELAY_MS = 900_000

Spot = tuple[int, int, int | None]
"""Where on a shelf messages lie that can be counted together: their state, their group (or 0), when they are due."""

_FIND = f"SELECT {COLUMNS} FROM message WHERE number=? AND shelf=?"


_DELIVER = """UPDATE message SET state=?, {column}=?, due=?, receives=receives+1, received=?,
    first_received=coalesce(first_received, ?), room=NULL WHERE {which}"""
"""On a standard queue a message leaves its place in line, on a FIFO queue it keeps it."""


class Shelves:
    def __init__(
        self, db: Database, catalogue: Catalogue, groups: Groups, runs: Runs, outbox: Outbox,
        notify: Callable[..., None],
    ) -> None:  # fmt: skip
        self._db, self._catalogue, self.groups, self._outbox, self._notify = db, catalogue, groups, outbox, notify
        self.runs = runs
        self.next_due = 0
        self.latest = 0

    def find(self, entry: Entry, number: int) -> Card | None:
        row = self._db.execute(_FIND, (number, entry.shelf)).get
        return Card(*row) if row else None

    def held(self, entry: Entry, numbers: Sequence[int]) -> dict[int, Card]:
        """The messages with these numbers that the queue has, without their contents."""
        if not numbers:
            return {}
        which, values = numbered({*numbers})
        # `+shelf`: rows are found by their numbers, not by an index on the shelf
        rows = self._db.execute(
            f"SELECT {WITHOUT_CONTENT} FROM message WHERE {which} AND +shelf=?", (*values, entry.shelf)
        )
        return {card.number: card for card in starmap(Card, rows)}

    def has_aged(self, entry: Entry) -> bool:
        """Whether there are messages on the shelf that kept their age: all that come then are put in its index."""
        entry.aged = entry.aged and self.runs.has_aged(entry.shelf)
        return entry.aged

    def oldest(self, entry: Entry) -> int | None:
        return self.runs.oldest(entry.shelf, self.has_aged(entry))

    def is_late(self, now: int) -> bool:
        """Whether others may have come later than this."""
        return now < self.latest

    def is_in_order(self, entry: Entry, now: int) -> bool:
        """Whether what comes now is younger than all that there is, as it is nearly always."""
        return not self.is_late(now) and not self.has_aged(entry)

    def coming(self, now: int) -> int:
        """When a message that comes now is said to have come: not before any other."""
        return max(now, self.latest)

    # Steps

    def came(self, entry: Entry, spot: Spot, sizes: Sequence[int], enqueued: int, now: int) -> None:
        """Messages of these sizes were put on a queue's shelf."""
        state, group, due = spot
        number = len(sizes)
        entry.counts[state] += number
        entry.bytes += sum(sizes)
        self._catalogue.touch(entry)
        if enqueued < entry.oldest:
            entry.oldest = enqueued
        if group and not entry.fifo:
            self.groups.joined(entry, group, number, state == READY, now)
        self._expect(entry, due, now, number)

    def left(self, entry: Entry, cards: Sequence[Card], now: int) -> None:
        """Messages were taken off a queue's shelf, for another or for good."""
        for card in cards:
            entry.counts[card.state] -= 1
            entry.bytes -= card.size
        self._catalogue.touch(entry)
        if entry.groups:
            for state in {card.state for card in cards}:
                groups = [card.group for card in cards if card.group and card.state == state]
                self.groups.left(entry, state, groups, now)
            if entry.fifo:
                self._notify(entry.id, now, len(cards))

    def transfer(self, entry: Entry, card: Card, target: Entry, moved: Card, group: str | None, now: int) -> None:
        """A message goes from one queue's shelf to another's, where it is as `moved` says. It has its number there
        already."""
        self._catalogue.touch(target)  # before it is changed: if this is undone midway, it must be read again
        target.aged = moved.enqueued < self.latest or self.has_aged(target)
        new_group = self.groups.enter(target, group, moved.place, moved.state == READY, now) if group else 0
        self._db.execute(
            "UPDATE message SET shelf=?, enqueued=?, state=?, place=?, shown=NULL, due=?, grp=?, receives=?,"
            " first_received=?, received=NULL, aged=? WHERE number=?",
            (
                target.shelf, moved.enqueued, moved.state, moved.place, moved.due, new_group, moved.receives,
                moved.first_received, self.coming(now) if target.aged else None, moved.number,
            ),
        )  # fmt: skip
        self.runs.add(target.shelf, moved.number, moved.number)
        target.placed = True
        if new_group and target.fifo:
            self.groups.update(target, [new_group], now)
        self.left(entry, [card], now)
        self.came(target, (moved.state, new_group, moved.due), [card.size], moved.enqueued, now)

    def remove(self, entry: Entry, cards: Sequence[Card], now: int) -> None:
        """Messages' end: deleted or expired. On a fair queue each of them may change who is noisy."""
        which, numbers = numbered([card.number for card in cards])
        self._db.execute(f"DELETE FROM message WHERE {which}", (*numbers,))
        for card in cards:
            if card.content is None:
                self._db.execute("DELETE FROM bulk WHERE number=?", (card.number,))
        if entry.fifo or not entry.groups:
            return self.left(entry, cards, now)
        for card in cards:
            if card.state == IN_FLIGHT:
                self.groups.note_work(entry, card.group, card.received, now)
            self.left(entry, [card], now)
        return None

    def show(self, entry: Entry, card: Card, since: int) -> None:
        """Hidden → ready, visible since the given time."""
        column, entry.placed = "shown" if entry.fifo else "place", True
        self._db.execute(f"UPDATE message SET state=0, due=NULL, {column}=? WHERE number=?", (since, card.number))
        self._turn(entry, card.state, READY)
        if card.group:
            in_flight = card.state == IN_FLIGHT
            if in_flight:
                self.groups.note_work(entry, card.group, card.received, since)
            self.groups.update(entry, [card.group], since, ready=1, in_flight=-in_flight)
        self._notify(entry.id, since)

    def hide(self, entry: Entry, card: Card, due: int, now: int) -> None:
        """In flight until another time; a ready message comes into flight (again)."""
        column = "" if entry.fifo else "place=NULL, "
        self._db.execute(f"UPDATE message SET {column}state=1, due=? WHERE number=?", (due, card.number))
        self._turn(entry, card.state, IN_FLIGHT)
        if card.group and card.state == READY:
            self.groups.update(entry, [card.group], now, ready=-1, in_flight=1)
        self._expect(entry, due, now)

    def set_aside(self, entry: Entry, card: Card, now: int) -> None:
        """A message that cannot be read is handed out to nobody; it goes when its retention ends."""
        self._db.execute("UPDATE message SET state=?, place=NULL, due=NULL WHERE number=?", (DAMAGED, card.number))
        self._turn(entry, card.state, DAMAGED)
        if card.group:
            self.groups.update(entry, [card.group], now, ready=-1)
        self._notify(entry.id, now)

    def deliver(self, entry: Entry, cards: Sequence[Card], due: int | None, now: int) -> None:
        """Ready → in flight, or ready still and at the back if they stay visible. The caller tells the groups."""
        column, since = ("shown", now) if entry.fifo else ("place", None if due else now)
        which, numbers = numbered([card.number for card in cards])
        self._db.execute(
            _DELIVER.format(column=column, which=which),
            (IN_FLIGHT if due else READY, since, due, now, now, *numbers),
        )
        if due is None:
            entry.placed = True
            self._catalogue.touch(entry)
            self._notify(entry.id, now, len(cards))
        else:
            self.delivered(entry, len(cards), due, now)

    def delivered(self, entry: Entry, messages: int, due: int, now: int) -> None:
        """So many ready messages are in flight now."""
        self._turn(entry, READY, IN_FLIGHT, messages)
        if due < self.next_due:
            self._expect(entry, due, now)

    def counted_off(self, entry: Entry, states: Sequence[int], size: int) -> None:
        """So many messages of each state are gone, and so many bytes; whoever says so has seen to their groups."""
        for state, messages in enumerate(states):
            entry.counts[state] -= messages
        entry.bytes -= size
        self._catalogue.touch(entry)

    def groups_freed(self, entry: Entry, ended: int, messages: int, now: int) -> None:
        """Of a FIFO queue: so many groups went with their last message, and others may have a next one."""
        entry.groups -= ended
        self._notify(entry.id, now, messages)

    # Time

    def catch_up(self, now: int, rounds: int = 1) -> None:
        """Make ready what is due: at once for all but a storm, which is spread over calls."""
        self.passed(now)
        while self.next_due <= now and rounds:
            self._promote(now)
            rounds -= 1

    def passed(self, now: int) -> None:
        """It is so late."""
        if now > self.latest:
            self.latest = now

    def announce(self, queue_id: int, messages: int, now: int) -> None:
        """Messages of this queue can be had now."""
        self._notify(queue_id, now, messages)

    def expect(self, queue_id: int, due: int) -> None:
        """A message of this queue can be had when it is due."""
        if due < self.next_due:
            self.next_due = due
            self._notify(queue_id, due)

    def _promote(self, now: int) -> None:
        rows = self._db.execute(
            f"SELECT shelf, {WITHOUT_CONTENT} FROM message WHERE due<=? ORDER BY due LIMIT ?", (now, PROMOTED_AT_ONCE)
        ).fetchall()
        for shelf, *row in rows:
            card, entry = Card(*row), self._catalogue.by_shelf.get(shelf)
            if entry is not None and card.due is not None:
                self.show(entry, card, card.due)
            else:
                self._db.execute("UPDATE message SET due=NULL WHERE number=?", (card.number,))
        earliest = self._db.execute("SELECT due FROM message WHERE due IS NOT NULL ORDER BY due LIMIT 1").get
        self.next_due = earliest if isinstance(earliest, int) else NEVER

    def expire(self, entry: Entry, now: int) -> int:
        """Drop messages past their retention, at most so many at once; how many there were."""
        horizon = now - entry.retention_ms
        if entry.oldest > horizon:
            return 0
        expired = list(islice(self._older(entry, horizon), EXPIRED_AT_ONCE))
        self.drop(entry, expired, now)
        oldest = self.oldest(entry)
        entry.oldest = NEVER if oldest is None else oldest
        return len(expired)

    def _older(self, entry: Entry, horizon: int) -> Iterator[Card]:
        """Messages that are no younger than this, the oldest first."""
        for card in starmap(Card, self.runs.by_age(entry.shelf, WITHOUT_CONTENT)):
            if isinstance(card.enqueued, int):  # else it will be found damaged
                if card.enqueued > horizon:
                    break
                yield card

    def drop(self, entry: Entry, cards: Sequence[Card], now: int) -> None:
        """Messages past their retention."""
        for card in cards:
            self.remove(entry, [card], now)
            if card.state != DAMAGED:
                self._outbox.expired(entry.queue, card.message_id, card.receives, card.enqueued, now)

    def delay_anew(self, entry: Entry, now: int) -> None:
        """A FIFO queue's delay changed: messages still waiting wait for the new one."""
        rows = self.runs.rows_backwards(entry.shelf, "number, enqueued, state")
        whole = (row for row in rows if isinstance(row[1], int))  # others will be found damaged
        recent = list(takewhile(lambda row: row[1] > now - LONGEST_DELAY_MS, whole))
        for number, enqueued, state in recent:
            if state == DELAYED:
                due = enqueued + entry.queue.delay_seconds * 1000
                self._db.execute("UPDATE message SET due=? WHERE number=?", (due, number))
                self._expect(entry, due, now)
        self.catch_up(now)

    def look_again_soon(self, entry: Entry, now: int) -> None:
        """There is more than this call could deal with: tell a receiver, who may be about to wait."""
        asyncio.get_running_loop().call_later(0.01, self._notify, entry.id, now)

    def _expect(self, entry: Entry, due: int | None, now: int, messages: int = 1) -> None:
        """Messages of this queue can be had when they are due, or now."""
        if due is not None and due < self.next_due:
            self.next_due = due
        self._notify(entry.id, due or now, messages)

    def _turn(self, entry: Entry, before: int, after: int, messages: int = 1) -> None:
        entry.counts[before] -= messages
        entry.counts[after] += messages
        self._catalogue.touch(entry)
