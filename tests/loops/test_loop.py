"""Background services run when they are due, and not before."""

import asyncio
from itertools import pairwise

from penstock.core.clock import AnchoredClock
from penstock.loops.loop import Loop


class Counted:
    name = "counted"

    def __init__(self, answer) -> None:
        self.runs: list[int] = []
        self.answer = answer

    async def run_once(self, now: int) -> int | None:
        self.runs.append(now)
        return self.answer(now)


async def run(service: Counted, seconds: float, expect: float | None = None) -> list[int]:
    clock = AnchoredClock()
    loop = Loop(service, clock)
    loop.start()
    if expect is not None:
        await asyncio.sleep(0.02)
        loop.expect(clock.now() + round(expect * 1000))
    await asyncio.sleep(seconds)
    await loop.stop()
    return service.runs


async def test_a_service_runs_at_the_times_it_asks_for() -> None:
    runs = await run(Counted(lambda now: now + 30), 0.2)
    assert len(runs) >= 3
    assert all(later - earlier >= 29 for earlier, later in pairwise(runs))


async def test_a_service_with_nothing_to_do_sleeps_until_it_is_woken() -> None:
    assert len(await run(Counted(lambda now: None), 0.1)) == 1
    assert len(await run(Counted(lambda now: None), 0.1, expect=0.03)) == 2


async def test_what_is_expected_sooner_comes_sooner() -> None:
    runs = await run(Counted(lambda now: now + 60_000), 0.15, expect=0.05)
    assert len(runs) == 2
    assert 49 <= runs[1] - runs[0] <= 140


async def test_a_service_that_fails_is_tried_again() -> None:
    def fail(now: int) -> int:
        raise ValueError("broken")

    service = Counted(fail)
    await run(service, 1.2)
    assert len(service.runs) == 2


async def test_a_service_that_is_woken_and_stopped_at_the_same_moment_stops() -> None:
    clock = AnchoredClock()
    loop = Loop(Counted(lambda now: now + 60_000), clock)
    loop.start()
    await asyncio.sleep(0.01)
    loop.expect(clock.now() + 30_000)
    async with asyncio.timeout(5):
        await loop.stop()
