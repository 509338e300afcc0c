"""A queue's messages are found by runs of numbers: in memory, written, half written, undone, and after a restart."""

import asyncio
from pathlib import Path

import apsw
import pytest

from conformance.world import Line, World
from faults.audit import faults_of
from penstock.core.errors import Unavailable
from penstock.stores.sqlite import runs as module
from penstock.stores.sqlite.runs import SPARE_RUNS, Runs

from .conftest import Open, store_of

NAMES = "a", "b", "c", "d.fifo", "e"


@pytest.fixture(params=[(1, 10**9, 1), (4, 10**9, 2), (10**9, 7, 1000), (10**9, 10**9, 1000)])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """When runs are written, and how many at once: at each commit, a few, by the number of messages, and never."""
    most_runs, most_numbers, at_once = request.param
    monkeypatch.setattr(Runs, "most_new_runs", most_runs)
    monkeypatch.setattr(Runs, "most_new_numbers", most_numbers)
    monkeypatch.setattr(module, "WRITTEN_AT_ONCE", at_once)


async def lines_of(world: World) -> list[Line]:
    return [await world.queue(name) for name in NAMES]


def written(world: World) -> list[tuple[int, int, int]]:
    return store_of(world).database.execute("SELECT shelf, first, last FROM run ORDER BY shelf, last").fetchall()


@pytest.mark.usefixtures("limits")
async def test_messages_of_many_queues_are_found_in_their_order(opened: Open, folder: Path) -> None:
    world = await opened(None)
    expected: dict[str, list[str]] = {name: [] for name in NAMES}
    for turn in range(8):
        for place, line in enumerate(await lines_of(world)):
            bodies = [f"{turn}-{number}" for number in range(1 + (turn + place) % 3)]
            await line.send(*bodies, **({"group": f"g{turn}"} if line.queue.fifo else {}))
            expected[NAMES[place]] += bodies
        if turn % 3 == 2:
            world = await opened(None)
        for line in await lines_of(world):
            (got,) = await line.receive(1, 3600)
            assert got.body == expected[line.queue.key.name].pop(0)
            await line.delete(got)
            assert [seen.body for seen in await line.peek()] == expected[line.queue.key.name]
        world.advance(1)
    for line in await lines_of(world):
        assert (await line.counts()).oldest == (await line.peek())[0].sent
        while messages := await line.receive(10, 3600):
            for message in messages:
                assert message.body == expected[line.queue.key.name].pop(0)
                await line.delete(message)
    assert not any(expected.values())
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


@pytest.mark.usefixtures("limits")
async def test_messages_expire_in_their_order_whether_they_are_written_or_not(opened: Open) -> None:
    world = await opened(None)
    line, other = await world.queue("q", MessageRetentionPeriod="60"), await world.queue("other")
    for number in range(10):
        await line.send(str(number))
        await other.send("m")
        world.advance(5)
    world.advance(32)
    assert [seen.body for seen in await line.peek()] == ["5", "6", "7", "8", "9"]
    world.advance(5)
    await world.sweep()
    assert (await line.counts()).visible == 4
    world.advance(60)
    await world.sweep()
    assert (await line.counts()).oldest is None
    assert len(await other.peek(20)) == 10


async def test_what_was_undone_while_it_was_written_is_found_again(
    opened: Open, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    world = await opened(None)
    lines = await lines_of(world)
    for line in lines * 2:
        await line.send("kept")
    store = store_of(world)
    monkeypatch.setattr(Runs, "most_new_runs", 1)

    def fails(latest: int) -> None:
        assert written(world)
        raise apsw.FullError("the disk is full, says the test")

    with monkeypatch.context() as context:
        context.setattr(store._marks, "note_time_if_due", fails)
        with pytest.raises(Unavailable):
            await lines[0].send("refused")
    assert written(world) == []
    for line in lines:
        assert [seen.body for seen in await line.peek()] == ["kept", "kept"]
    await world.sweep()
    await lines[0].send("taken")
    assert written(world)
    assert [seen.body for seen in await lines[0].peek()] == ["kept", "kept", "taken"]
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


async def test_runs_of_messages_that_are_gone_are_dropped_when_they_are_many(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runs, "most_new_runs", 1)
    monkeypatch.setattr(module, "SWEPT_AT_ONCE", 7)
    world = await opened(None)
    line, other = await world.queue("q"), await world.queue("other")
    await line.send("stays")
    await line.receive(1, 43_200)
    for _ in range(SPARE_RUNS * 3):
        await other.send("m")
        await line.send("goes")
        (message,) = await line.receive(1, 3600)
        await line.delete(message)
        await world.sweep()
        assert len(written(world)) < 3 * SPARE_RUNS + SPARE_RUNS * 2
    assert [seen.body for seen in await line.peek()] == ["stays"]
    assert (await other.counts()).visible == SPARE_RUNS * 3
    shelf = store_of(world)._catalogue.live(line.id).shelf
    assert len([run for run in written(world) if run[0] == shelf]) <= SPARE_RUNS + 4


@pytest.mark.usefixtures("limits")
async def test_a_shelf_that_is_nobodys_leaves_no_runs(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.stores.sqlite.upkeep.ROWS_AT_ONCE", 3)
    monkeypatch.setattr(module, "SWEPT_AT_ONCE", 2)
    world = await opened(None)
    lines = await lines_of(world)
    for line in lines * 4:
        await line.send("m", "n")
    await world.store.purge_queue(lines[0].id, world.now)
    await lines[1].remove()
    await lines[0].send("after")
    world = await opened(None)
    await world.sweep()
    store, database = store_of(world), store_of(world).database
    shelves = {entry.shelf for entry in store._catalogue.by_id.values()}
    assert {shelf for shelf, _, _ in written(world)} <= shelves
    assert {shelf for (shelf,) in database.execute("SELECT shelf FROM message")} <= shelves
    assert [seen.body for seen in await (await world.queue("a")).peek()] == ["after"]


async def test_a_clock_that_was_put_back_disturbs_no_order(opened: Open, folder: Path) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a")
    later = world.now
    world.advance(-3600)
    await line.send("b")
    assert [seen.body for seen in await line.peek()] == ["a", "b"]
    assert (await line.counts()).oldest == later
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


async def test_numbers_that_are_given_once_more_after_a_rollback_are_found(
    opened: Open, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    world = await opened(None)
    one, other = await world.queue("one"), await world.queue("other")
    await one.send("first")
    store = store_of(world)
    store._marks.number = store._marks.numbers_end  # the next has others set aside, which is undone
    with monkeypatch.context() as context:
        context.setattr(store._marks, "note_time_if_due", lambda latest: raised(apsw.FullError("says the test")))
        with pytest.raises(Unavailable):
            await asyncio.gather(other.send(*"abc"), one.send(*"def"))
    await world.sweep()
    monkeypatch.setattr(Runs, "most_new_runs", 1)
    for _ in range(3):
        await one.send("kept")
        await other.send("m")
    assert [seen.body for seen in await one.peek()] == ["first", "kept", "kept", "kept"]
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


def raised(error: Exception) -> None:
    raise error


async def test_a_dead_letter_says_when_it_came_and_how_old_it_is(opened: Open) -> None:
    world = await opened(None)
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await queue.send("m")
    sent = world.now
    world.advance(10)
    await dead.send("before")
    world.advance(10)
    await queue.receive(1, visibility=0)
    await queue.receive()
    runs, shelf = store_of(world)._runs, store_of(world)._catalogue.live(dead.id).shelf
    assert (runs.oldest(shelf), runs.newest(shelf)) == (sent, world.now)
    buried = world.now
    world.advance(10)
    for message in await dead.receive(10):
        if message.body == "m":
            await dead.delete(message)
    assert (runs.oldest(shelf), runs.newest(shelf)) == (buried - 10_000, buried - 10_000)


async def test_a_message_whose_age_is_damaged_hides_no_other_and_goes_with_its_shelf(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send(*"abc")
    database = store_of(world).database
    database.execute("UPDATE message SET enqueued='x' WHERE number=(SELECT min(number) FROM message)")
    world = await opened(None)
    line = await world.queue("q")
    assert (await line.counts()).oldest == world.now
    assert [seen.body for seen in await line.peek()] == ["b", "c"]
    await world.store.purge_queue(line.id, world.now)
    await world.sweep()
    assert store_of(world).database.execute("SELECT count(*) FROM message").get == 0
