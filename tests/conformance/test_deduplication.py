"""Deduplication of sends to FIFO queues."""

import pytest

from penstock.core.message import Sent
from penstock.core.store import Outcome

from .world import World, new

QUEUE = "orders.fifo"


async def test_a_second_send_with_the_same_id_is_told_about_the_first_and_stores_nothing(world: World) -> None:
    queue = await world.queue(QUEUE)
    [first] = await queue.send("a", deduplication_id="d")
    [second] = await queue.send("b", deduplication_id="d")
    assert not first.duplicate
    assert second == Sent(first.id, first.sequence, duplicate=True)
    assert await queue.bodies() == ["a"]
    assert await queue.states() == (0, 1, 0)


async def test_duplicates_within_one_call_are_found(world: World) -> None:
    queue = await world.queue(QUEUE)
    sent = await queue.send("a", "b", "c", deduplication_id="d")
    assert [s.duplicate for s in sent] == [False, True, True]
    assert len({s.id for s in sent}) == len({s.sequence for s in sent}) == 1
    assert await queue.bodies() == ["a"]


async def test_the_window_is_five_minutes_from_the_first_send(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    world.advance(299.999)
    assert (await queue.send("b", deduplication_id="d"))[0].duplicate
    world.advance(0.001)
    assert not (await queue.send("c", deduplication_id="d"))[0].duplicate
    assert await queue.bodies() == ["a", "c"]


async def test_duplicates_do_not_extend_the_window(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    for _ in range(2):
        world.advance(149)
        assert (await queue.send("b", deduplication_id="d"))[0].duplicate
    world.advance(2)
    assert not (await queue.send("c", deduplication_id="d"))[0].duplicate


async def test_a_send_accepted_after_the_window_begins_another(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    world.advance(300)
    [second] = await queue.send("b", deduplication_id="d")
    world.advance(299.999)
    assert (await queue.send("c", deduplication_id="d"))[0] == Sent(second.id, second.sequence, duplicate=True)


async def test_an_id_outlives_its_message(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    assert await queue.delete(await queue.receive_one()) is Outcome.DONE
    assert (await queue.send("b", deduplication_id="d"))[0].duplicate
    assert await queue.states() == (0, 0, 0)


async def test_an_id_outlives_a_message_that_expired(world: World) -> None:
    queue = await world.queue(QUEUE, MessageRetentionPeriod=60)
    await queue.send("a", deduplication_id="d")
    world.advance(61)
    await world.sweep()
    assert (await queue.send("b", deduplication_id="d"))[0].duplicate


async def test_sweeping_does_not_shorten_the_window(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    world.advance(299.999)
    await world.sweep()
    assert (await queue.send("b", deduplication_id="d"))[0].duplicate
    world.advance(0.001)
    await world.sweep()
    assert not (await queue.send("b", deduplication_id="d"))[0].duplicate


async def test_ids_count_across_groups(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", group="one", deduplication_id="d")
    assert (await queue.send("b", group="two", deduplication_id="d"))[0].duplicate


async def test_ids_count_within_a_group_if_the_queue_says_so(world: World) -> None:
    queue = await world.queue(QUEUE, DeduplicationScope="messageGroup")
    await queue.send("a", group="one", deduplication_id="d")
    assert not (await queue.send("b", group="two", deduplication_id="d"))[0].duplicate
    assert (await queue.send("c", group="one", deduplication_id="d"))[0].duplicate
    assert sorted(await queue.bodies()) == ["a", "b"]


@pytest.mark.parametrize(("first", "second"), [(("a", "bc"), ("ab", "c")), (("", "x"), ("x", ""))])
async def test_group_and_id_are_never_mixed_up(world: World, first: tuple[str, str], second: tuple[str, str]) -> None:
    queue = await world.queue(QUEUE, DeduplicationScope="messageGroup")
    for group, deduplication_id in (first, second):
        await queue.send("m", group=f"{group}|", deduplication_id=f"|{deduplication_id}")
    assert (await queue.counts()).visible == 2


async def test_ids_of_other_queues_do_not_count(world: World) -> None:
    queue, other = await world.queue(QUEUE), await world.queue("other.fifo")
    await queue.send("a", deduplication_id="d")
    assert not (await other.send("a", deduplication_id="d"))[0].duplicate


async def test_a_purge_forgets_ids(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    await queue.purge()
    assert not (await queue.send("b", deduplication_id="d"))[0].duplicate
    assert await queue.bodies() == ["b"]


async def test_a_queue_made_again_knows_no_ids(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", deduplication_id="d")
    await queue.remove()
    again = await world.queue(QUEUE)
    assert not (await again.send("b", deduplication_id="d"))[0].duplicate


async def test_standard_queues_do_not_deduplicate(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send_all(new("a", deduplication_id="d"), new("a", deduplication_id="d"))
    assert (await queue.counts()).visible == 2


async def test_ids_survive_a_restart(world: World, reopen) -> None:
    queue = await world.queue(QUEUE)
    [first] = await queue.send("a", deduplication_id="d")
    await queue.delete(await queue.receive_one())
    await reopen()
    world.advance(299.999)
    assert (await queue.send("b", deduplication_id="d"))[0] == Sent(first.id, first.sequence, duplicate=True)
