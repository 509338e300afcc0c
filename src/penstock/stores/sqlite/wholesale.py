"""Parties of plain messages: sent, received and deleted in native code, for all their members at once.

It is the ordinary case, and the rules are those of `sending`, `delivery` and `claims`: a standard queue without groups,
messages without attributes, first deliveries. What is kept in memory, counters above all, stays the business of
`shelves`. Each step says whether it was carried out; if not, nothing was changed, and the ordinary way is to be taken.
FIFO queues have steps of their own (`wholesale_fifo`).
"""

from types import ModuleType
from typing import Any

from penstock.core.journal import FULL
from penstock.core.outbox import Outbox
from penstock.core.queue import Queue
from penstock.core.store import Party, Receive
from penstock.core.traffic import Traffic
from penstock.stores.sqlite.catalogue import DELAYED, IN_FLIGHT, READY, Catalogue
from penstock.stores.sqlite.data_keys import DataKeys
from penstock.stores.sqlite.delivery import ROUNDS
from penstock.stores.sqlite.marks import Marks
from penstock.stores.sqlite.shelves import Shelves


class Wholesale:
    """`shelf` is native, for the connection that native code was loaded into, and is let go of before that is closed
    (`leave`)."""

    def __init__(
        self, native: ModuleType, shelf: Any, catalogue: Catalogue, shelves: Shelves, keys: DataKeys, marks: Marks,
        outbox: Outbox, traffic: Traffic,
    ) -> None:  # fmt: skip
        self._native, self._shelf, self._catalogue, self._shelves = native, shelf, catalogue, shelves
        self._keys, self._marks, self._outbox, self._traffic = keys, marks, outbox, traffic

    def leave(self) -> None:
        """An error that somebody still holds has hold of this object, too: of the statements it must not."""
        self._shelf = None

    def send(self, queue_id: int, party: Party, sender: str, now: int, by: str) -> bool:
        entry = self._catalogue.live(queue_id)
        if entry.groups or any(party.named()) or not self._shelves.is_in_order(entry, now):
            return False
        key, sizes, delay = self._keys.key_for(entry, now), party.sizes(), entry.queue.delay_seconds
        self._shelves.catch_up(now)
        due, first = now + delay * 1000 if delay else None, self._marks.numbers(len(sizes))
        if key is not None:
            key.left -= len(sizes)
        lines = self._lines(entry.queue, "SENT", now, by)
        self._shelf.send(party, entry.shelf, now, due, first, sender, key and key.native, lines)
        self._tell(lines)
        self._shelves.runs.add(entry.shelf, first, first + len(sizes) - 1)
        if due is None and entry.fresh is None:
            entry.fresh = first
        self._shelves.came(entry, (DELAYED if due else READY, 0, due), sizes, now, now)
        self._traffic.stored(entry.queue.key, sizes, now)
        return True

    def receive(self, queue_id: int, party: Party, ask: Receive, now: int, by: str) -> bool:
        entry, shelves = self._catalogue.live(queue_id), self._shelves
        shelves.catch_up(now, rounds=ROUNDS)
        shelves.expire(entry, now)
        room = min(ask.in_flight_limit - entry.counts[IN_FLIGHT], entry.counts[READY])
        if entry.groups or entry.placed or entry.fresh is None or room <= 0 or not ask.visibility_seconds:
            return False
        due, limit = now + ask.visibility_seconds * 1000, min(room, ask.limit * len(party))
        lines = self._lines(entry.queue, "RECEIVED", now, by)
        number, (last, reach) = self._shelf.receive(
            party, entry.shelf, (entry.fresh, entry.reach), ask.limit, limit, now, due, now - entry.retention_ms,
            self._keys.natives, shelves.runs, lines,
        )  # fmt: skip
        self._tell(lines)
        if not number:
            return False
        entry.fresh = last + 1
        entry.reach = reach
        shelves.delivered(entry, number, due, now)
        self._traffic.received(entry.queue.key, number, now)
        return True

    def delete(self, queue_id: int, party: Party, now: int, by: str) -> bool:
        entry = self._catalogue.live(queue_id)
        if entry.groups:
            return False
        self._shelves.catch_up(now)
        self._shelves.expire(entry, now)
        lines = self._lines(entry.queue, "DELETED", now, by)
        states, size = self._shelf.delete(party, entry.shelf, now, lines)
        self._tell(lines)
        if number := sum(states):
            self._shelves.counted_off(entry, states, size)
            self._traffic.deleted(entry.queue.key, number, now)
        return True

    def _lines(self, queue: Queue, event: str, now: int, by: str) -> Any:
        """For the journal, if it is to be told."""
        outbox = self._outbox
        level = outbox.level_of(queue)
        return self._native.Lines(*outbox.frame(queue, event, now, by), outbox.seq, level == FULL) if level else None

    def _tell(self, lines: Any) -> None:
        if lines is not None and lines.count:
            self._outbox.add(lines.count, lines.packed)
