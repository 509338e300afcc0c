"""Storms: so much is due at once that nobody may be made to do it all, and everyone does a fixed amount of it.

Costs are counted, not timed. A storm of twice the size costs whoever meets it no more.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from conformance.world import Line, World, new
from penstock.core.clock import ManualClock
from penstock.stores.sqlite import SqliteStore

from .counting import Cost, cheapest

AT_ONCE = 1000
Storm = Callable[[World, int], Awaitable[Callable[[], Awaitable[object]]]]


async def fill(line: Line, number: int) -> None:
    for start in range(0, number, AT_ONCE):
        await line.send_all(*(new("m") for _ in range(start, min(start + AT_ONCE, number))))


async def take_all(line: Line, seconds: int) -> None:
    while await line.receive(AT_ONCE, seconds):
        pass


async def in_flight_and_due(world: World, number: int) -> Callable[[], Awaitable[object]]:
    """A send to one queue, while the windows of another have all ended."""
    line, other = await world.queue("q"), await world.queue("other")
    await fill(line, number)
    await take_all(line, 30)
    world.advance(31)
    return lambda: other.send("new")


async def dead(world: World, number: int) -> Callable[[], Awaitable[object]]:
    """A receive from a queue where everything has been received too often."""
    line, _ = await world.queue_with_dead_letters("q", 1)
    await fill(line, number)
    await take_all(line, 30)
    world.advance(31)
    while (await line.counts()).in_flight:
        pass
    return line.receive


async def purged(world: World, number: int) -> Callable[[], Awaitable[object]]:
    line = await world.queue("q")
    await fill(line, number)
    await line.purge()
    return lambda: world.store.sweep(world.now)


async def expired(world: World, number: int) -> Callable[[], Awaitable[object]]:
    """A sweep of some queues whose messages have all expired."""
    for name in range(5):
        await fill(await world.queue(f"q{name}"), number // 5)
    await world.sweep()
    world.advance(1_000_000)
    return lambda: world.store.sweep(world.now)


async def expired_here(world: World, number: int) -> Callable[[], Awaitable[object]]:
    """A receive from a queue whose messages have all expired."""
    line = await world.queue("q", MessageRetentionPeriod=60)
    await fill(line, number)
    world.advance(61)
    return line.receive


@pytest.mark.parametrize(
    ("storm", "size"),
    [(in_flight_and_due, 1000), (dead, 6000), (purged, 1000), (expired, 5000), (expired_here, 10_000)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
async def test_a_storm_is_spread_over_many_operations(folder: Path, storm: Storm, size: int) -> None:
    costs: list[Cost] = []
    for number in (size, 2 * size):
        store = SqliteStore(folder / f"{number}.db")
        await store.open()
        try:
            operation = await storm(World(store, ManualClock()), number)
            costs.append(await cheapest(store, operation, times=1))
        finally:
            await store.close()
    less, more = costs
    assert not more.exceeds(less, 1.1), f"{more} for {2 * size}, {less} for {size}"
