"""What is left after a purge, and after a queue was deleted: nothing."""

import pytest

from penstock.core.errors import QueueGone
from penstock.core.store import Outcome, Receive

from .world import Line, World, key, new


async def queue_in_every_state(world: World, name: str) -> Line:
    """Two messages visible, one in flight, one delayed."""
    queue = await world.queue(name)
    for group in ("one", "two", "three"):
        await queue.send(group, group=group)
    await queue.receive(1, visibility=600)
    if queue.queue.fifo:
        await queue.alter(DelaySeconds=60)
    await queue.send("later", group="four", delay_seconds=60)
    assert await queue.states() == (2, 1, 1)
    return queue


async def test_a_purge_forgets_messages_in_every_state(world: World, any_type: str) -> None:
    queue = await queue_in_every_state(world, any_type)
    await queue.purge()
    assert await queue.counts() == (0, 0, 0, 0, None)
    assert await queue.peek() == []
    world.advance(600)
    await world.sweep()
    assert await queue.receive() == []
    assert await queue.counts() == (0, 0, 0, 0, None)


async def test_claims_from_before_a_purge_find_nothing(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one()
    await queue.purge()
    assert await queue.delete(message) is Outcome.GONE
    assert await queue.hide(message, 0) is Outcome.GONE


async def test_a_purge_forgets_receive_attempts(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a")
    await queue.receive(attempt_id="try")
    await queue.purge()
    await queue.send("b")
    assert await queue.bodies(attempt_id="try") == ["b"]


async def test_a_purge_frees_groups(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b")
    await queue.receive(1, visibility=600)
    await queue.purge()
    await queue.send("c")
    assert await queue.bodies() == ["c"]


async def test_what_is_sent_after_a_purge_stays(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    await queue.purge()
    await queue.send("b", size=7)
    await world.sweep()
    assert await queue.counts() == (1, 0, 0, 7, world.now)
    assert await queue.bodies() == ["b"]


async def test_a_purge_leaves_other_queues_alone(world: World, any_type: str) -> None:
    queue, other = await world.queue(any_type), await world.queue(f"other-{any_type}")
    await queue.send("a")
    await other.send("b")
    await queue.purge()
    await world.sweep()
    assert await other.bodies() == ["b"]


async def test_a_queue_knows_when_it_was_last_purged(world: World) -> None:
    queue = await world.queue("orders")
    assert await world.store.purged_at(queue.id) is None
    for _ in range(2):
        world.advance(100)
        await queue.purge()
        assert await world.store.purged_at(queue.id) == world.now


async def test_a_purge_keeps_the_queue_and_its_settings(world: World) -> None:
    queue = await world.queue("orders", DelaySeconds=5)
    await queue.purge()
    assert await world.store.find_queue(key("orders")) == queue.queue


async def test_a_purge_survives_a_restart(world: World, any_type: str, reopen) -> None:
    queue = await queue_in_every_state(world, any_type)
    await queue.purge()
    await queue.send("new", group="five")
    await reopen()
    world.advance(600)
    assert await world.store.purged_at(queue.id) == world.now - 600_000
    assert await queue.bodies() == ["new"]


# Deleting a queue


async def test_a_deleted_queue_is_gone_at_once(world: World, any_type: str) -> None:
    queue = await queue_in_every_state(world, any_type)
    await queue.remove()
    assert await world.store.find_queue(queue.queue.key) is None
    assert list(await world.store.all_queues()) == []
    assert list(await world.store.list_queues(*queue.queue.key[:2])) == []


@pytest.mark.parametrize("gone", ["deleted", "never there"])
async def test_every_call_on_a_queue_that_is_not_there_says_so(world: World, gone: str) -> None:
    queue = await queue_in_every_state(world, "orders")
    await queue.remove()
    store, now = world.store, world.now
    queue_id = queue.id if gone == "deleted" else 987_654_321
    for call in (
        store.send(queue_id, [new("a")], now),
        store.receive(queue_id, Receive(1, 30), now),
        store.delete(queue_id, [b"claim"], now),
        store.change_visibility(queue_id, [(b"claim", 1)], now),
        store.peek(queue_id, 1, b"", now),
        store.counts(queue_id, now),
        store.oldest(queue_id, now),
        store.purge_queue(queue_id, now),
        store.purged_at(queue_id),
        store.alter_queue(queue_id, {}, {}, now),
        store.delete_queue(queue_id, now),
    ):
        with pytest.raises(QueueGone):
            await call


async def test_a_queue_made_again_is_another_queue_and_shows_nothing_of_the_first(world: World, any_type: str) -> None:
    queue = await queue_in_every_state(world, any_type)
    await queue.remove()
    again = await world.queue(any_type)
    assert again.id != queue.id
    for _ in range(2):
        assert await again.counts() == (0, 0, 0, 0, None)
        assert await again.receive() == []
        world.advance(600)
        await world.sweep()
    with pytest.raises(QueueGone):
        await queue.counts()


async def test_claims_of_a_deleted_queue_mean_nothing_to_its_successor(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    old = await queue.receive_one()
    await queue.remove()
    again = await world.queue(any_type)
    await again.send("b")
    await again.receive_one()
    assert await again.delete(old) is Outcome.GONE
    assert await again.states() == (0, 1, 0)


async def test_a_deletion_is_remembered_for_two_minutes(world: World) -> None:
    queue = await world.queue("orders")
    assert await world.store.deleted_at(key("orders")) is None
    await queue.remove()
    deleted = world.now
    world.advance(119.999)
    await world.sweep()
    assert await world.store.deleted_at(key("orders")) == deleted
    world.advance(0.002)
    await world.sweep()
    assert await world.store.deleted_at(key("orders")) is None


async def test_the_latest_deletion_is_the_one_remembered(world: World) -> None:
    for _ in range(2):
        world.advance(10)
        queue = await world.queue("orders")
        await queue.remove()
        assert await world.store.deleted_at(key("orders")) == world.now
    assert await world.store.deleted_at(key("orders", account="000000000002")) is None


async def test_a_deletion_survives_a_restart(world: World, reopen) -> None:
    queue, other = await world.queue("orders"), await world.queue("other")
    await queue.send("a")
    await other.send("b")
    await queue.remove()
    await reopen()
    assert await world.store.deleted_at(key("orders")) == world.now
    assert await world.store.find_queue(key("orders")) is None
    with pytest.raises(QueueGone):
        await queue.counts()
    again = await world.queue("orders")
    assert again.id not in (queue.id, other.id)
    assert await again.counts() == (0, 0, 0, 0, None)
    assert await other.bodies() == ["b"]
