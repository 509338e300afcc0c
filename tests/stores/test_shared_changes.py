"""Callers who ask for the same in one turn of the loop share one change, and its statements."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from conformance.world import World, new
from faults.power import Disk, installed
from penstock.core.clock import ManualClock
from penstock.core.errors import Unavailable
from penstock.core.message import Message
from penstock.core.store import Outcome, Receive
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.party import MOST_ITEMS

from .conftest import Open, keyring, store_of

BY_KIND = "INSERT INTO message", "UPDATE message", "DELETE FROM message"


class Statements(Counter[str]):
    """Those that change messages, while it is entered."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._connection = store_of(world).database._connection

    def __enter__(self) -> "Statements":
        self._connection.exec_trace = self._note
        return self

    def __exit__(self, *args: object) -> None:
        self._connection.exec_trace = None

    def _note(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        self.update(kind for kind in BY_KIND if sql.startswith(kind) and "grp" not in sql.partition("WHERE")[2])
        return True


@pytest.mark.parametrize(("callers", "changes"), [(2, 1), (MOST_ITEMS, 1), (MOST_ITEMS + 1, 2)])
async def test_so_many_messages_are_sent_received_and_deleted_by_one_statement(
    opened: Open, callers: int, changes: int
) -> None:
    world = await opened(None)
    line = await world.queue("orders")
    with Statements(world) as statements:
        await asyncio.gather(*(line.send("m") for _ in range(callers)))
        given = await asyncio.gather(*(line.receive(1) for _ in range(callers)))
        await asyncio.gather(*(line.delete(message) for (message,) in given))
    assert statements == dict.fromkeys(BY_KIND, changes)


async def test_those_of_other_queues_and_callers_do_not_share(opened: Open) -> None:
    world = await opened(None)
    a, b = [await world.queue(name) for name in "ab"]
    with Statements(world) as statements:
        await asyncio.gather(
            *(world.store.send(a.id, [new("m")], world.now, by="anna") for _ in range(2)),
            world.store.send(b.id, [new("m")], world.now, by="anna"),
            world.store.send(a.id, [new("m")], world.now, by="bob"),
        )
    assert statements["INSERT INTO message"] == 3


async def test_what_is_shared_happens_at_the_time_of_the_latest(opened: Open) -> None:
    world = await opened(None)
    line, now = await world.queue("orders"), world.now
    await asyncio.gather(*(world.store.send(line.id, [new("m")], now + late) for late in (1, 2, 0)))
    world.advance(0.002)
    assert [message.sent for message in await line.receive()] == [now + 2] * 3


async def test_those_who_come_in_later_turns_of_the_loop_share_as_well(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("orders")

    async def late(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        await line.send("m")

    with Statements(world) as statements:
        await asyncio.gather(*(late(turns) for turns in (0, 0, 1, 2, 3)))
    assert statements["INSERT INTO message"] == 1


async def test_those_who_want_other_windows_do_not_share(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("orders")
    await line.send("a", "b")
    await asyncio.gather(line.receive(1, 5), line.receive(1, 6))
    world.advance(5)
    assert await line.bodies() == ["a"]


async def test_batches_share_as_long_as_they_fit(opened: Open) -> None:
    world = await opened(None)
    line, size = await world.queue("orders"), MOST_ITEMS // 2
    with Statements(world) as statements:
        told = await asyncio.gather(*(line.send(*map(str, range(size))) for _ in range(3)))
        await line.send(*map(str, range(MOST_ITEMS)))
    assert statements["INSERT INTO message"] == 3
    assert len({sent.id for batch in told for sent in batch}) == 3 * size
    assert [message.body for message in await line.peek()] == [*map(str, range(size))] * 3 + [
        *map(str, range(MOST_ITEMS))
    ]


@pytest.fixture
def disk() -> Iterator[Disk]:
    with installed(Disk()) as disk:
        yield disk


async def test_a_disk_that_is_full_loses_nobody_and_stores_nothing_twice(folder: Path, disk: Disk) -> None:
    def full() -> None:
        raise apsw.FullError("the disk is full, says the test")

    world = World(SqliteStore(folder / "penstock.db"), ManualClock())
    await world.store.open()
    world.store.attach_keys(keyring())
    line, other = await world.queue("orders"), await world.queue("others")
    await line.send("kept")
    held = await line.receive_one()
    disk.before_change = full
    told = await asyncio.gather(
        *(each.send("never stored") for each in (line, other) for _ in range(12)),
        *(line.receive(1) for _ in range(3)),
        line.delete(b"garbage"),
        return_exceptions=True,
    )
    assert [type(answer) for answer in told[:24]] == [Unavailable] * 24
    disk.before_change = lambda: None
    world.advance(5)
    await world.sweep()
    world.advance(5)
    await world.sweep()
    await asyncio.gather(*(line.send("stored") for _ in range(12)), line.delete(held))
    assert sorted(message.body for message in await line.peek()) == ["stored"] * 12
    assert await other.states() == (0, 0, 0)
    await world.store.close()


async def test_who_shared_the_batch_with_a_change_that_was_undone_is_served_once(opened: Open) -> None:
    """By hand, as connections run their requests: they try again while the rollback is under way."""
    world = await opened(None)
    line = await world.queue("orders")
    await line.send("a", "b", "c")
    held, told = await line.receive_one(), list[object]()
    database = store_of(world).database
    database.execute("PRAGMA max_page_count=1")  # it cannot grow
    store, now, huge = world.store, world.now, "x" * 1_000_000
    for call in (
        store.send(line.id, [new(huge)], now),
        store.delete(line.id, [held.claim], now),
        store.receive(line.id, Receive(1, 30), now),
        store.receive(line.id, Receive(1, 30), now),
    ):
        run_by_hand(call, told)
    for _ in range(10):  # turns of the loop
        await asyncio.sleep(0)
    refused, *served = told
    assert isinstance(refused, Unavailable)
    assert served[0] == [Outcome.DONE]
    assert [message.body for given in served[1:] for message in cast(list[Message], given)] == ["b", "c"]
    assert await line.states() == (0, 2, 0)


async def test_who_tries_again_after_a_full_party_was_undone_is_not_forgotten(opened: Open) -> None:
    world = await opened(None)
    line, told = await world.queue("orders.fifo"), list[object]()
    (first,) = await line.send("m", deduplication_id="x")
    store_of(world).database.execute("PRAGMA max_page_count=1")  # it cannot grow

    def send(body: str, deduplication_id: str = "x") -> None:
        message = new(body, group="g", deduplication_id=deduplication_id)
        run_by_hand(world.store.send(line.id, [message], world.now), told)

    for _ in range(MOST_ITEMS):  # duplicates, which change nothing
        send("m")
    for _ in range(MOST_ITEMS - 1):
        send("m")
    send("x" * 1_000_000, "y")
    send("m")  # there is no room for it in a party that cannot be stored
    for _ in range(10):  # turns of the loop
        await asyncio.sleep(0)
    refused = [answer for answer in told if isinstance(answer, Unavailable)]
    duplicates = [sent for answer in told if isinstance(answer, list) for sent in answer]
    assert len(refused) == MOST_ITEMS
    assert [(sent.id, sent.duplicate) for sent in duplicates] == [(first.id, True)] * (MOST_ITEMS + 1)


def run_by_hand(call: Coroutine[Any, Any, object], told: list[object]) -> None:
    def step(waited_for: object = None) -> None:
        try:
            call.send(None).add_done_callback(step)
        except StopIteration as done:
            told.append(done.value)
        except Unavailable as error:
            told.append(error)

    step()


async def test_an_error_that_nobody_foresaw_is_logged_and_undone(
    opened: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    world = await opened(None)
    line = await world.queue("orders")
    broken = [line.send_all(nothing) for nothing in (None, None)]  # type: ignore[arg-type]
    told = await asyncio.gather(line.send("m"), *broken, return_exceptions=True)
    assert [type(answer) for answer in told] == [Unavailable] * 3
    assert "AttributeError" in capsys.readouterr().out
    assert await line.states() == (0, 0, 0)
    assert [sent.duplicate for sent in await line.send("m")] == [False]


async def test_a_caller_who_leaves_takes_nothing_from_the_others(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("orders")
    await line.send("a", "b")
    first, second = (asyncio.create_task(line.receive(1)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    (message,) = await second
    assert message.body == "b"


async def test_looking_into_an_empty_queue_is_no_commit(opened: Open) -> None:
    world, commits = await opened(None), list[int]()
    world.store.observe_commits(lambda changes, seconds: commits.append(changes))
    line = await world.queue("orders")
    commits.clear()
    assert await asyncio.gather(*(line.receive(1) for _ in range(3))) == [[], [], []]
    assert commits == []
