"""Retention: when a message is too old, whatever it is doing."""

from penstock.core.store import Outcome

from .world import World


async def test_a_message_is_gone_when_its_retention_period_is_over(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(59.999)
    assert await queue.bodies(visibility=0) == ["a"]
    world.advance(0.001)
    assert await queue.receive() == []
    assert await queue.counts() == (0, 0, 0, 0, None)


async def test_expired_messages_do_not_count_even_before_a_sweep(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(60)
    assert await queue.counts() == (0, 0, 0, 0, None)
    assert await queue.peek() == []
    await world.sweep()
    assert await queue.counts() == (0, 0, 0, 0, None)


async def test_without_a_setting_messages_are_kept_for_four_days(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    world.advance(345_599.999)
    assert await queue.states() == (1, 0, 0)
    world.advance(0.001)
    assert await queue.receive() == []


async def test_a_message_in_flight_expires_too(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(50)
    message = await queue.receive_one(visibility=600)
    world.advance(9.999)
    assert await queue.states() == (0, 1, 0)
    world.advance(0.001)
    assert await queue.states() == (0, 0, 0)
    assert await queue.delete(message) is Outcome.GONE
    assert await queue.hide(message, 0) is Outcome.GONE
    assert await queue.receive() == []


async def test_a_delayed_message_expires_too(world: World) -> None:
    queue = await world.queue("orders", MessageRetentionPeriod=60)
    await queue.send("a", delay_seconds=900)
    world.advance(60)
    assert await queue.states() == (0, 0, 0)
    world.advance(900)
    assert await queue.receive() == []


async def test_retention_counts_from_the_send_not_from_a_delivery(world: World) -> None:
    queue = await world.queue("orders", MessageRetentionPeriod=60)
    await queue.send("a")
    for _ in range(5):
        world.advance(11)
        assert await queue.bodies(visibility=1) == ["a"]
    world.advance(5)
    assert await queue.receive() == []


async def test_a_shorter_period_applies_to_messages_already_there(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("old")
    world.advance(100)
    await queue.send("young")
    await queue.alter(MessageRetentionPeriod=60)
    assert await queue.states() == (1, 0, 0)
    assert await queue.bodies() == ["young"]


async def test_a_longer_period_applies_to_messages_already_there(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(59.999)
    await queue.alter(MessageRetentionPeriod=120)
    world.advance(60)
    assert await queue.bodies(visibility=0) == ["a"]
    world.advance(0.001)
    assert await queue.receive() == []


async def test_a_longer_period_does_not_bring_back_what_has_expired(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(60)
    await queue.alter(MessageRetentionPeriod=120)
    assert await queue.states() == (0, 0, 0)
    assert await queue.receive() == []


async def test_the_expiry_of_a_hidden_message_frees_its_group(world: World) -> None:
    queue = await world.queue("orders.fifo", MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(30)
    await queue.send("b")
    await queue.receive(1, visibility=600)
    world.advance(29.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["b"]


async def test_sweeping_clears_expired_messages_away_and_nothing_else(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a", "b", size=10)
    world.advance(30)
    await queue.send("c", size=5)
    world.advance(30)
    await world.sweep()
    assert await queue.counts() == (1, 0, 0, 5, world.now - 30_000)


async def test_messages_that_expire_one_after_the_other_are_counted_out_one_by_one(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    for body in "abc":
        await queue.send(body)
        world.advance(1)
    world.advance(57)
    for left in (2, 1, 0):
        assert (await queue.counts()).visible == left
        world.advance(1)


async def test_messages_expire_over_a_restart(world: World, any_type: str, reopen) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    await queue.send("a")
    await queue.receive(visibility=600)
    world.advance(30)
    await queue.send("b", group="other")
    world.advance(30)
    await reopen()
    assert await queue.states() == (1, 0, 0)
    assert await queue.bodies() == ["b"]


async def test_of_thousands_that_expire_at_once_none_is_handed_out(world: World, any_type: str) -> None:
    queue = await world.queue(any_type, MessageRetentionPeriod=60)
    for _ in range(250):
        await queue.send(*["old"] * 10)
    world.advance(59)
    await queue.send("fresh")
    world.advance(1)
    assert await queue.bodies() == ["fresh"]
    assert await queue.states() == (0, 1, 0)
