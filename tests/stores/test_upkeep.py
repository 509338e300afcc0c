"""What the sweeper remembers of queues does not grow with those that have gone."""

from penstock.stores.sqlite.upkeep import FORGET_EVERY_MS, QUEUES_AT_ONCE

from .conftest import Open, store_of


async def test_queues_that_come_and_go_leave_nothing_in_memory(opened: Open) -> None:
    world = await opened(None)
    kept = await world.queue("kept", MessageRetentionPeriod="60")
    await kept.send("m")
    upkeep = store_of(world)._upkeep
    for number in range(3 * QUEUES_AT_ONCE):
        passing = await world.queue(f"q{number}")
        await world.sweep()
        await passing.remove()
    assert len(upkeep._checks) > 2 * QUEUES_AT_ONCE, "they are dropped when they are many, not one by one"
    world.advance(FORGET_EVERY_MS / 1000 - 1)
    await world.sweep()
    assert len(upkeep._checks) > 2 * QUEUES_AT_ONCE
    world.advance(1)
    await world.sweep()
    assert len(upkeep._checks) == 1
    assert (await kept.counts()).visible == 0
