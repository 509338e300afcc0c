"""Sending: a message gets a number, is looked up among recent ones if the queue deduplicates, and is shelved.

The messages of a batch are one statement, and those of a kind are counted together.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from penstock.core.message import NewMessage, Sent
from penstock.core.outbox import Outbox
from penstock.core.store import DEDUPLICATION_MS
from penstock.stores.sqlite.cards import CARRIED_BYTES, Cards
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.data_keys import DataKey, DataKeys
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import checksum, pack
from penstock.stores.sqlite.shelves import Shelves, Spot

_COLUMNS = "number", "shelf", "enqueued", "state", "place", "due", "grp", "size", "id", "checksum", "content"

_REMEMBER = """
    INSERT INTO deduplication VALUES (?,?,?,?,?,?)
    ON CONFLICT DO UPDATE SET id=excluded.id, sequence=excluded.sequence, expires=excluded.expires WHERE expires<=?"""


@cache
def _insert(messages: int) -> str:
    row = f"({','.join('?' * len(_COLUMNS))})"
    return f"INSERT INTO message ({', '.join(_COLUMNS)}) VALUES {','.join([row] * messages)}"


class Sending:
    def __init__(
        self, db: Database, catalogue: Catalogue, shelves: Shelves, cards: Cards, keys: DataKeys, outbox: Outbox,
        number: Callable[[], int],
    ) -> None:  # fmt: skip
        self._db, self._catalogue, self._shelves, self._cards, self._keys = db, catalogue, shelves, cards, keys
        self._outbox, self._number = outbox, number

    def send(self, queue_id: int, messages: Sequence[NewMessage], now: int, by: str) -> list[Sent]:
        entry, shelves, outbox = self._catalogue.live(queue_id), self._shelves, self._outbox
        key = self._keys.key_for(entry, now)
        shelves.catch_up(now)
        sent: list[Sent] = []
        values: list[Any] = []
        arrived: dict[Spot, list[int]] = {}
        for message in messages:
            number, delay, sequence = self._number(), message.delay_seconds, None
            if entry.fifo:
                if earlier := self._earlier(entry, message, number, now):
                    outbox.deduplicated(entry.queue, message, earlier.id, now, by)
                    sent.append(earlier)
                    continue
                delay, sequence = None, number
            if delay is None:
                delay = entry.queue.delay_seconds
            spot = self._spot(entry, message.group, sequence, now + delay * 1000 if delay else None, now)
            values += self._row(entry, message, number, sequence, spot, key, now)
            arrived.setdefault(spot, []).append(message.size)
            if outbox.on:
                outbox.sent(entry.queue, message, delay * 1000, now, by)
            sent.append(Sent(message.id, sequence))
        if arrived:
            self._db.execute(_insert(len(values) // len(_COLUMNS)), values)
        for spot, sizes in arrived.items():
            shelves.came(entry, spot, sizes, now, now)
        return sent

    def _spot(self, entry: Entry, group: str | None, sequence: int | None, due: int | None, now: int) -> Spot:
        joined = self._shelves.groups.enter(entry, group, sequence, not due, now) if group else 0
        return DELAYED if due else READY, joined, due

    def _row(
        self, entry: Entry, message: NewMessage, number: int, sequence: int | None, spot: Spot, key: DataKey | None,
        now: int,
    ) -> tuple[Any, ...]:  # fmt: skip
        state, group, due = spot
        identity = message.id.encode()
        content = pack(
            (message.body, message.sender, now, message.attributes, message.trace, message.group,
             message.deduplication_id, sequence, None)
        )  # fmt: skip
        if key:
            content = key.encrypted(identity, content)
        check = checksum(identity, content)
        carried = content if len(content) <= CARRIED_BYTES else self._cards.carried(number, content)
        place = sequence or (now if (group or entry.groups) and not due else None)
        if place is not None:
            entry.placed = True
        elif not due and (entry.fresh is None or (now, number) < entry.fresh):
            entry.fresh = now, number
        return number, entry.shelf, now, state, place, due, group, message.size, identity, check, carried

    def _earlier(self, entry: Entry, message: NewMessage, number: int, now: int) -> Sent | None:
        """The message of which this one is a duplicate; otherwise remember this one."""
        key = (entry.shelf, entry.queue.deduplication_scope(message.group, now), message.deduplication_id)
        self._db.execute(_REMEMBER, (*key, message.id.encode(), number, now + DEDUPLICATION_MS, now))
        if self._db.changed():
            return None
        identity, sequence = self._db.execute(
            "SELECT id, sequence FROM deduplication WHERE shelf=? AND scope=? AND name=?", key
        ).get
        return Sent(identity.decode(), sequence, duplicate=True)
