"""Sending: a message gets a number, is looked up among recent ones if the queue deduplicates, and is shelved.

The messages of a batch are one statement, and those of a kind are counted together.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from penstock.core.message import NewMessage, Sent
from penstock.core.outbox import Outbox
from penstock.core.store import DEDUPLICATION_MS
from penstock.stores.sqlite.cards import CARRIED_BYTES, Cards, room
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.data_keys import DataKey, DataKeys
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import checksum, pack
from penstock.stores.sqlite.shelves import Shelves, Spot
from penstock.stores.sqlite.statements import rows

_COLUMNS = (
    "number", "shelf", "state", "place", "due", "grp", "size", "id", "checksum", "content", "room", "enqueued", "aged",
)  # fmt: skip


@cache
def _remember(messages: int) -> str:
    return f"""
        INSERT INTO deduplication VALUES {rows(messages, columns=6)}
        ON CONFLICT DO UPDATE SET id=excluded.id, sequence=excluded.sequence, expires=excluded.expires
        WHERE expires<=?"""


@cache
def _insert(messages: int) -> str:
    return f"INSERT INTO message ({', '.join(_COLUMNS)}) VALUES {rows(messages, len(_COLUMNS))}"


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
        self._catalogue.touch(entry)  # before it is changed: if this is undone midway, it must be read again
        numbers = [self._number() for _ in messages]
        enqueued = shelves.coming(now)
        aged = enqueued if shelves.has_aged(entry) else None
        earlier, groups = self._enter_fifo(entry, messages, numbers, now) if entry.fifo else ({}, {})
        sent: list[Sent] = []
        values: list[Any] = []
        arrived: dict[Spot, list[int]] = {}
        for message, number in zip(messages, numbers, strict=True):
            if first := earlier.get(number):
                outbox.deduplicated(entry.queue, message, first.id, now, by)
                sent.append(first)
                continue
            delay, sequence = (None, number) if entry.fifo else (message.delay_seconds, None)
            if delay is None:
                delay = entry.queue.delay_seconds
            due, name = now + delay * 1000 if delay else None, message.group
            group = 0 if name is None else groups.get(name) or shelves.groups.enter(entry, name, sequence, not due, now)
            spot = DELAYED if due else READY, group, due
            values += *self._row(entry, message, number, sequence, spot, key, now), enqueued, aged
            arrived.setdefault(spot, []).append(message.size)
            if outbox.on:
                outbox.sent(entry.queue, message, delay * 1000, now, by)
            sent.append(Sent(message.id, sequence))
        if arrived:
            self._db.execute(_insert(len(values) // len(_COLUMNS)), values)
            shelves.runs.add(entry.shelf, numbers[0], numbers[-1])
        for spot, sizes in arrived.items():
            shelves.came(entry, spot, sizes, enqueued, now)
        return sent

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
        elif not due and entry.fresh is None:
            entry.fresh = number
        spare = room(entry.fifo, due is not None or (place is not None and not entry.fifo))
        return number, entry.shelf, state, place, due, group, message.size, identity, check, carried, spare

    def _enter_fifo(
        self, entry: Entry, messages: Sequence[NewMessage], numbers: Sequence[int], now: int
    ) -> tuple[dict[int, Sent], dict[str, int]]:
        """By number, for those that are duplicates, the messages that came first; and the ids of the groups that the
        others join, by name."""
        earlier = self._earlier(entry, messages, numbers, now)
        joining = [
            (message.group, number)
            for message, number in zip(messages, numbers, strict=True)
            if message.group and number not in earlier
        ]
        ready = not entry.queue.delay_seconds
        return earlier, self._shelves.groups.enter_fifo(entry, joining, ready, now) if joining else {}

    def _earlier(
        self, entry: Entry, messages: Sequence[NewMessage], numbers: Sequence[int], now: int
    ) -> dict[int, Sent]:
        """Remember those that are no duplicates."""
        queue, shelf, expires = entry.queue, entry.shelf, now + DEDUPLICATION_MS
        keys = [(shelf, queue.deduplication_scope(new.group, now), new.deduplication_id) for new in messages]
        values = [
            value
            for key, new, number in zip(keys, messages, numbers, strict=True)
            for value in (*key, new.id.encode(), number, expires)
        ]
        self._db.execute(_remember(len(messages)), (*values, now))
        if self._db.changes() == len(messages):
            return {}
        first = (self._remembered(key) for key in keys)
        return {number: sent for number, sent in zip(numbers, first, strict=True) if sent.sequence != number}

    def _remembered(self, key: tuple[Any, ...]) -> Sent:
        identity, sequence = self._db.execute(
            "SELECT id, sequence FROM deduplication WHERE shelf=? AND scope=? AND name=?", key
        ).get
        return Sent(identity.decode(), sequence, duplicate=True)
