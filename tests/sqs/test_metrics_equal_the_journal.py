"""Random traffic over the wire: the server's own counters are what a plain count of the journal's files makes."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.naive import of_events, of_server
from penstock.core.clock import ManualClock
from penstock.core.journal import Event
from penstock.core.store import Store
from penstock.journal.keeping import JournalOfServer, Keeping
from penstock.loops.gauges import Gauges

from .clients import Client
from .harness import Queue, World, make, make_with_dead_letters

STEPS = 400
event_of = msgspec.json.Decoder(Event).decode


class Traffic:
    """Steps chosen at random. Nobody sends to the first of the queues."""

    def __init__(self, world: World, queues: list[Queue], rng: random.Random) -> None:
        self.world, self.queues, self.rng = world, queues[1:], rng
        self.idle = queues[0]
        self.held: list[tuple[Queue, dict[str, Any]]] = []
        self.gauges, self.sampled, self.failed = Gauges(world.store), 0, 0

    async def step(self) -> None:
        steps = [self.send, self.send, self.batch, self.receive, self.receive, self.delete, self.delete_batch,
                 self.poll, self.hang_up, self.redrive, self.purge, self.wait, self.wait]  # fmt: skip
        await self.rng.choice(steps)(self.rng.choice(self.queues))
        if self.sampled <= self.world.clock.now():
            self.sampled = await self.gauges.run_once(self.world.clock.now())

    async def send(self, queue: Queue) -> None:
        same = {"MessageDeduplicationId": "same"} if queue.fifo and self.rng.random() < 0.5 else {}
        await queue.send("m" * self.rng.randint(1, 2000), **same)

    async def batch(self, queue: Queue) -> None:
        """Some entries are refused, each for itself."""
        fifo = {"MessageGroupId": "g"} if queue.fifo else {}
        entries = [
            {"Id": str(number), "MessageBody": self.rng.choice(("good", "\x01bad")), **fifo}
            | ({"MessageDeduplicationId": f"{number % 2}-{self.world.clock.now()}"} if fifo else {})
            for number in range(self.rng.randint(1, 5))
        ]
        self.failed += len((await queue.send_batch(*entries)).get("Failed", []))

    async def receive(self, queue: Queue) -> None:
        attempt = {"ReceiveRequestAttemptId": "attempt"} if queue.fifo and self.rng.random() < 0.5 else {}
        for message in await queue.receive(VisibilityTimeout=self.rng.choice((0, 30)), **attempt):
            self.held.append((queue, message))

    async def delete(self, queue: Queue) -> None:
        """A message in hand, or one that is gone by now."""
        if self.held:
            queue, message = self.rng.choice(self.held)
            await queue.call("DeleteMessage", ReceiptHandle=message["ReceiptHandle"])

    async def delete_batch(self, queue: Queue) -> None:
        mine = [message["ReceiptHandle"] for owner, message in self.held if owner is queue][-4:]
        entries = [{"Id": str(n), "ReceiptHandle": handle} for n, handle in enumerate([*mine, "no handle at all"])]
        self.failed += len((await queue.do("DeleteMessageBatch", Entries=entries))["Failed"])

    async def poll(self, queue: Queue) -> None:
        """A long poll that finds nothing in its time."""
        poll = await self.world.park(self.idle.call("ReceiveMessage", WaitTimeSeconds=20))
        self.world.advance(20)
        for known in await self.world.store.all_queues():
            self.world.room.wake(known.id)
        assert "Messages" not in (await poll).result

    async def hang_up(self, queue: Queue) -> None:
        """Someone leaves while waiting: nothing was answered, and nothing is counted."""
        poll = await self.world.park(self.idle.call("ReceiveMessage", WaitTimeSeconds=20))
        poll.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await poll

    async def redrive(self, queue: Queue) -> None:
        dead = next(queue for queue in self.queues if queue.name == "dead-orders")
        await dead.client.call("StartMessageMoveTask", SourceArn=dead.arn)
        await self.world.move()

    async def purge(self, queue: Queue) -> None:
        if self.rng.random() < 0.1:
            await queue.do("PurgeQueue")

    async def wait(self, queue: Queue) -> None:
        self.world.advance(self.rng.choice((0.5, 10, 61)))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def journal(store: Store, clock: ManualClock, tmp_path: Path) -> AsyncIterator[JournalOfServer]:
    journal = JournalOfServer(store, clock, Keeping(tmp_path))
    await journal.start()
    yield journal
    await journal.stop()


@pytest.fixture
def settings(journal: JournalOfServer, clock: ManualClock) -> dict[str, Any]:
    return {"journal": journal, "clock": clock, "purge_wait_seconds": 0}


@pytest.mark.parametrize("seed", range(3))
async def test_counters_equal_the_journal(world: World, client: Client, journal: JournalOfServer, seed: int) -> None:
    queues = [await make(client, name) for name in ("idle", "orders.fifo")]
    queues += await make_with_dead_letters(client, "orders", 1)
    traffic = Traffic(world, queues, random.Random(seed))
    world.store.traffic.kept_minutes = 100_000
    for _ in range(STEPS):
        await traffic.step()
    await journal.settle(world.clock.now())
    lines = (await journal.read(journal.node, 1, 100_000_000)).lines.splitlines()
    events = [event_of(line) for line in lines]
    happened = {event.event for event in events}
    assert happened > {"SENT", "DEDUPLICATED", "RECEIVED", "DELETED", "EMPTY_RECEIVE", "DEAD_LETTERED", "MOVED"}
    assert traffic.failed
    for minutes in (1, 5):
        counted = of_server(world.store, minutes * 60_000, world.clock.now())
        assert counted == of_events(events, minutes * 60_000)
        assert len({name for metrics in counted.values() for name in metrics}) == 9
