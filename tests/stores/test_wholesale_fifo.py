"""Parties of FIFO queues leave the same rows, lines and replies, whether native code or Python carries them out."""

import json
import random
import re
import shutil
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest

from conformance.gathering import Gathering, Told
from conformance.notebook import Notebook
from conformance.stores import new_folder
from conformance.world import Line, World
from penstock.core.clock import ManualClock
from penstock.core.journal import FULL
from penstock.stores.sqlite import SqliteStore

from .conftest import keyring

native = pytest.importorskip("penstock.native")

TABLES = {
    "message": "SELECT number, m.shelf, enqueued, state, place, shown, due, g.name, size, receives, first_received,"
    " received, m.id, {content} FROM message AS m LEFT JOIN message_group AS g ON g.id=m.grp ORDER BY number",
    "bulk": "SELECT number, {content} FROM bulk ORDER BY number",
    "message_group": "SELECT shelf, name, messages, ready, in_flight, last_sent, noisy, available, head"
    " FROM message_group ORDER BY shelf, name",
    "deduplication": "SELECT * FROM deduplication ORDER BY sequence",
}
"""Without the ids of groups, which say nothing, and checksums, which depend on the ids of messages."""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Shop:
    """A FIFO queue, clients who come in parties, and what they were told."""

    def __init__(self, world: World, line: Line, compiled: ModuleType) -> None:
        self.world, self.line = world, line
        self.clients = Gathering(compiled, store := _store(world), line.id)
        self.told: list[list[Told]] = []
        self.handles: list[str] = []
        self.heard: list[tuple[int, int, int]] = []
        store.subscribe(self._hear)

    def _hear(self, queue_id: int, at: int, messages: int) -> bool:
        self.heard.append((queue_id, at, messages))
        return False

    async def send(self, *entries: tuple[str, ...] | list[tuple[str, ...]]) -> None:
        """Body, group, and maybe deduplication id of each."""
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


def _entry(body: str, group: str, deduplication: str = "") -> dict[str, str]:
    named = {"MessageDeduplicationId": deduplication} if deduplication else {}
    return {"MessageBody": body, "MessageGroupId": group, **named}


def _store(world: World) -> SqliteStore:
    assert isinstance(world.store, SqliteStore)
    return world.store


async def _played(scenario: Scenario, compiled: ModuleType | None, encrypted: bool, **attributes: object) -> Any:
    """What is left of a scenario: rows, lines and replies; and which parties were carried out in native code."""
    folder, clock, book = new_folder(), ManualClock(), Notebook(FULL)
    store = SqliteStore(folder / "penstock.db")
    store.native = compiled
    await store.open()
    try:
        store.attach_journal(book)
        if encrypted:
            store.attach_keys(keyring())
        world = World(store, clock)
        line, _ = await world.queue_with_dead_letters("q.fifo", 3, ContentBasedDeduplication="true", **attributes)
        shop = Shop(world, line, native)
        await scenario(shop)
        world.advance(0.2)
        counts = await line.states()
        rows = {name: _rows(store, name, encrypted) for name in TABLES}
        entry = store._catalogue.live(line.id)
        left = {
            "counters": (counts, entry.counters), "rows": rows, "told": shop.told,
            "heard": sum(messages for *_, messages in shop.heard),
            "lines": [json.loads(line) for *_, lines in book.batches for line in lines.splitlines()],
        }  # fmt: skip
        return _without_ids(left), shop.clients.natively
    finally:
        await store.close()
        shutil.rmtree(folder)


def _rows(store: SqliteStore, table: str, encrypted: bool) -> list[Any]:
    content = "length(content)" if encrypted else "content"
    return [*store.database.execute(TABLES[table].format(content=content))]


def _without_ids(left: Any) -> str:
    """Ids of messages by the order in which they are met."""
    met: dict[str, str] = {}
    return UUID.sub(lambda found: met.setdefault(found[0], f"id {len(met)}"), repr(left))


async def _alike(scenario: Scenario, *, encrypted: bool = False, **attributes: object) -> list[bool]:
    """Which parties were carried out in native code, where it is there."""
    (left, natively), (expected, never) = [
        await _played(scenario, compiled, encrypted, **attributes) for compiled in (native, None)
    ]
    assert left == expected
    assert not any(never)
    return natively


async def test_messages_come_are_handed_out_and_go() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "h"), ("c", "g"), ('d\n"é', 'i"\\'))
        assert await shop.receive(5) == ["a", "b", 'd\n"é', None, None]
        shop.world.advance(1)
        assert await shop.delete(shop.handles[1], shop.handles[0]) == [{}, {}]
        assert await shop.receive(2) == ["c", None]
        assert await shop.delete(shop.handles[0], *shop.handles[2:]) == [{}, {}, {}]
        assert shop.world.store._catalogue.live(shop.line.id).groups == 0  # type: ignore[attr-defined]

    assert await _alike(scenario) == [True] * 5


async def test_a_batch_is_one_of_many() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send([("a", "g"), ("b", "g")], [("c", "h")])
        assert await shop.receive(2) == ["a", "c"]
        assert await shop.delete([shop.handles[0], shop.handles[1]]) == [{"Successful": [{"Id": "0"}, {"Id": "1"}]}]
        assert await shop.receive(1) == ["b"]

    assert await _alike(scenario) == [True] * 4


@pytest.mark.parametrize("scope", ["queue", "messageGroup"])
async def test_a_duplicate_is_told_of_the_first(scope: str) -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g", "1"), ("b", "g", "2"))
        await shop.send(("c", "g", "3"), ("other", "g", "1"), ("d", "g", "4"))
        await shop.send(("e", "h", "1"))
        await shop.send(("same", "i"), ("same", "i"))
        shop.world.advance(301)
        await shop.send(("again", "g", "1"))

    of_a_group = scope == "messageGroup"
    assert await _alike(scenario, DeduplicationScope=scope) == [True, False, of_a_group, False, True]


async def test_a_message_that_comes_back_keeps_its_place_and_its_old_claim_is_refused() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "g"))
        assert await shop.receive(1, seconds=10) == ["a"]
        shop.world.advance(10)
        assert await shop.delete(shop.handles[0]) == [None]
        assert await shop.receive(2, seconds=10) == ["a", None]
        assert await shop.delete(shop.handles[0], shop.handles[1]) == [None, {}]
        assert await shop.receive(1) == ["b"]

    assert await _alike(scenario) == [True] * 6


async def test_one_that_was_received_too_often_is_buried_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "h"))
        for _ in range(3):
            assert await shop.receive(2, seconds=10) == ["a", "b"]
            shop.world.advance(10)
        assert await shop.receive(2) == [None, None]

    assert await _alike(scenario) == [True] * 4 + [False]


async def test_a_bulky_one_is_stored_and_deleted_natively_and_handed_out_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b" * 5000, "h"))
        assert await shop.receive(1) == ["a"]
        assert await shop.receive(2) == ["b" * 5000, None]
        await shop.delete(*shop.handles)

    assert await _alike(scenario) == [True, True, False, True]


async def test_a_damaged_one_is_set_aside_by_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"), ("b", "h"), ("c", "h"))
        _store(shop.world).database.execute("UPDATE message SET checksum=0 WHERE number=2")
        assert await shop.receive(2) == ["a", "c"]

    assert await _alike(scenario) == [True, False]


async def test_delays_and_receivers_who_want_more_than_one_are_left_to_python() -> None:
    async def scenario(shop: Shop) -> None:
        await shop.send(("a", "g"))
        assert await shop.receive(1) == [None]
        shop.world.advance(5)
        assert await shop.receive(1, most=10) == ["a"]

    assert await _alike(scenario, DelaySeconds=5) == [False, False, False]


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happens(seed: int, encrypted: bool) -> None:
    async def scenario(shop: Shop) -> None:
        chance = random.Random(seed)
        number = 0
        for _ in range(250):
            match chance.randrange(7):
                case 0 | 1:
                    entries = []
                    for _ in range(chance.randrange(1, 5)):
                        number += 1
                        again = chance.random() < 0.05
                        name = str(chance.randrange(number) if again else number)
                        entries.append((f"body {number}", f"group-{chance.randrange(6)}", name))
                    await shop.send(*([entries] if chance.random() < 0.3 else entries))
                case 2 | 3:
                    await shop.receive(chance.randrange(1, 6), chance.choice([0, 2, 5, 60]))
                case 4 | 5 if shop.handles:
                    some = [chance.choice(shop.handles[-12:]) for _ in range(chance.randrange(1, 5))]
                    await shop.delete(*([some] if chance.random() < 0.3 else some))
                case _:
                    shop.world.advance(chance.choice([0.1, 1, 3, 30]))

    natively = await _alike(scenario, encrypted=encrypted, MessageRetentionPeriod=600)
    assert natively.count(True) > 100
