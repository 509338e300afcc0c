"""The events of random lives, over restarts, add up to what the store holds."""

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.core.clock import ManualClock
from penstock.core.errors import QueueGone
from penstock.core.journal import TAG
from penstock.core.queue import QueueKey
from penstock.core.store import Receive
from penstock.journal.balance import Balance

from .notebook import Notebook, excuse
from .stores import STORES, new_folder
from .world import Line, World, key, new, redrive_policy

QUEUES = ("orders", "dead", "other", "orders.fifo", "dead.fifo")
places = st.integers(0, len(QUEUES) - 1)
STEPS = st.one_of(
    st.tuples(st.just("send"), places, st.integers(1, 4), st.sampled_from([None, "x"])),
    st.tuples(st.just("receive"), places, st.integers(1, 5), st.sampled_from([0, 0, 30])),
    st.tuples(st.just("receive"), places, st.integers(1, 5), st.sampled_from([0, 0, 30])),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("hide"), st.integers(0, 9), st.sampled_from([0, 60])),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 60, 3600])),
    st.tuples(st.just("move"), places),
    st.tuples(st.just("tag"), places, st.sampled_from(["off", "events", "full"])),
    st.tuples(st.just("purge"), places),
    st.tuples(st.just("remove"), places),
    st.tuples(st.just("gauge"), places),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("restart")),
)


class Life:
    """A few queues with steps by name; a queue that was removed is made again when it is next needed."""

    def __init__(self, make: Any, folder: Path) -> None:
        self.make, self.folder, self.clock = make, folder, ManualClock()
        self.book, self.tags, self.claims = Notebook(), dict.fromkeys(QUEUES, "events"), []
        self.ids: dict[str, int] = {}
        self.balance, self.wrong, self.fed = Balance(), [], 0

    async def begin(self) -> None:
        self.store = self.make(self.folder)
        await self.store.open()
        self.store.attach_journal(self.book)

    async def id(self, place: int) -> int:
        name = QUEUES[place]
        suffix = ".fifo" if name.endswith(".fifo") else ""
        attributes = {"MessageRetentionPeriod": "3600"} | ({"FifoQueue": "true"} if suffix else {})
        if name.startswith("orders"):
            attributes["RedrivePolicy"] = redrive_policy(f"dead{suffix}", 2)
        tags = {TAG: self.tags[name]}
        self.ids[name] = (await self.store.create_queue(key(name), attributes, tags, self.clock.now())).id
        return self.ids[name]

    async def send(self, place: int, number: int, deduplication_id: str | None) -> None:
        fifo = QUEUES[place].endswith(".fifo")
        messages = [new("body", group="g" if fifo else None) for _ in range(number)]
        for message in messages:
            message.deduplication_id = deduplication_id or message.id if fifo else None
        await self.store.send(await self.id(place), messages, self.clock.now())

    async def receive(self, place: int, limit: int, visibility: int) -> None:
        queue_id = await self.id(place)
        taken = await self.store.receive(queue_id, Receive(limit, visibility), self.clock.now())
        self.claims = ([(queue_id, m.claim) for m in taken] + self.claims)[:10]

    async def delete(self, which: int) -> None:
        for queue_id, claim in self.claims[which : which + 1]:
            await self.store.delete(queue_id, [claim], self.clock.now())

    async def hide(self, which: int, seconds: int) -> None:
        for queue_id, claim in self.claims[which : which + 1]:
            await self.store.change_visibility(queue_id, [(claim, seconds)], self.clock.now())

    async def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    async def move(self, place: int) -> None:
        source = await self.store.find_queue(key(QUEUES[place]))
        target = await self.store.find_queue(key("other"))
        if source and target and source.id != target.id and not source.fifo:
            task = await Line(World(self.store, self.clock), source).start_move(
                Line(World(self.store, self.clock), target)
            )
            while task.status.active:
                task = await self.store.move(task, 2, self.clock.now())

    async def tag(self, place: int, level: str) -> None:
        queue_id, self.tags[QUEUES[place]] = await self.id(place), level
        queue = await self.store.find_queue(key(QUEUES[place]))
        assert queue is not None
        await self.store.alter_queue(queue_id, queue.attributes, {TAG: level}, self.clock.now())

    async def purge(self, place: int) -> None:
        await self.store.purge_queue(await self.id(place), self.clock.now())

    async def remove(self, place: int) -> None:
        await self.store.delete_queue(await self.id(place), self.clock.now())

    async def gauge(self, place: int) -> None:
        await self.store.gauge([await self.id(place)], self.clock.now())

    async def sweep(self) -> None:
        while await self.store.sweep(self.clock.now()) <= self.clock.now():
            pass

    async def restart(self) -> None:
        if self.store.capabilities.durable:
            await self.store.close()
            await self.begin()

    async def check(self) -> None:
        """What the events make of each queue is what the store counts."""
        counted: dict[QueueKey, int] = {}
        for queue in await self.store.all_queues():
            counts = await self.store.counts(queue.id, self.clock.now())
            if queue.tags.get(TAG) != "off":
                counted[queue.key] = counts.visible + counts.in_flight + counts.delayed
        for event in self.book.news():
            assert event.seq == self.fed + 1
            self.fed = event.seq
            assert self.balance.add(event) == []
        assert self.balance.held == counted


@pytest.mark.parametrize("name", sorted(STORES))
@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=5, max_size=60))
def test_the_events_add_up_to_what_the_store_holds(name: str, steps: list[tuple[Any, ...]]) -> None:
    folder = new_folder()

    async def live() -> None:
        life = Life(STORES[name], folder)
        life.store = life.make(folder)
        excuse(life.store)
        await life.begin()
        try:
            for step, *arguments in steps:
                with contextlib.suppress(QueueGone):
                    await getattr(life, step)(*arguments)
                await life.check()
        finally:
            await life.store.close()

    try:
        asyncio.run(live())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
