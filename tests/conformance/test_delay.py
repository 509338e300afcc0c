"""Delays: of a message, of a queue, and what changing them does."""

from .world import World


async def test_a_delayed_message_is_hidden_until_its_delay_is_over(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a", delay_seconds=900)
    assert await queue.states() == (0, 0, 1)
    world.advance(899.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.states() == (1, 0, 0)
    assert await queue.bodies() == ["a"]


async def test_a_message_takes_the_delay_of_its_queue(world: World) -> None:
    queue = await world.queue("orders", DelaySeconds=10)
    await queue.send("a")
    world.advance(9.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_messages_own_delay_wins_over_the_queues_even_when_zero(world: World) -> None:
    queue = await world.queue("orders", DelaySeconds=60)
    await queue.send("now", delay_seconds=0)
    await queue.send("soon", delay_seconds=5)
    assert await queue.bodies() == ["now"]
    world.advance(5)
    assert await queue.bodies() == ["soon"]


async def test_a_fifo_message_always_takes_the_delay_of_its_queue(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=10)
    await queue.send("a", delay_seconds=0)
    world.advance(9.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_delay_ends_with_and_without_a_sweep(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a", "b", delay_seconds=5)
    world.advance(5)
    assert await queue.bodies(1) == ["a"]
    await world.sweep()
    assert await queue.bodies(1) == ["b"]


async def test_messages_of_one_call_may_have_delays_of_their_own(world: World) -> None:
    from .world import new

    queue = await world.queue("orders")
    await queue.send_all(new("a", delay_seconds=2), new("b"), new("c", delay_seconds=1))
    assert await queue.states() == (1, 0, 2)
    world.advance(2)
    assert await queue.bodies() == ["b", "c", "a"]


async def test_a_delayed_message_that_was_received_once_is_never_delayed_again(world: World) -> None:
    queue = await world.queue("orders", DelaySeconds=10)
    await queue.send("a")
    world.advance(10)
    await queue.receive(visibility=1)
    assert await queue.states() == (0, 1, 0)
    world.advance(1)
    assert await queue.states() == (1, 0, 0)


async def test_a_new_delay_of_a_standard_queue_leaves_waiting_messages_alone(world: World) -> None:
    queue = await world.queue("orders", DelaySeconds=60)
    await queue.send("old")
    await queue.alter(DelaySeconds=0)
    await queue.send("new")
    assert await queue.states() == (1, 0, 1)
    assert await queue.bodies(visibility=600) == ["new"]
    world.advance(59.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["old"]


async def test_a_shorter_delay_of_a_fifo_queue_applies_to_waiting_messages(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=60)
    await queue.send("a")
    world.advance(4)
    await queue.alter(DelaySeconds=5)
    world.advance(0.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_delay_shorter_than_what_a_fifo_message_has_waited_makes_it_ready_at_once(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=60)
    await queue.send("a", "b")
    world.advance(30)
    await queue.alter(DelaySeconds=10)
    assert await queue.states() == (2, 0, 0)
    assert await queue.bodies() == ["a", "b"]


async def test_a_longer_delay_of_a_fifo_queue_applies_to_waiting_messages(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=5)
    await queue.send("a")
    await queue.alter(DelaySeconds=60)
    world.advance(59.999)
    assert await queue.states() == (0, 0, 1)
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_new_delay_of_a_fifo_queue_leaves_messages_that_waited_already_alone(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=5)
    await queue.send("in flight", group="one")
    await queue.send("ready", group="two")
    world.advance(5)
    await queue.receive(1, visibility=20)
    await queue.alter(DelaySeconds=900)
    assert await queue.states() == (1, 1, 0)
    assert await queue.bodies() == ["ready"]
    world.advance(20)
    assert await queue.bodies() == ["in flight"]


async def test_altering_something_else_does_not_move_a_fifo_delay(world: World) -> None:
    queue = await world.queue("orders.fifo", DelaySeconds=10)
    await queue.send("a")
    world.advance(9)
    await queue.alter(VisibilityTimeout=5)
    world.advance(0.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]
