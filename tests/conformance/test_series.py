"""Windows of metrics that are put into a store: what is kept of them, in which order, and for how long."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from penstock.core.metrics import NAMES, Statistics
from penstock.core.queue import QueueKey
from penstock.core.series import DAY_MS, Metrics, Window

from .world import ACCOUNT, REGION, World, key

ORDERS, OTHERS = key("orders"), key("others")
END = 2**62
SENT = {"NumberOfMessagesSent": Statistics(3, 3, 1, 1)}
EVERY = {name: Statistics(number + 1, 2**40 + number, 0, 2**40) for number, name in enumerate(NAMES)}


def minute(start: int, metrics: Metrics = SENT, queue: QueueKey = ORDERS) -> Window:
    return Window(queue, 60, start, metrics)


def five(start: int, metrics: Metrics = SENT, queue: QueueKey = ORDERS) -> Window:
    return Window(queue, 300, start, metrics)


async def starts(world: World, period: int = 60, queue: QueueKey = ORDERS, **bounds: Any) -> list[int]:
    return list(await world.store.windows(queue, period, bounds.pop("start", 0), bounds.pop("end", END), **bounds))


async def test_a_window_comes_back_as_it_was_put(world: World) -> None:
    await world.store.put_windows([minute(60_000, EVERY), minute(120_000)])
    assert await world.store.windows(ORDERS, 60, 0, END) == {60_000: EVERY, 120_000: SENT}


async def test_the_same_window_put_again_is_one_and_the_later_counts(world: World) -> None:
    await world.store.put_windows([minute(0, EVERY)])
    await world.store.put_windows([minute(0, EVERY), minute(0)])
    await world.store.put_windows([minute(0)])
    assert await world.store.windows(ORDERS, 60, 0, END) == {0: SENT}


async def test_windows_of_another_length_queue_account_or_region_are_others(world: World) -> None:
    elsewhere = [OTHERS, ORDERS._replace(account="000000000002"), ORDERS._replace(region="us-east-1")]
    await world.store.put_windows([five(0, EVERY), *(minute(0, EVERY, queue) for queue in elsewhere)])
    assert await world.store.windows(ORDERS, 60, 0, END) == {}
    await world.store.put_windows([minute(0)])
    assert await world.store.windows(ORDERS, 60, 0, END) == {0: SENT}
    assert await world.store.windows(ORDERS, 300, 0, END) == {0: EVERY}


async def test_a_range_has_its_first_moment_and_not_its_last(world: World) -> None:
    await world.store.put_windows([minute(at) for at in (240_000, 60_000, 180_000, 120_000)])
    assert await starts(world, start=120_000, end=240_000) == [120_000, 180_000]
    assert await starts(world, start=60_001, limit=2) == [120_000, 180_000]
    assert await starts(world, start=300_000) == []


async def test_a_queue_that_is_deleted_keeps_its_windows(world: World) -> None:
    queue = await world.queue("orders")
    await world.store.put_windows([minute(world.now)])
    await queue.remove()
    await world.sweep()
    assert await starts(world) == [world.now]


@pytest.mark.parametrize(
    ("window", "days"),
    [(minute, 15), (five, 63)],
    ids=["one minute", "five minutes"],
)
async def test_windows_are_forgotten_in_time(world: World, window: Callable[[int], Window], days: int) -> None:
    begun, period = world.now, window(0).period_seconds
    await world.store.put_windows([window(begun - 1), window(begun), window(begun + 1)])
    world.advance(days * 86_400)
    await world.sweep()
    assert await starts(world, period) == [begun, begun + 1]


async def test_a_shorter_time_holds_for_both_lengths_and_none_is_for_ever(world: World) -> None:
    old = world.now - 1000 * DAY_MS
    await world.store.put_windows([minute(old), five(old), minute(world.now), five(world.now)])
    world.store.windows_keep_days = 0
    await world.sweep()
    assert await starts(world) == await starts(world, 300) == [old, world.now]
    world.store.windows_keep_days = 1
    world.advance(61)
    await world.sweep()
    assert await starts(world) == await starts(world, 300) == [world.now - 61_000]


async def test_many_are_forgotten_in_small_steps(world: World) -> None:
    await world.store.put_windows([minute(at * 60_000, queue=key(f"q{at % 3}")) for at in range(1501)])
    await world.sweep()
    for name in ("q0", "q1", "q2"):
        assert await starts(world, queue=key(name)) == []
    assert await world.store.queues_with_windows(REGION, ACCOUNT, 0) == []


async def test_queues_are_told_by_name_that_have_a_window_since(world: World) -> None:
    for name, at in (("c", 60_000), ("a", 120_000), ("b", 0)):
        await world.store.put_windows([minute(at, queue=key(name))])
    await world.store.put_windows([five(0, queue=key("d")), five(600_000, queue=key("b"))])
    await world.store.put_windows([minute(0, queue=key("z", account="000000000002"))])
    told = world.store.queues_with_windows
    assert await told(REGION, ACCOUNT, 0) == ["a", "b", "c", "d"]
    assert await told(REGION, ACCOUNT, 60_000) == ["a", "b", "c"]
    assert await told(REGION, ACCOUNT, 60_001) == ["a", "b"]
    assert await told(REGION, ACCOUNT, 0, after="a", limit=2) == ["b", "c"]
    assert await told("us-east-1", ACCOUNT, 0) == []


async def test_windows_are_there_after_a_restart(world: World, reopen: Callable[[], Awaitable[None]]) -> None:
    await world.store.put_windows([minute(world.now, EVERY), five(0)])
    await reopen()
    assert await world.store.windows(ORDERS, 60, 0, END) == {world.now: EVERY}
    assert await world.store.windows(ORDERS, 300, 0, END) == {0: SENT}


async def test_nothing_is_left_of_an_account_that_is_forgotten(
    world: World, reopen: Callable[[], Awaitable[None]]
) -> None:
    far, neighbour = ORDERS._replace(region="us-east-1"), ORDERS._replace(account="000000000002")
    await world.store.put_windows([minute(world.now, queue=queue) for queue in (ORDERS, OTHERS, far, neighbour)])
    await world.store.forget_account(ACCOUNT)
    for again in (world.sweep, reopen):
        assert [await starts(world, queue=queue) for queue in (ORDERS, OTHERS, far)] == [[], [], []]
        assert await world.store.queues_with_windows(REGION, ACCOUNT, 0) == []
        assert await starts(world, queue=neighbour) == [world.now]
        await again()
    assert await world.store.queues_with_windows(REGION, "", 0) == []


async def test_an_account_of_a_forgotten_id_has_windows_of_its_own(world: World) -> None:
    await world.store.put_windows([minute(world.now), minute(world.now + 60_000)])
    await world.store.forget_account(ACCOUNT)
    await world.store.put_windows([minute(world.now, EVERY)])
    world.advance(61)
    await world.sweep()
    assert await world.store.windows(ORDERS, 60, 0, END) == {world.now - 61_000: EVERY}


async def test_a_purge_keeps_the_windows(world: World) -> None:
    queue = await world.queue("orders")
    await world.store.put_windows([minute(world.now)])
    await queue.purge()
    await world.sweep()
    assert await starts(world) == [world.now]
