"""Sending: a message gets a number, is looked up among recent ones if the queue deduplicates, and is shelved."""

from collections.abc import Callable, Sequence

from penstock.core.message import NewMessage, Sent
from penstock.core.store import DEDUPLICATION_MS
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.payloads import Payloads, packed_id, readable_id
from penstock.stores.sqlite.shelves import Card, Shelves


class Sending:
    def __init__(
        self, db: Database, catalogue: Catalogue, shelves: Shelves, payloads: Payloads, number: Callable[[], int]
    ) -> None:
        self._db, self._catalogue, self._shelves, self._payloads = db, catalogue, shelves, payloads
        self._number = number

    def send(self, queue_id: int, messages: Sequence[NewMessage], now: int) -> list[Sent]:
        entry = self._catalogue.live(queue_id)
        self._shelves.catch_up(now)
        return [self._send(entry, message, now) for message in messages]

    def _send(self, entry: Entry, message: NewMessage, now: int) -> Sent:
        number, fifo = self._number(), entry.queue.fifo
        if fifo and (earlier := self._earlier(entry, message, number, now)):
            return earlier
        delay = entry.queue.delay_seconds if fifo or message.delay_seconds is None else message.delay_seconds
        due = now + delay * 1000 if delay else None
        place = number if fifo else None if due else now
        self._payloads.add(number, message, number if fifo else None, now)
        card = Card(now, number, DELAYED if due else READY, place, due, 0, message.size)
        self._shelves.put(entry, card, message.group, now)
        return Sent(message.id, number if fifo else None)

    def _earlier(self, entry: Entry, message: NewMessage, number: int, now: int) -> Sent | None:
        """The message of which this one is a duplicate; otherwise remember this one."""
        key = (entry.shelf, entry.queue.deduplication_scope(message.group, now), message.deduplication_id)
        row = self._db.execute(
            "SELECT id, sequence FROM deduplication WHERE shelf=? AND scope=? AND name=? AND expires>?", (*key, now)
        ).get
        if row:
            return Sent(readable_id(row[0]), row[1], duplicate=True)
        self._db.execute(
            "INSERT OR REPLACE INTO deduplication VALUES (?,?,?,?,?,?)",
            (*key, packed_id(message.id), number, now + DEDUPLICATION_MS),
        )
        return None
