"""Sending: a message gets a number, is looked up among recent ones if the queue deduplicates, and is shelved."""

from collections.abc import Callable, Sequence

from penstock.core.message import NewMessage, Sent
from penstock.core.outbox import Outbox
from penstock.core.store import DEDUPLICATION_MS
from penstock.stores.sqlite.cards import CARRIED_BYTES, Cards
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import checksum, pack
from penstock.stores.sqlite.shelves import Shelves

_INSERT = (
    "INSERT INTO message (number, shelf, enqueued, state, place, due, grp, size, id, checksum, content)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)


class Sending:
    def __init__(
        self, db: Database, catalogue: Catalogue, shelves: Shelves, cards: Cards, outbox: Outbox,
        number: Callable[[], int],
    ) -> None:  # fmt: skip
        self._db, self._catalogue, self._shelves, self._cards = db, catalogue, shelves, cards
        self._outbox, self._number = outbox, number

    def send(self, queue_id: int, messages: Sequence[NewMessage], now: int, by: str) -> list[Sent]:
        entry = self._catalogue.live(queue_id)
        self._shelves.catch_up(now)
        return [self._send(entry, message, now, by) for message in messages]

    def _send(self, entry: Entry, message: NewMessage, now: int, by: str) -> Sent:
        number, fifo, shelves = self._number(), entry.fifo, self._shelves
        delay, sequence = message.delay_seconds, None
        if fifo:
            if earlier := self._earlier(entry, message, number, now):
                self._outbox.deduplicated(entry.queue, message, earlier.id, now, by)
                return earlier
            delay, sequence = None, number
        if delay is None:
            delay = entry.queue.delay_seconds
        due = now + delay * 1000 if delay else None
        place = sequence if fifo else None if due else now
        state = DELAYED if due else READY
        group = shelves.groups.enter(entry, message.group, now) if message.group else 0
        identity = message.id.encode()
        content = pack(
            (message.body, message.sender, now, message.attributes, message.trace, message.group,
             message.deduplication_id, sequence, None)
        )  # fmt: skip
        check = checksum(identity, content)
        carried = content if len(content) <= CARRIED_BYTES else self._cards.carried(number, content)
        self._db.execute(
            _INSERT,
            (number, entry.shelf, now, state, place, due, group, message.size, identity, check, carried),
        )
        shelves.came(entry, state, message.size, now, group, due, now)
        if self._outbox.on:
            self._outbox.sent(entry.queue, message, delay * 1000, now, by)
        return Sent(message.id, sequence)

    def _earlier(self, entry: Entry, message: NewMessage, number: int, now: int) -> Sent | None:
        """The message of which this one is a duplicate; otherwise remember this one."""
        key = (entry.shelf, entry.queue.deduplication_scope(message.group, now), message.deduplication_id)
        row = self._db.execute(
            "SELECT id, sequence FROM deduplication WHERE shelf=? AND scope=? AND name=? AND expires>?", (*key, now)
        ).get
        if row:
            return Sent(row[0].decode(), row[1], duplicate=True)
        self._db.execute(
            "INSERT OR REPLACE INTO deduplication VALUES (?,?,?,?,?,?)",
            (*key, message.id.encode(), number, now + DEDUPLICATION_MS),
        )
        return None
