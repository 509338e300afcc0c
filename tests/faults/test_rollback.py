"""A commit that fails is as if nobody had asked: on the disk, and in what the store remembers of it.

The disk is full at the moment of the commit. Everyone in that round is told to try again, and nobody can tell
afterwards that there was one.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from conformance.world import World
from penstock.core.clock import ManualClock
from penstock.core.errors import Unavailable
from tally import count

from .audit import faults_of
from .conftest import Make
from .power import Disk, installed
from .rounds import Chooser, State, tables
from .run import size

ROUNDS = size(gate=150, night=10_000)


@dataclass
class Session:
    world: World
    disk: Disk
    path: Path

    def is_full(self, full: bool) -> None:
        self.disk.before_change = self._refuse if full else lambda: None

    def _refuse(self) -> None:
        raise apsw.FullError("the disk is full, says the test")

    def tables(self) -> State:
        return tables(self.path)


@pytest.fixture
async def session(make: Make, folder: Path) -> AsyncIterator[Session]:
    """What is left at the end must be in order."""
    path = folder / "penstock.db"
    with installed(Disk()) as disk:
        store = make(path)
        await store.open()
        yield Session(World(store, ManualClock()), disk, path)
        disk.before_change = lambda: None
        await store.close()
    assert faults_of(path, folder) == []


async def test_a_refused_round_leaves_no_trace(session: Session, rng: random.Random) -> None:
    world, refused = session.world, 0
    lines = [await world.queue("q.fifo"), *await world.queue_with_dead_letters("q", 2)]
    chooser = Chooser(world, lines, rng)
    for _ in range(ROUNDS):
        before = session.tables()
        session.is_full(rng.random() < 0.3)
        answers = await asyncio.gather(*(call() for call in chooser.calls(before)), return_exceptions=True)
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        assert all(isinstance(failure, Unavailable) for failure in failures), failures
        if failures:
            refused += 1
            count(cycles=1)
            assert session.tables() == before
        session.is_full(False)
        remembered = {line.id: await line.states() for line in lines}
        assert remembered == {row[0]: row[10:13] for row in session.tables()["queue"]}
        world.advance(rng.choice((0, 0, 1, 40)))
    assert refused > ROUNDS // 10


async def test_queues_made_and_deleted_in_a_refused_round_are_as_before(session: Session) -> None:
    world = session.world
    kept, purged = await world.queue("kept"), await world.queue("purged")
    await purged.send("m")
    session.is_full(True)
    answers = await asyncio.gather(world.queue("new"), kept.remove(), purged.purge(), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Unavailable] * 3
    session.is_full(False)
    assert [queue.key.name for queue in await world.store.all_queues()] == ["kept", "purged"]
    assert await world.store.count_queues(kept.arn.split(":")[4]) == 2
    assert await purged.bodies() == ["m"]
    assert await world.store.purged_at(purged.id) is None
    await (await world.queue("new")).send("m")


async def test_messages_expire_after_a_refused_round_as_before(session: Session) -> None:
    world = session.world
    line = await world.queue("q", MessageRetentionPeriod=60)
    await line.send("m")
    await world.sweep()
    session.is_full(True)
    with pytest.raises(Unavailable):
        await world.queue("new")
    session.is_full(False)
    await line.send("m")
    world.advance(61)
    await world.sweep()
    assert session.tables()["message"] == []


async def test_sequence_numbers_grow_over_refused_rounds(session: Session) -> None:
    line = await session.world.queue("q.fifo")
    given: list[int] = []
    for number in range(20):
        session.is_full(number % 3 == 0)
        try:
            given += [sent.sequence or 0 for sent in await line.send("a", "b")]
        except Unavailable:
            assert number % 3 == 0
    assert given == sorted(set(given))
    assert len(given) == 26


async def test_what_was_refused_is_not_counted(session: Session) -> None:
    world = session.world
    line = await world.queue("q")
    await line.send("a")
    session.is_full(True)
    answers = await asyncio.gather(line.send("b"), line.receive(), return_exceptions=True)
    assert {type(answer) for answer in answers} == {Unavailable}
    session.is_full(False)
    await line.receive()
    (minute,) = world.store.traffic.minutes(line.queue.key, 0, world.now)
    assert (minute.sent, minute.received) == (1, 1)
