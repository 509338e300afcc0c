"""Parties of plain messages of FIFO queues: sent, received and deleted in native code, for all their members at once.

As `wholesale`, with what FIFO queues have beside it: deduplication, sequence numbers, groups of which one message is
handed out at a time, claims that expire. Left to the ordinary way are duplicates, delays, receivers who want more than
one message, and messages that are not to be handed out but to be buried, dropped or set aside.
"""

from penstock.core.store import DEDUPLICATION_MS, Party, Receive
from penstock.stores.sqlite.catalogue import IN_FLIGHT, READY
from penstock.stores.sqlite.delivery import ROUNDS
from penstock.stores.sqlite.wholesale import Wholesale


class WholesaleFifo(Wholesale):
    def send(self, queue_id: int, party: Party, sender: str, now: int, by: str) -> bool:
        entry = self._catalogue.live(queue_id)
        queue, shelf, by_group = entry.queue, entry.shelf, entry.queue.scope_in_force(now) == "messageGroup"
        if queue.delay_seconds or not self._shelves.is_in_order(entry, now):
            return False
        if self._shelf.has_duplicates(party, shelf, now, by_group):
            return False
        key, sizes = self._keys.key_for(entry, now), party.sizes()
        self._shelves.catch_up(now)
        if key is not None:
            key.left -= len(sizes)
        first, expires = self._marks.numbers(len(sizes)), now + DEDUPLICATION_MS
        lines = self._lines(queue, "SENT", now, by)
        entry.groups += self._shelf.send(party, shelf, now, expires, first, by_group, sender, key and key.native, lines)
        self._tell(lines)
        entry.placed = True
        self._shelves.runs.add(shelf, first, first + len(sizes) - 1)
        self._shelves.came(entry, (READY, 0, None), sizes, now, now)
        self._traffic.stored(queue.key, sizes, now)
        return True

    def receive(self, queue_id: int, party: Party, ask: Receive, now: int, by: str) -> bool:
        """One of a group to each, as `Delivery.receive_one_each` has it: whoever is left finds no group with a message
        to hand out, and looks once more the ordinary way."""
        entry, shelves = self._catalogue.live(queue_id), self._shelves
        shelves.catch_up(now, rounds=ROUNDS)
        shelves.expire(entry, now)
        room = min(ask.in_flight_limit - entry.counts[IN_FLIGHT], entry.counts[READY])
        if ask.limit > 1 or room <= 0 or not ask.visibility_seconds:
            return False
        due, redrive = now + ask.visibility_seconds * 1000, entry.queue.redrive
        lines = self._lines(entry.queue, "RECEIVED", now, by)
        number: int = self._shelf.receive(
            party, entry.shelf, min(room, len(party)), now, due, now - entry.retention_ms,
            redrive and redrive.max_receives, self._keys.natives, lines,
        )  # fmt: skip
        self._tell(lines)
        if not number:
            return False
        shelves.delivered(entry, number, due, now)
        self._traffic.received(entry.queue.key, number, now)
        return True

    def delete(self, queue_id: int, party: Party, now: int, by: str) -> bool:
        """The party knows which claims have expired."""
        entry = self._catalogue.live(queue_id)
        self._shelves.catch_up(now)
        self._shelves.expire(entry, now)
        lines = self._lines(entry.queue, "DELETED", now, by)
        states, size, ended = self._shelf.delete(party, entry.shelf, now, lines)
        self._tell(lines)
        if number := sum(states):
            self._shelves.counted_off(entry, states, size)
            self._shelves.groups_freed(entry, ended, number, now)
            self._traffic.deleted(entry.queue.key, number, now)
        return True
