"""B3, with the journal: whenever the power goes, journal and store agree exactly once the next start is done.

The database is on a disk that forgets (`power`), and so is the journal: of an open file what was synced is left, and
some of the rest, maybe as zeros. The next start must find every event that the store has committed, each once, in the
words in which it was committed, and none that it has not.
"""

import asyncio
import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from conformance.encrypted import EncryptedStore
from conformance.world import World
from penstock.core.clock import ManualClock
from penstock.core.outbox import unpacked
from penstock.journal.disk import Disk as JournalDisk
from penstock.journal.keeping import JournalOfServer, Keeping
from penstock.journal.segments import Segments
from penstock.journal.verification import Verification
from penstock.loops.journal import JournalKeeper
from penstock.stores.sqlite import SqliteStore
from tally import count

from .conftest import Make
from .power import Disk, installed
from .rounds import Call, Chooser, tables
from .run import size

RUNS, CUTS, ROUNDS = size(gate=25, night=1250), 20, 30
MOST_ROUNDS = 10 * ROUNDS
"""A life goes on until it has had its cuts, if the disk is written to at all."""
SEGMENT = 4_000


class ForgetfulFiles(JournalDisk):
    """Knows of each file how much of it is safe."""

    def __init__(self) -> None:
        self.paths: dict[int, Path] = {}
        self.safe: dict[Path, int] = {}

    def create(self, path: Path) -> int:
        file = super().create(path)
        self.paths[file] = path
        return file

    def sync(self, file: int) -> None:
        super().sync(file)
        self.safe[self.paths[file]] = os.fstat(file).st_size

    def cut(self, rng: random.Random, source: Path, target: Path) -> None:
        shutil.copytree(source, target)
        for path in {path for path in self.paths.values() if path.exists()}:
            left, whole = target / path.relative_to(source), path.stat().st_size
            os.truncate(left, rng.randint(min(self.safe.get(path, 0), whole), whole))
            if rng.random() < 0.2:
                os.truncate(left, whole)


@dataclass
class Life:
    """Rounds of calls on a store with a journal, both of whose disks are cut now and then."""

    make: Make
    folder: Path
    disk: Disk
    rng: random.Random
    lines: dict[int, bytes] = field(default_factory=dict)
    cuts: list[Path] = field(default_factory=list)

    async def run(self) -> None:
        store, clock, files = self.make(self.folder / "penstock.db"), ManualClock(), ForgetfulFiles()
        await store.open()
        store.database.execute("PRAGMA wal_autocheckpoint=25")
        directory = self.folder / "journal"
        journal = journal_on(store, clock, directory, files)
        self._listen(journal)
        await journal.start()
        keeper, world = JournalKeeper(journal, store), World(store, clock)
        fifo, (plain, dead) = await world.queue("q.fifo"), await world.queue_with_dead_letters("q", 2)
        chooser = Chooser(world, [fifo, plain, dead], self.rng)
        self.disk.before_change = lambda: self._maybe_cut(files, directory)
        for number in range(MOST_ROUNDS):
            if number >= ROUNDS and len(self.cuts) == CUTS:
                break
            await asyncio.gather(*(self._answered(call) for call in chooser.calls(tables(store.path))))
            world.advance(self.rng.choice((0, 0, 1, 40)))
            await keeper.run_once(clock.now())
        self.disk.before_change = lambda: None
        await journal.stop()
        await store.close()

    def _listen(self, journal: JournalOfServer) -> None:
        inner = journal.committed

        def committed(first: int, last: int, lines: bytes) -> None:
            told = unpacked(lines).splitlines(keepends=True)
            self.lines |= dict(zip(range(first, last + 1), told, strict=True))
            inner(first, last, lines)

        journal.committed = committed  # type: ignore[method-assign]

    async def _answered(self, call: Call) -> None:
        count(requests=1)
        await call()

    def _maybe_cut(self, files: ForgetfulFiles, directory: Path) -> None:
        if len(self.cuts) < CUTS and self.rng.random() < 0.12:
            place = self.folder / f"cut-{len(self.cuts)}"
            self.disk.cut(self.rng, place)
            files.cut(self.rng, directory, place / "journal")
            self.cuts.append(place)

    async def findings(self) -> list[str]:
        return [f"{place.name}: {finding}" for place in self.cuts for finding in await self._inspect(place)]

    async def _inspect(self, place: Path) -> list[str]:
        """The next start, and what it has made of the two."""
        store, clock = EncryptedStore(place / "penstock.db"), ManualClock()
        await store.open()
        committed = store.journal_seq()
        journal = journal_on(store, clock, place / "journal", JournalDisk())
        await journal.start()
        written = (await journal.read(journal.node, 1, 1 << 30)).lines.splitlines(keepends=True)
        await journal.stop()
        verification = Verification(Segments(place / "journal"))
        await verification.store(store)
        await store.close()
        if written[:committed] != [self.lines[number] for number in range(1, committed + 1)]:
            return [f"of the {committed} events that the store has made, the journal has others, or {len(written)}"]
        return verification.report.problems


def journal_on(store: SqliteStore, clock: ManualClock, directory: Path, disk: JournalDisk) -> JournalOfServer:
    def fatal(error: BaseException) -> None:
        raise AssertionError("the journal's disk failed") from error

    keeping = Keeping(directory, segment_bytes=SEGMENT, segment_seconds=1)
    return JournalOfServer(store, clock, keeping, segments=Segments(directory, disk), on_fatal=fatal)


async def test_journal_and_store_agree_whenever_the_power_goes(make: Make, rng: random.Random, folder: Path) -> None:
    found: list[str] = []
    for number in range(RUNS):
        place = folder / str(number)
        place.mkdir()
        with installed(Disk()) as disk:
            life = Life(make, place, disk, rng)
            await life.run()
        assert len(life.cuts) == CUTS, "the run was too short for its cuts"
        found += await life.findings()
        count(cycles=CUTS)
    assert found == []
