"""Counts: exact at every moment, after every kind of transition."""

import pytest

from penstock.core.store import Outcome

from .world import World, new, redrive_policy


async def test_an_empty_queue_counts_nothing(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    assert await queue.counts() == (0, 0, 0, 0, None)


async def test_counts_follow_a_message_through_its_life(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, DelaySeconds=10)
    sent = world.now
    await queue.send("a", size=100)
    assert await queue.counts() == (0, 0, 1, 100, sent)
    world.advance(9.999)
    assert await queue.counts() == (0, 0, 1, 100, sent)
    world.advance(0.001)
    assert await queue.counts() == (1, 0, 0, 100, sent)
    message = await queue.receive_one(visibility=30)
    assert await queue.counts() == (0, 1, 0, 100, sent)
    world.advance(29.999)
    assert await queue.counts() == (0, 1, 0, 100, sent)
    world.advance(0.001)
    assert await queue.counts() == (1, 0, 0, 100, sent)
    message = await queue.receive_one(visibility=0)
    assert await queue.counts() == (1, 0, 0, 100, sent)
    message = await queue.receive_one(visibility=5)
    await queue.hide(message, 60)
    world.advance(5)
    assert await queue.counts() == (0, 1, 0, 100, sent)
    await queue.hide(message, 0)
    assert await queue.counts() == (1, 0, 0, 100, sent)
    message = await queue.receive_one(visibility=5)
    assert await queue.delete(message) is Outcome.DONE
    assert await queue.counts() == (0, 0, 0, 0, None)


@pytest.mark.parametrize("sweep", [False, True])
async def test_counts_are_the_same_with_and_without_sweeps(world: World, any_type: str, sweep: bool) -> None:
    queue = await world.queue(any_type, DelaySeconds=2, MessageRetentionPeriod=60)
    await queue.send(*"abc")
    expected = [(0, 0, 3), (3, 0, 0), (1, 2, 0), (3, 0, 0), (0, 0, 0)]
    seen = []
    for seconds, act in ((0, False), (2, False), (0, True), (10, False), (48, False)):
        world.advance(seconds)
        if act:
            await queue.receive(2, visibility=10)
        if sweep:
            await world.sweep()
        seen.append(await queue.states())
    assert seen == expected


async def test_deleting_a_message_that_is_visible_again_counts_it_out_once(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a", "b")
    message = await queue.receive_one(visibility=1)
    world.advance(1)
    assert await queue.states() == (2, 0, 0)
    assert await queue.delete(message) is Outcome.DONE
    assert await queue.counts() == (1, 0, 0, 1, world.now - 1000)


async def test_outcomes_that_do_nothing_leave_the_counts_alone(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    old = await queue.receive_one(visibility=1)
    world.advance(1)
    assert await queue.hide(old, 10) is Outcome.VISIBLE
    assert await queue.states() == (1, 0, 0)
    await queue.receive_one(visibility=10)
    assert await queue.delete(old) is Outcome.SUPERSEDED
    assert await queue.delete(b"garbage") is Outcome.GONE
    assert await queue.hide(old, 43_201) is Outcome.TOO_LONG
    assert await queue.states() == (0, 1, 0)


async def test_duplicates_are_not_counted(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b", deduplication_id="d")
    await queue.send("c", deduplication_id="d")
    assert await queue.counts() == (1, 0, 0, 1, world.now)


async def test_messages_of_a_fifo_queue_that_wait_behind_others_count_as_visible(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send(*"abcdef")
    await queue.receive(2)
    assert await queue.states() == (4, 2, 0)


async def test_the_oldest_is_the_one_enqueued_first_of_those_that_are_left(world: World) -> None:
    queue = await world.queue("orders")
    times = []
    for body in "abc":
        times.append(world.now)
        await queue.send(body)
        world.advance(1)
    a, b, c = await queue.receive()
    await queue.delete(b)
    assert (await queue.counts()).oldest == times[0]
    await queue.delete(a)
    assert (await queue.counts()).oldest == times[2]
    await queue.delete(c)
    assert (await queue.counts()).oldest is None


async def test_a_delayed_message_is_as_old_as_its_send(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a", delay_seconds=60)
    assert (await queue.counts()).oldest == world.now


async def test_bytes_are_the_sizes_given_by_the_senders(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send_all(new("a", size=1_000_000), new("b", size=24))
    [a] = await queue.receive(1)
    assert (await queue.counts()).bytes == 1_000_024
    await queue.delete(a)
    assert (await queue.counts()).bytes == 24


async def test_dead_letters_are_counted_out_of_one_queue_and_into_the_other(world: World, any_type: str) -> None:
    dead = await world.queue(f"dead-{any_type}")
    queue = await world.queue(any_type, RedrivePolicy=redrive_policy(f"dead-{any_type}", 1))
    await queue.send("a", "b", size=10)
    await queue.receive(visibility=0)
    world.advance(1)
    await queue.receive()
    assert await queue.counts() == (0, 0, 0, 0, None)
    oldest = world.now if queue.queue.fifo else world.now - 1000
    assert await dead.counts() == (2, 0, 0, 20, oldest)


async def test_many_messages_are_counted_exactly(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, DelaySeconds=1)
    for start in range(0, 1000, 10):
        await queue.send(*[str(start)] * 10, group=f"g{start % 7}", size=3)
        world.advance(0.01)
    world.advance(0.5)
    counts = await queue.counts()
    assert counts == (510, 0, 490, 3000, world.now - 1500)
    taken = 0
    while messages := await queue.receive(10, visibility=60):
        taken += len(messages)
        await queue.delete_all(*messages[:3])
    counts = await queue.counts()
    assert counts.visible + counts.in_flight + counts.delayed == counts.bytes / 3
    assert counts.delayed == 490
    assert counts.in_flight + 3 * (taken // 10) + min(3, taken % 10) == taken


async def test_counts_survive_a_restart(world: World, any_type: str, reopen) -> None:
    queue = await world.queue(any_type)
    await queue.send("a", "b", "c", size=10)
    await queue.send("d", group="other", size=10)
    await queue.receive(2, visibility=30)
    before = await queue.counts()
    await reopen()
    assert await queue.counts() == before == (2, 2, 0, 40, world.now)
    world.advance(30)
    await reopen()
    assert await queue.states() == (4, 0, 0)


async def test_delays_and_windows_survive_a_restart(world: World, any_type: str, reopen) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one(visibility=30)
    await queue.alter(DelaySeconds=30)
    await queue.send("b", group="other")
    await reopen()
    world.advance(29.999)
    assert await queue.states() == (0, 1, 1)
    assert await queue.receive() == []
    assert await queue.hide(message, 30) is Outcome.DONE
    world.advance(0.001)
    await reopen()
    assert await queue.bodies() == ["b"]
    assert await queue.delete(message) is Outcome.DONE
