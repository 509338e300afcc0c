"""B3: the power goes at any write, any sync: what was acknowledged is there, and a batch is there whole or not at all.

Rounds of calls run at once share a commit, or two. The tables are looked at after every commit, so whatever is found
after a cut must be the tables of one: of the last that had come to its end, or of the next; and of the next alone if
any call of a round had returned before its first. It is so whether Python writes the rows or native code does. A disk
that lies, and a SQLite that does not sync, must be found out: else the test is blind.
"""

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest

from conformance.encrypted import EncryptedStore
from conformance.world import World
from penstock.core.clock import ManualClock
from penstock.stores.sqlite import SqliteStore
from tally import count

from .audit import faults_of
from .conftest import Make
from .power import Disk, installed
from .rounds import TABLES, Call, Chooser, State, tables
from .run import size

RUNS, CUTS, ROUNDS = size(gate=10, night=350), 30, 40
MOST_ROUNDS = 10 * ROUNDS
"""A life goes on until it has had its cuts, if the disk is written to at all."""
PAGES_BETWEEN_CHECKPOINTS = 25


@dataclass
class Cut:
    """After so many states; if something is acknowledged that is in none of them, the next is there."""

    folder: Path
    states: int
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
    committed: bool = False

    async def run(self, pragmas: tuple[str, ...]) -> None:
        world = World(self.store, ManualClock())
        await self.store.open()
        for pragma in (f"wal_autocheckpoint={PAGES_BETWEEN_CHECKPOINTS}", *pragmas):
            self.store.database.execute(f"PRAGMA {pragma}")
        fifo, (plain, dead) = await world.queue("q.fifo"), await world.queue_with_dead_letters("q", 2)
        self.states.append(tables(self.store.path))
        chooser, longest = Chooser(world, [fifo, plain, dead], self.rng), self.rng.choice((1, 40))
        self.disk.before_change = self._maybe_cut
        self.store.observe_commits(lambda changes, seconds: self._committed())
        for number in range(MOST_ROUNDS):
            if number >= ROUNDS and len(self.cuts) == CUTS:
                break
            self.acknowledged, self.committed = False, False
            await asyncio.gather(*(self._answered(call) for call in chooser.calls(self.states[-1])))
            assert self.states[-1] == tables(self.store.path), "a commit went unnoticed"
            world.advance(self.rng.choice((0, 0, 1, longest)))
        self.disk.before_change = lambda: None
        await self.store.close()

    def _committed(self) -> None:
        self.states.append(tables(self.store.path))
        self.committed = True

    async def _answered(self, call: Call) -> None:
        count(requests=1)
        if await call():
            self.acknowledged = True

    def _maybe_cut(self) -> None:
        if len(self.cuts) < CUTS and self.rng.random() < 0.15:
            folder = self.folder / f"cut-{len(self.cuts)}"
            self.disk.cut(self.rng, folder)
            self.cuts.append(Cut(folder, len(self.states), self.acknowledged and not self.committed))

    async def findings(self) -> list[str]:
        return [complaint for cut in self.cuts for complaint in await self._inspect(cut)]

    async def _inspect(self, cut: Cut) -> list[str]:
        """A store is opened on what is left, as the next start would do; its tables are those of a round."""
        path, name = cut.folder / self.store.path.name, f"after state {cut.states - 1}"
        try:
            if faults := faults_of(path, cut.folder):
                return [f"{name}: {fault}" for fault in faults]
        except apsw.Error as error:
            return [f"{name}: {error}"]
        store = EncryptedStore(path)
        await store.open()
        await store.close()
        found, allowed = tables(path), self.states[cut.states - (not cut.acknowledged) : cut.states + 1]
        if found not in allowed:
            wrong = [table for table in TABLES if found[table] not in [state[table] for state in allowed]]
            older = next((n for n, state in enumerate(self.states) if state == found), None)
            return [f"{name}: {wrong} are of no state it may be in, but of state {older}"]
        return []


async def findings_of(
    make: Make, rng: random.Random, folder: Path, *pragmas: str, lies: bool = False, runs: int = RUNS
) -> list[str]:
    found: list[str] = []
    for number in range(runs):
        place = folder / str(number)
        place.mkdir()
        with installed(Disk(lies)) as disk:
            session = Session(make(place / "penstock.db"), disk, rng, place)
            await session.run(pragmas)
        assert len(session.cuts) == CUTS, "the run was too short for its cuts"
        found += await session.findings()
        count(cycles=CUTS)
    return found


async def test_what_was_acknowledged_outlives_a_power_cut(make: Make, rng: random.Random, folder: Path) -> None:
    assert await findings_of(make, rng, folder) == []


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
async def test_a_store_that_does_not_sync_is_found_out(
    make: Make, rng: random.Random, folder: Path, synchronous: str
) -> None:
    assert await findings_of(make, rng, folder, f"synchronous={synchronous}", runs=2) != []


async def test_a_disk_that_lies_is_found_out(make: Make, rng: random.Random, folder: Path) -> None:
    assert await findings_of(make, rng, folder, lies=True, runs=1) != []
