"""Waiting for a commit: tasks go on after it, coroutines run by hand within it. Each has an error of its own."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from penstock.core.errors import Unavailable
from penstock.stores.sqlite.written import Written


async def waiting(written: Written, told: list[str], name: str) -> None:
    try:
        await written
    except Unavailable as error:
        told.append(f"{name}: {error}")
        raise
    told.append(name)


def run_by_hand(coroutine: Coroutine[Any, Any, None]) -> None:
    """As a connection does it."""

    def step(waited_for: object = None) -> None:
        with suppress(StopIteration, Unavailable):
            coroutine.send(None).add_done_callback(step)

    step()


async def test_by_hand_one_goes_on_within_the_commit_and_a_task_after_it() -> None:
    written, told = Written(asyncio.get_running_loop()), list[str]()
    task = asyncio.create_task(waiting(written, told, "task"))
    await asyncio.sleep(0)
    run_by_hand(waiting(written, told, "by hand"))
    assert not told
    written.tell()
    assert told == ["by hand"]
    await task
    assert told == ["by hand", "task"]


async def test_what_is_written_already_is_not_waited_for() -> None:
    written, told = Written(asyncio.get_running_loop()), list[str]()
    written.tell()
    run_by_hand(waiting(written, told, "late"))
    assert told == ["late"]


async def test_a_failure_is_an_error_for_each_who_waits() -> None:
    written, told = Written(asyncio.get_running_loop()), list[str]()
    tasks = [asyncio.create_task(waiting(written, told, name)) for name in "ab"]
    await asyncio.sleep(0)
    run_by_hand(waiting(written, told, "c"))
    written.tell("no room")
    first, second = await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(told) == ["a: no room", "b: no room", "c: no room"]
    assert first is not second


async def test_a_task_that_is_cancelled_stops_after_the_commit_and_others_know_nothing_of_it() -> None:
    written, told = Written(asyncio.get_running_loop()), list[str]()
    leaving, staying = (asyncio.create_task(waiting(written, told, name)) for name in ("leaving", "staying"))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    assert not leaving.done()
    written.tell()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await staying
    assert told == ["staying"]
