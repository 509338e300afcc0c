"""The counters of random lives are what a plain count of their events makes, window by window."""

import asyncio
import contextlib
import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.core.errors import QueueGone

from .naive import of_events, of_server
from .notebook import excuse
from .stores import STORES, new_folder
from .test_journal_adds_up import QUEUES, Life, places

MINUTE_MS = 60_000
STEPS = st.one_of(
    st.tuples(st.just("send"), places, st.integers(1, 4), st.sampled_from([None, "x"])),
    st.tuples(st.just("receive"), places, st.integers(1, 5), st.sampled_from([0, 0, 30])),
    st.tuples(st.just("receive"), places, st.integers(1, 5), st.sampled_from([0, 0, 30])),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("hide"), st.integers(0, 9), st.sampled_from([0, 60])),
    st.tuples(st.just("wait"), st.sampled_from([0.001, 1, 30, 60, 3600])),
    st.tuples(st.just("move"), places),
    st.tuples(st.just("purge"), places),
    st.tuples(st.just("remove"), places),
    st.tuples(st.just("gauge"), places),
    st.tuples(st.just("sweep")),
)


@pytest.mark.parametrize("name", sorted(STORES))
@settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=5, max_size=60))
def test_the_counters_equal_a_plain_count_of_the_events(name: str, steps: list[tuple[Any, ...]]) -> None:
    folder = new_folder()

    async def live() -> None:
        life = Life(STORES[name], folder)
        life.store = life.make(folder)
        excuse(life.store)
        await life.begin()
        life.store.traffic.kept_minutes = 10_000
        try:
            for place in range(len(QUEUES)):
                await life.send(place, 2, None)
            for step, *arguments in steps:
                with contextlib.suppress(QueueGone):
                    await getattr(life, step)(*arguments)
            for minutes in (1, 5):
                period = minutes * MINUTE_MS
                assert of_server(life.store, period, life.clock.now()) == of_events(life.book.events, period)
        finally:
            await life.store.close()

    try:
        asyncio.run(live())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
