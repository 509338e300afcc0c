"""The listener: whoever waits for messages hears, in time, from when on there may be some.

A store may speak more often than these tests ask for; it may never be silent.
"""

from .world import Line, World


def heard(queue: Line, after_seconds: float = 0) -> bool:
    """Whether it was said, since this was last asked, that messages can be received that many seconds from now."""
    said = (queue.id, queue.world.now + round(after_seconds * 1000)) in queue.world.heard
    queue.world.heard.clear()
    return said


async def test_a_sent_message_is_announced(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    assert heard(queue)


async def test_a_delayed_message_is_announced_for_when_it_is_due(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, DelaySeconds=15)
    await queue.send("a")
    assert heard(queue, 15)


async def test_every_delay_of_a_batch_is_announced(world: World) -> None:
    from .world import new

    queue = await world.queue("orders")
    await queue.send_all(new("a", delay_seconds=5), new("b", delay_seconds=0), new("c", delay_seconds=9))
    times = {at - world.now for queue_id, at in world.heard if queue_id == queue.id}
    assert times >= {0, 5000, 9000}


async def test_of_a_batch_as_many_are_announced_as_were_sent(world: World, any_type: str) -> None:
    queue, announced = await world.queue(any_type), 0

    def listen(queue_id: int, at: int, messages: int) -> None:
        nonlocal announced
        announced += messages

    world.store.subscribe(listen)
    await queue.send("a", "b", "c")
    assert announced >= 3


async def test_a_received_message_is_announced_for_when_its_window_ends(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    world.heard.clear()
    await queue.receive(visibility=30)
    assert heard(queue, 30)


async def test_a_message_received_for_zero_seconds_is_announced_for_now(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    world.advance(1)
    world.heard.clear()
    await queue.receive(visibility=0)
    assert heard(queue)


async def test_a_message_given_back_is_announced_for_now(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one()
    world.advance(1)
    world.heard.clear()
    await queue.hide(message, 0)
    assert heard(queue)


async def test_a_changed_window_is_announced_for_its_new_end(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one()
    world.advance(1)
    world.heard.clear()
    await queue.hide(message, 5)
    assert heard(queue, 5)


async def test_a_delete_that_frees_a_group_is_announced(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b")
    message = await queue.receive_one()
    world.advance(1)
    world.heard.clear()
    await queue.delete(message)
    assert heard(queue)


async def test_the_expiry_of_a_hidden_message_that_frees_its_group_is_announced_by_the_next_sweep(world: World) -> None:
    queue = await world.queue("orders.fifo", MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(30)
    await queue.send("b")
    await queue.receive(1, visibility=600)
    expires = world.now + 30_000
    world.advance(31)
    await world.sweep()
    assert any(queue_id == queue.id and expires <= at <= world.now for queue_id, at in world.heard)


async def test_a_new_delay_of_a_fifo_queue_is_announced(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=900)
    await queue.send("a")
    world.heard.clear()
    await queue.alter(DelaySeconds=5)
    assert heard(queue, 5)


async def test_a_dead_letter_is_announced_to_its_new_queue(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    await queue.receive(visibility=0)
    world.advance(1)
    world.heard.clear()
    await queue.receive()
    assert heard(dead)


async def test_a_moved_message_is_announced_to_its_new_queue(world: World, any_type: str) -> None:
    queue, target = await world.queue(any_type), await world.queue(f"target-{any_type}", DelaySeconds=7)
    await queue.send("a")
    task = await queue.start_move(target)
    world.heard.clear()
    await world.store.move(task, 10, world.now)
    assert heard(target, 7)


async def test_everyone_who_subscribed_is_told(world: World) -> None:
    queue = await world.queue("orders")
    second: list[tuple[int, int]] = []
    world.store.subscribe(lambda queue_id, at, messages: second.append((queue_id, at)))
    await queue.send("a")
    assert heard(queue)
    assert (queue.id, world.now) in second


async def test_other_queues_are_not_disturbed(world: World) -> None:
    queue, other = await world.queue("orders"), await world.queue("other")
    await queue.send("a")
    assert {queue_id for queue_id, _ in world.heard} == {queue.id}
    assert other.id != queue.id


async def test_messages_are_there_when_their_announced_time_comes(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    world.heard.clear()
    await queue.receive(visibility=3)
    [at] = {at for _, at in world.heard if at > world.now}
    world.advance((at - world.now) / 1000)
    assert await queue.bodies() == ["a"]
