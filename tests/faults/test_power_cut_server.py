"""B3, with nothing left out: the power goes under a server at work, drive and file system and all.

Each time a server is started on what the drive has kept, and may be cut before it is ready. Nothing acknowledged is
lost, nothing is wrong, journal and store agree; a drive that lies about its flushes is found out.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from server_process import Server
from tally import count

from .audit import faults_of
from .drive import Drive, NoDrives
from .invariants import violations
from .journal import faults_of_journal
from .run import size
from .workload import Workload

CUTS = size(gate=5, night=200)
ACTORS = 2
STARTS, WORKS = (1, 60), (60, 1000)
"""Changes to the drive: about so many are a start's; a second or two of work makes that many more."""
SETTINGS = {"PENSTOCK_JOURNAL": "full", "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"}


@pytest.fixture
def drive(folder: Path) -> Iterator[Drive]:
    """Where a server of the folder keeps its data."""
    try:
        drive = Drive(folder, folder / "data")
        drive.switch_on()
    except NoDrives as reason:
        pytest.skip(f"no drive can be made here: {reason}")
    yield drive
    with suppress(NoDrives):
        drive.pull_out()


class Life:
    """Producers and consumers at work on a server whose drive is cut now and then."""

    def __init__(self, drive: Drive, server: Server, rng: random.Random) -> None:
        self._drive, self._server, self._rng = drive, server, rng

    def lead(self, cuts: int, *, lies: bool = False) -> dict[str, list[str]]:
        """What was wrong with it. The drive may lie about what is done, once its queues are there."""
        with closing(Workload(self._server, self._server.folder / "history", str(self._rng.random()))) as self._work:
            self._work.prepare()
            if lies:
                self._drive.lie()
            self._work.start(producers=ACTORS, consumers=ACTORS)
            self._cut_at_work()
            for _ in range(cuts - 1):
                self._start_and_cut()
            self._server.start()
            time.sleep(0.5)
            self._work.finish()
            assert self._server.stop() == 0
            self._audit()
        operations = self._work.history()
        done = sum(operation.ok for operation in operations if operation.op == "send")
        assert done > cuts * 10, "too little was done to prove anything"
        return violations(operations)

    def _cut_at_work(self) -> None:
        self._drive.cut(str(self._rng.random()), self._rng.randint(*self._rng.choice((STARTS, WORKS))))
        self._server.process.kill()
        self._drive.pull_out()
        self._server.process.wait()
        self._drive.switch_on()
        self._audit()
        count(cycles=1)

    def _start_and_cut(self) -> None:
        with ThreadPoolExecutor(1) as aside:
            start = aside.submit(self._server.start)
            self._cut_at_work()
            start.exception()  # of one that was cut

    def _audit(self) -> None:
        faults = faults_of(self._server.data / "penstock.db", self._server.folder)
        self._work.recorder.note("audit", {}, {"faults": faults + faults_of_journal(self._server)})


@pytest.mark.parametrize("auth", ["on", "off"])
def test_what_was_acknowledged_outlives_any_number_of_power_cuts(
    drive: Drive, start: Callable[..., Server], rng: random.Random, auth: str
) -> None:
    """Of those who sign, native code takes messages and deletes them."""
    assert Life(drive, start(PENSTOCK_AUTH=auth, **SETTINGS), rng).lead(CUTS) == {}


def test_a_drive_that_lies_is_found_out(drive: Drive, start: Callable[..., Server], rng: random.Random) -> None:
    assert Life(drive, start(**SETTINGS), rng).lead(cuts=1, lies=True) != {}
