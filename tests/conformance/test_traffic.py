"""What a store counts of its changes, with a journal or without one."""

import asyncio

from penstock.core.traffic import MINUTE_MS, Gauge, Minute

from .world import ACCOUNT, Line, World


def counted(line: Line) -> Minute:
    """What was counted for a queue in the minute of the clock, and in no other."""
    world = line.world
    minutes = world.store.traffic.minutes(line.queue.key, 0, world.now)
    if not minutes:
        return Minute(world.now // MINUTE_MS)
    (minute,) = minutes
    assert minute.number == world.now // MINUTE_MS
    return minute


async def test_messages_are_counted_when_they_are_sent_received_and_deleted(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("abc", "d")
    messages = await queue.receive()
    await queue.delete_all(*messages[:1])
    found = counted(queue)
    assert (found.sent, found.bytes, found.smallest, found.largest) == (2, 4, 1, 3)
    assert (found.received, found.deleted) == (2, 1)


async def test_a_duplicate_is_not_sent(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "bb", deduplication_id="x")
    await queue.send("ccc", deduplication_id="x")
    assert (counted(queue).sent, counted(queue).largest) == (1, 1)


async def test_every_delivery_is_received_a_repeated_attempt_too(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b")
    for _ in range(3):
        assert len(await queue.receive(attempt_id="again")) == 2
    assert counted(queue).received == 6


async def test_a_delete_counts_that_removed_a_message(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    old = await queue.receive_one(visibility=0)
    message = await queue.receive_one()
    await queue.delete_all(old, b"nothing", message, message)
    await queue.delete(message)
    assert counted(queue).deleted == 1


async def test_what_goes_from_queue_to_queue_is_neither_sent_nor_received(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await queue.send("a")
    await queue.receive(visibility=0)
    assert await queue.receive() == []
    task = await dead.start_move(queue)
    assert (await world.store.move(task, 10, world.now)).moved == 1
    assert (counted(queue).sent, counted(queue).received, counted(queue).deleted) == (1, 1, 0)
    assert counted(dead) == Minute(world.now // MINUTE_MS)


async def test_what_is_purged_or_expires_is_not_deleted(world: World) -> None:
    queue = await world.queue("orders", MessageRetentionPeriod=1)
    await queue.send("a")
    world.advance(2)
    await world.sweep()
    await queue.send("b")
    await queue.purge()
    assert (counted(queue).sent, counted(queue).deleted) == (2, 0)


async def test_a_gauge_is_a_sample_of_the_counts(world: World) -> None:
    queue, empty = await world.queue("orders"), await world.queue("empty")
    await queue.send("a", "b")
    await queue.send("late", delay_seconds=60)
    await queue.receive(1)
    world.advance(5.999)
    await world.store.gauge([queue.id, empty.id, 99_999], world.now)
    assert counted(queue).gauges == (Gauge(1, 1, 1, 5),)
    assert counted(empty).gauges == (Gauge(0, 0, 0, 0),)


async def test_what_the_journal_states_for_itself_is_no_sample(world: World) -> None:
    queue = await world.queue("orders")
    await world.store.gauge([queue.id], world.now, "baseline")
    assert counted(queue).gauges == ()


async def test_a_call_is_counted_in_the_minute_of_its_own_time(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    world.advance(60)
    await queue.receive()
    minutes = world.store.traffic.minutes(queue.queue.key, 0, world.now)
    first, second = sorted(minutes, key=lambda minute: minute.number)
    assert (first.sent, first.received, second.sent, second.received) == (1, 0, 0, 1)
    assert second.number == first.number + 1 == world.now // MINUTE_MS


async def test_what_was_counted_for_an_account_is_forgotten_with_it(world: World) -> None:
    queue, traffic = await world.queue("orders"), world.store.traffic
    await queue.send("a")
    await queue.receive()
    neighbour = queue.queue.key._replace(account="000000000002")
    traffic.empty_receive(neighbour, world.now)
    await world.store.forget_account(ACCOUNT)
    assert [*traffic.queues()] == [*traffic.last_received] == [neighbour]
    assert not traffic.last_sent


async def test_a_queue_of_the_same_name_goes_on_counting(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    await queue.remove()
    again = await world.queue("orders")
    await again.send("b")
    assert counted(again).sent == 2


async def test_a_change_whose_caller_has_gone_is_counted_if_it_was_made(world: World) -> None:
    queue = await world.queue("orders")
    sending = asyncio.ensure_future(queue.send("a"))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait([sending])
    assert len(await queue.peek()) == counted(queue).sent == 1
