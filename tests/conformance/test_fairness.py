"""Fair queues: groups that keep many workers busy wait behind those that do not."""

from penstock.core.message import Message
from penstock.core.store import Outcome

from .world import Line, World

LONG = 3600


async def take(queue: Line, messages: int, visibility: int = LONG) -> list[Message]:
    taken: list[Message] = []
    while len(taken) < messages:
        some = await queue.receive(min(10, messages - len(taken)), visibility)
        assert some, "there was not enough to take"
        taken += some
    return taken


async def send(queue: Line, messages: int, group: str) -> None:
    for start in range(0, messages, 10):
        await queue.send(*[f"{group}{n}" for n in range(start, min(messages, start + 10))], group=group)


async def groups(queue: Line, limit: int = 10, visibility: int = LONG) -> list[str | None]:
    return [message.group for message in await queue.receive(limit, visibility)]


async def test_messages_of_a_quiet_group_come_before_those_of_a_noisy_one(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 40, "noisy")
    await take(queue, 30)
    world.advance(1)
    await send(queue, 2, "quiet")
    assert await groups(queue, 4) == ["quiet", "quiet", "noisy", "noisy"]


async def test_a_group_with_fewer_than_thirty_in_flight_is_not_noisy(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 40, "busy")
    await take(queue, 29)
    world.advance(1)
    await send(queue, 2, "other")
    assert await groups(queue, 1) == ["busy"]


async def test_a_group_with_a_tenth_of_what_is_in_flight_is_not_noisy_and_with_more_it_is(world: World) -> None:
    queue = await world.queue("orders")
    for number in range(27):
        await send(queue, 10, f"tenant{number}")
    await take(queue, 270)
    await send(queue, 40, "busy")
    await take(queue, 30)
    world.advance(1)
    await send(queue, 2, "other")
    assert await groups(queue, 1) == ["busy"], "30 of 300 in flight is no more than a tenth"
    assert await groups(queue, 1) == ["other"], "31 of 301 is more"


async def test_a_message_without_a_group_is_never_noisy(world: World) -> None:
    queue = await world.queue("orders")
    for _ in range(5):
        await queue.send(*"abcdefgh")
    await take(queue, 35)
    world.advance(1)
    await send(queue, 2, "other")
    assert await groups(queue, 7) == [None] * 5 + ["other"] * 2


async def test_among_noisy_groups_the_one_with_the_fewest_in_flight_goes_first(world: World) -> None:
    queue = await world.queue("orders")
    for group, taken in (("more", 40), ("fewer", 32)):
        await send(queue, taken, group)
        await take(queue, taken)
    await send(queue, 5, "more")
    world.advance(1)
    await send(queue, 5, "fewer")
    assert await groups(queue, 3) == ["fewer"] * 3


async def test_noisy_groups_are_served_when_nobody_else_waits(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 50, "noisy")
    await take(queue, 50)
    assert await queue.states() == (0, 50, 0)


async def test_a_noisy_group_stays_noisy_until_its_backlog_is_consumed(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 36, "noisy")
    taken = await take(queue, 32)
    await queue.delete_all(*taken)
    world.advance(130)  # so that nobody remembers the work either
    await send(queue, 1, "quiet")
    assert await groups(queue, 4) == ["quiet", "noisy", "noisy", "noisy"]
    assert await groups(queue) == ["noisy"]
    await send(queue, 1, "noisy")
    world.advance(1)
    await send(queue, 1, "quiet")
    assert await groups(queue, 2) == ["noisy", "quiet"], "the backlog was consumed, so the group is quiet"


async def test_a_noisy_group_is_quiet_again_when_nothing_was_sent_to_it_for_five_minutes(world: World) -> None:
    queue = await world.queue("orders", MessageRetentionPeriod=3600)
    await send(queue, 50, "noisy")
    taken = await take(queue, 32)
    await queue.receive(1, 1)
    await queue.delete_all(*taken)
    world.advance(150)
    await send(queue, 1, "quiet")
    assert await groups(queue, 2) == ["quiet", "noisy"]
    world.advance(150)
    await send(queue, 1, "quiet")
    assert await groups(queue, 2) == ["noisy", "noisy"]


async def test_a_group_that_took_most_of_the_recent_processing_time_is_noisy(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 5, "slow")
    await send(queue, 1, "slow")
    [slow] = await queue.receive(1)
    for _ in range(3):
        await send(queue, 10, "fast")
    fast = [message for message in await take(queue, 35) if message.group == "fast"]
    await queue.delete_all(*fast)
    world.advance(20)
    assert await queue.delete(slow) is Outcome.DONE
    await send(queue, 1, "slow")
    world.advance(1)
    await send(queue, 1, "other")
    assert await groups(queue) == ["other", "slow"]


async def test_a_group_that_took_little_of_the_recent_processing_time_is_not_noisy(world: World) -> None:
    queue = await world.queue("orders")
    for number in range(30):
        await send(queue, 1, f"tenant{number}")
    taken = await take(queue, 30)
    world.advance(2)
    await queue.delete_all(*taken)
    await send(queue, 1, "tenant0")
    world.advance(1)
    await send(queue, 1, "other")
    assert await groups(queue) == ["tenant0", "other"]


async def test_a_purge_forgets_noise(world: World) -> None:
    queue = await world.queue("orders")
    await send(queue, 40, "noisy")
    await take(queue, 32)
    await queue.purge()
    await send(queue, 1, "noisy")
    world.advance(1)
    await send(queue, 1, "other")
    assert await groups(queue, 2) == ["noisy", "other"]


async def test_noise_is_a_matter_of_one_queue(world: World) -> None:
    queue, other = await world.queue("orders"), await world.queue("other")
    await send(queue, 40, "tenant")
    await take(queue, 32)
    await send(other, 1, "tenant")
    world.advance(1)
    await send(other, 1, "another")
    assert await groups(other) == ["tenant", "another"]


async def test_fifo_queues_know_no_noise(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await send(queue, 40, "busy")
    taken = await queue.receive(35, LONG)
    world.advance(10)
    await queue.delete_all(*taken)
    world.advance(1)
    await send(queue, 1, "other")
    assert await groups(queue) == ["busy"] * 5 + ["other"]
