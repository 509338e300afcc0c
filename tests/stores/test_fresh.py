"""Messages never handed out stand in line by their age, and counters outlive the process wherever they are."""

from conformance.world import new
from penstock.stores.sqlite.tally import ROWS

from .conftest import Open, store_of


async def test_after_a_restart_the_rest_is_handed_out_in_turn(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a", "b", "c", "d")
    await line.receive(2, 30)
    world = await opened(None)
    line = await world.queue("q")
    assert await line.bodies(1) == ["c"]
    world.advance(31)
    assert await line.bodies() == ["d", "a", "b", "c"]


async def test_a_message_that_came_back_stands_before_those_that_came_later(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a", "b")
    await line.receive(1, 10)
    world.advance(11)
    await line.send("c")
    assert await line.bodies() == ["b", "a", "c"]


async def test_a_message_without_a_group_keeps_its_turn_when_groups_come(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a")
    world.advance(1)
    await line.send("b", group="g")
    world.advance(1)
    await line.send("c")
    assert await line.bodies() == ["a", "b", "c"]


async def test_a_message_sent_by_a_clock_that_was_set_back_is_handed_out(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a", "b")
    await line.receive(1, 30)
    await world.store.send(line.id, [new("earlier")], world.now - 50)
    assert sorted(await line.bodies()) == ["b", "earlier"]


async def test_a_queue_without_fresh_messages_is_not_searched_for_them(opened: Open) -> None:
    world = await opened(None)
    line = await world.queue("q")
    await line.send("a")
    await line.send("b", delay_seconds=10)
    await line.receive(1, 3600)
    world.advance(11)
    assert await line.bodies() == ["b"]
    assert store_of(world)._catalogue.by_id[line.id].fresh is None


async def test_counters_are_known_after_a_restart_however_long_ago_they_changed(opened: Open) -> None:
    world = await opened(None)
    still, busy = await world.queue("still"), await world.queue("busy")
    await still.send("a", "b")
    await still.receive(1, 43_200)
    for _ in range(ROWS + 1):
        await busy.send("m")
    world = await opened(None)
    still, busy = await world.queue("still"), await world.queue("busy")
    assert await still.states() == (1, 1, 0)
    assert await busy.states() == (ROWS + 1, 0, 0)
