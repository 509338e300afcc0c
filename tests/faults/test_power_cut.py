"""The power goes at any write, any sync: what was acknowledged is there, and a batch is there as a whole or not at all.

Rounds of calls run at once share a commit. The tables are looked at after every round, so whatever is found after
a cut must be the tables of a round: of the one that was running, if any of its calls had returned by then, else of that
one or the one before. A disk that lies, and a SQLite that does not sync, must be found out: else the test is blind.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from conformance.world import Line, World
from penstock.core.clock import ManualClock
from penstock.core.message import Message
from penstock.core.store import Outcome
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.claims import Claim

from .audit import faults_of
from .power import Disk, installed
from .run import size

RUNS, CUTS, ROUNDS = size(gate=6, night=400), 30, 40
TABLES = "queue", "message", "payload", "message_group", "deduplication", "attempt", "litter", "tombstone", "move_task"
PAGES_BETWEEN_CHECKPOINTS = 25

State = dict[str, list[tuple[Any, ...]]]
Call = Callable[[], Awaitable[object]]
"""Truthy when it has told its caller of something that was done in this round."""


@dataclass
class Cut:
    folder: Path
    round: int
    acknowledged: bool


@dataclass
class Session:
    """Rounds of calls on a store whose disk is cut now and then."""

    store: SqliteStore
    disk: Disk
    rng: random.Random
    folder: Path
    states: list[State] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    acknowledged: bool = False

    async def run(self, pragmas: tuple[str, ...]) -> None:
        world = World(self.store, ManualClock())
        await self.store.open()
        for pragma in (f"wal_autocheckpoint={PAGES_BETWEEN_CHECKPOINTS}", *pragmas):
            self.store.database.execute(f"PRAGMA {pragma}")
        fifo, (plain, dead) = await world.queue("q.fifo"), await world.queue_with_dead_letters("q", 2)
        self.states.append(tables(self.store.path))
        chooser = Chooser(world, [fifo, plain, dead], self.rng)
        self.disk.before_change = self._maybe_cut
        for _ in range(ROUNDS):
            self.acknowledged = False
            await asyncio.gather(*(self._answered(call) for call in chooser.calls(self.states[-1])))
            self.states.append(tables(self.store.path))
            world.advance(self.rng.choice((0, 0, 1, 40)))
        self.disk.before_change = lambda: None
        await self.store.close()

    async def _answered(self, call: Call) -> None:
        if await call():
            self.acknowledged = True

    def _maybe_cut(self) -> None:
        if len(self.cuts) < CUTS and self.rng.random() < 0.15:
            folder = self.folder / f"cut-{len(self.cuts)}"
            self.disk.cut(self.rng, folder)
            self.cuts.append(Cut(folder, len(self.states), self.acknowledged))

    async def findings(self) -> list[str]:
        return [complaint for cut in self.cuts for complaint in await self._inspect(cut)]

    async def _inspect(self, cut: Cut) -> list[str]:
        """A store is opened on what is left, as the next start would do; its tables are those of a round."""
        path, name = cut.folder / self.store.path.name, f"round {cut.round}"
        try:
            if faults := faults_of(path, cut.folder):
                return [f"{name}: {fault}" for fault in faults]
        except apsw.Error as error:
            return [f"{name}: {error}"]
        store = SqliteStore(path)
        await store.open()
        await store.close()
        found, allowed = tables(path), self.states[cut.round - (not cut.acknowledged) : cut.round + 1]
        if found not in allowed:
            wrong = [table for table in TABLES if found[table] not in [state[table] for state in allowed]]
            older = next((n for n, state in enumerate(self.states) if state == found), None)
            return [f"{name}: {wrong} are of no state it may be in, but of round {older}"]
        return []


class Chooser:
    """What callers do at once: calls that change something, and some that find it done already by another."""

    def __init__(self, world: World, lines: list[Line], rng: random.Random) -> None:
        self._world, self._lines, self._rng = world, lines, rng
        self._held: list[tuple[Line, Message]] = []
        self._present: set[tuple[int, ...]] = set()
        self._sent = 0

    def calls(self, state: State) -> list[Call]:
        self._present = {row[:3] for row in state["message"] if (row[0],) not in state["litter"]}
        chosen = []
        for _ in range(self._rng.randint(1, 6)):
            call = self._rng.choice((self._send, self._send, self._receive, self._receive, self._settle, self._other))()
            chosen += [call] * self._rng.choice((1, 1, 1, 2))
        return chosen

    def _send(self) -> Call:
        line, self._sent = self._rng.choice(self._lines[:2]), self._sent + 1
        bodies = ["x" * self._rng.choice((10, 3000)) for _ in range(self._rng.choice((1, 3)))]
        if line.queue.fifo:
            fields = {"group": self._rng.choice("abc"), "deduplication_id": f"d{self._sent}"}
            return lambda: line.send(bodies[0], **fields)
        delay = self._rng.choice((None, None, 5))
        return lambda: line.send(*bodies, delay_seconds=delay)

    def _receive(self) -> Call:
        line = self._rng.choice(self._lines)

        async def receive() -> bool:
            messages = await line.receive(5, 20)
            self._held += [(line, message) for message in messages]
            return bool(messages)

        return receive

    def _settle(self) -> Call:
        if not self._held:
            return self._send()
        line, message = self._held.pop(self._rng.randrange(len(self._held)))
        shorten, lay_there = self._rng.random() < 0.3, Claim.unpack(message.claim)[:3] in self._present

        async def settle() -> bool:
            outcome = await (line.hide(message, 10) if shorten else line.delete(message))
            return outcome is Outcome.DONE or (outcome is Outcome.GONE and lay_there)

        return settle

    def _other(self) -> Call:
        line, hidden = self._rng.choice(self._lines), self._rng.randrange(100)
        purges = self._rng.random() < 0.1

        async def other() -> bool:
            await (line.purge() if purges else line.alter(VisibilityTimeout=hidden))
            return True

        async def sweep() -> bool:
            await self._world.store.sweep(self._world.now)
            return False

        return self._rng.choice((other, sweep))


def tables(path: Path) -> State:
    """Everything that is kept, in committed form."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs="unix")) as connection:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


async def findings_of(
    rng: random.Random, folder: Path, *pragmas: str, lies: bool = False, runs: int = RUNS
) -> list[str]:
    found: list[str] = []
    for number in range(runs):
        place = folder / str(number)
        place.mkdir()
        with installed(Disk(lies)) as disk:
            session = Session(SqliteStore(place / "penstock.db"), disk, rng, place)
            await session.run(pragmas)
        assert len(session.cuts) == CUTS, "the run was too short for its cuts"
        found += await session.findings()
    return found


async def test_what_was_acknowledged_outlives_a_power_cut(rng: random.Random, folder: Path) -> None:
    assert await findings_of(rng, folder) == []


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
async def test_a_store_that_does_not_sync_is_found_out(rng: random.Random, folder: Path, synchronous: str) -> None:
    assert await findings_of(rng, folder, f"synchronous={synchronous}", runs=2) != []


async def test_a_disk_that_lies_is_found_out(rng: random.Random, folder: Path) -> None:
    assert await findings_of(rng, folder, lies=True, runs=1) != []
