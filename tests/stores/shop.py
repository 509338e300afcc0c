"""What the tests of parties are written in: a scenario is played on a store with native code, on one where that serves
them in rounds, and on one without. All that is left of it, rows, lines of the journal, counters and replies, must be
the same."""

import json
import re
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

from conformance.gathering import Gathering, Told, compiled
from conformance.notebook import Notebook
from conformance.stores import new_folder
from conformance.world import Line, World
from penstock.core.clock import ManualClock
from penstock.core.journal import FULL
from penstock.core.outbox import PACKED, unpacked
from penstock.stores.sqlite import SqliteStore

from .conftest import keyring

native = compiled()

TABLES = {
    "message": "SELECT number, m.shelf, enqueued, state, place, shown, due, g.name, size, receives, first_received,"
    " received, m.id, length(room), {content} FROM message AS m LEFT JOIN message_group AS g ON g.id=m.grp"
    " ORDER BY number",
    "bulk": "SELECT number, {content} FROM bulk ORDER BY number",
    "message_group": "SELECT shelf, name, messages, ready, in_flight, last_sent, noisy, available, head"
    " FROM message_group ORDER BY shelf, name",
    "deduplication": "SELECT * FROM deduplication ORDER BY sequence",
}
"""Without the ids of groups, which say nothing, and checksums, which depend on the ids of messages."""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Shop:
    """A queue, clients who come in parties, and what they were told."""

    def __init__(self, world: World, line: Line, rounds: bool) -> None:
        self.world, self.line = world, line
        self.clients = Gathering(native, store := sqlite_store(world), line.id, rounds)
        self.told: list[list[Told]] = []
        self.handles: list[str] = []
        self.heard: list[tuple[int, int, int]] = []
        store.subscribe(self._hear)

    def _hear(self, queue_id: int, at: int, messages: int) -> bool:
        self.heard.append((queue_id, at, messages))
        return False

    async def send(self, *entries: tuple[str, ...] | list[tuple[str, ...]]) -> None:
        """Body, and for a FIFO queue the group, and maybe the deduplication id, of each."""
        asked = [[_entry(*one) for one in entry] if isinstance(entry, list) else _entry(*entry) for entry in entries]
        self.told.append(await self.clients.send(*asked, now=self.world.now))

    async def receive(self, receivers: int, seconds: int = 30, most: int = 1) -> list[str | None]:
        """The bodies that they were given."""
        told = await self.clients.receive(receivers, seconds, self.world.now, most=most)
        bodies: list[str | None] = []
        for reply in told:
            messages = reply["Messages"] if reply else []
            self.handles += [message.pop("ReceiptHandle") for message in messages]
            bodies.append(messages[0]["Body"] if messages else None)
        self.told.append(told)
        return bodies

    async def delete(self, *handles: str | list[str]) -> list[Told]:
        self.told.append(await self.clients.delete(*handles, now=self.world.now))
        return self.told[-1]


Scenario = Callable[[Shop], Awaitable[None]]


MEMBERS = "MessageBody", "MessageGroupId", "MessageDeduplicationId"


def _entry(*values: str) -> dict[str, str]:
    return dict(zip(MEMBERS, values, strict=False))


def sqlite_store(world: World) -> SqliteStore:
    assert isinstance(world.store, SqliteStore)
    return world.store


async def _played(scenario: Scenario, way: str, name: str, encrypted: bool, **attributes: object) -> Any:
    """What is left of a scenario: rows, lines and replies; and which parties were carried out in native code."""
    folder, clock, book = new_folder(), ManualClock(), Notebook(FULL)
    store = SqliteStore(folder / "penstock.db")
    store.native = None if way == "Python" else native
    await store.open()
    try:
        store.attach_journal(book)
        if encrypted:
            store.attach_keys(keyring())
        world = World(store, clock)
        line, _ = await world.queue_with_dead_letters(name, 3, **attributes)
        shop = Shop(world, line, way == "rounds")
        await scenario(shop)
        world.advance(0.2)
        counts = await line.states()
        rows = {name: _rows(store, name, encrypted) for name in TABLES}
        entry = store._catalogue.live(line.id)
        left = {
            "counters": (counts, entry.counters), "rows": rows, "told": shop.told,
            "heard": sum(messages for *_, messages in shop.heard),
            "lines": [json.loads(line) for *_, kept in book.batches for line in _lines(kept).splitlines()],
        }  # fmt: skip
        return _without_ids(left), shop.clients.natively
    finally:
        await store.close()
        shutil.rmtree(folder)


def _lines(kept: bytes) -> bytes:
    """Made by Python, and the same by native code of what that packed."""
    lines = unpacked(kept)
    if kept.startswith(PACKED):
        assert native.unpacked([kept]) == lines
    return lines


def _rows(store: SqliteStore, table: str, encrypted: bool) -> list[Any]:
    content = "length(content)" if encrypted else "content"
    return [*store.database.execute(TABLES[table].format(content=content))]


def _without_ids(left: Any) -> str:
    """Ids of messages by the order in which they are met."""
    met: dict[str, str] = {}
    return UUID.sub(lambda found: met.setdefault(found[0], f"id {len(met)}"), repr(left))


async def alike(
    scenario: Scenario, name: str = "q.fifo", *, encrypted: bool = False, **attributes: object
) -> list[bool]:
    """Play it on a queue of this name in each way: all that is left of it must be the same. Which parties were carried
    out in native code, where it is there."""
    expected, never = await _played(scenario, "Python", name, encrypted, **attributes)
    assert not any(never)
    left, natively = await _played(scenario, "native", name, encrypted, **attributes)
    assert left == expected
    left, in_rounds = await _played(scenario, "rounds", name, encrypted, **attributes)
    assert left == expected
    assert any(in_rounds) == any(natively)
    return natively
