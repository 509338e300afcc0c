"""What the server feels of the pipeline on its own machine: cycles with `land` and `metrics` streaming beside it.

    python bench/pipeline_beside.py --seconds 20 --rounds 5
    python bench/pipeline_beside.py --quick             shows that it works, measures little

A cycle sends, receives and deletes a message. Three ways take turns in one run: the server alone; beside both jobs; and
beside programs that read nothing and only compute, for as long as the jobs did. Where the last two are alike, all that
the jobs cost the server is their share of the processors.

Between their turns the jobs are stopped with SIGSTOP, and then have to catch up with what went by: more than in life.
Segments are published every two seconds for the same reason.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from penstock.bench.modes import MODES, measured
from penstock.bench.own_server import Running, running
from penstock.bench.report import aligned
from penstock.bench.watch import Watch

JOBS = ("land", "metrics")
WAYS = ("alone", "beside land and metrics", "beside the same share of computing")
START_SECONDS = 600
SEGMENT_SECONDS = 2
SETTINGS = {"PENSTOCK_JOURNAL_SEGMENT_SECONDS": str(SEGMENT_SECONDS)}
BURN = """
import sys, time
share, slice = float(sys.argv[1]), 0.02
while True:
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < share * slice:
        pass
    time.sleep(max(0.0, slice - (time.monotonic() - began)))
"""


@dataclass(frozen=True)
class Turn:
    cycles: float
    cpu_per_1000: float
    beside: float
    """Processors that the programs beside the server kept busy."""


class Stream:
    """A job that follows the journal, as its users start it."""

    def __init__(self, job: str, folder: Path) -> None:
        self.job, self._log = job, folder / f"{job}.log"
        command = [sys.executable, "-m", "penstock", "pipeline", job, "--journal", str(folder / "data" / "journal")]
        command += [
            "--out",
            str(folder / "tables"),
            "--every",
            f"{SEGMENT_SECONDS} seconds",
            "--conf",
            "spark.ui.enabled=false",
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.watch = Watch(self._process.pid)

    def rows(self) -> list[int]:
        """Of each batch so far."""
        if self._process.poll() is not None:
            raise SystemExit(f"{self.job} has ended:\n{self._log.read_text()[-2000:]}")
        lines = [line for line in self._log.read_text().splitlines() if line.startswith('{"event": "batch"')]
        return [json.loads(line)["rows"] for line in lines]

    def signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def end(self) -> None:
        self.signal(signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self._process.wait()


class Bench:
    def __init__(self, server: Running, folder: Path, seconds: float) -> None:
        self._server, self._folder = server, folder
        self._options = MODES["cycle"].options(seconds)
        self.streams: list[Stream] = []

    def start_streams(self, stack: ExitStack, batches: int) -> None:
        """They have compiled what they need when each has done a few batches, for which there must be events."""
        for job in JOBS:
            self.streams.append(Stream(job, self._folder))
            stack.callback(self.streams[-1].end)
        deadline = time.monotonic() + START_SECONDS
        while late := [stream.job for stream in self.streams if len(stream.rows()) < batches]:
            if time.monotonic() > deadline:
                raise SystemExit(f"{' and '.join(late)} did not get going in {START_SECONDS} seconds")
            self.turn([])
            time.sleep(SEGMENT_SECONDS)
        self._signal(signal.SIGSTOP)

    def _signal(self, number: int) -> None:
        for stream in self.streams:
            stream.signal(number)

    def turn(self, beside: Sequence[Watch]) -> Turn:
        began, used = time.monotonic(), _used(beside)
        (point,) = measured("cycle", self._server.target, self._options, Watch(self._server.pid))
        if point.violations:
            raise SystemExit(f"the server did not do what it should: {point.problems}")
        share = (_used(beside) - used) / (time.monotonic() - began)
        return Turn(point.per_second, point.cpu_per_1000 or 0.0, share)

    def round(self) -> Iterator[tuple[str, Turn]]:
        yield WAYS[0], self.turn([])
        self._signal(signal.SIGCONT)
        with_jobs = self.turn([stream.watch for stream in self.streams])
        self._signal(signal.SIGSTOP)
        yield WAYS[1], with_jobs
        with burners(with_jobs.beside) as burning:
            yield WAYS[2], self.turn(burning)


def _used(watches: Sequence[Watch]) -> float:
    return sum(watch.cpu_seconds() or 0.0 for watch in watches)


@contextmanager
def burners(processors: float) -> Iterator[list[Watch]]:
    """As many processes as Spark runs tasks at once, which compute for so long together."""
    number = len(JOBS) * (os.cpu_count() or 1)
    command = [sys.executable, "-c", BURN, str(processors / number)]
    processes = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield [Watch(process.pid) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def table(turns: dict[str, list[Turn]]) -> str:
    headings = ["CASE", "cycles/s", "× alone", "server CPU s/1,000", "processors beside"]
    alone = median(turn.cycles for turn in turns[WAYS[0]])
    rows = []
    for way in WAYS:
        cycles = median(turn.cycles for turn in turns[way])
        cpu, beside = (
            median(figures) for figures in zip(*((t.cpu_per_1000, t.beside) for t in turns[way]), strict=True)
        )
        rows.append([way, f"{cycles:,.0f}", f"{cycles / alone:.2f}", f"{cpu:.3f}", f"{beside:.2f}"])
    return "\n".join(aligned(headings, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    seconds, rounds = (1.0, 1) if given.quick else (given.seconds, given.rounds)
    turns: dict[str, list[Turn]] = {way: [] for way in WAYS}
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name), os.environ | SETTINGS) as server,
        ExitStack() as stack,
    ):
        bench = Bench(server, Path(name), seconds)
        bench.start_streams(stack, batches=1 if given.quick else 3)
        for _ in range(rounds):
            for way, turn in bench.round():
                turns[way].append(turn)
                print(f"  {way}: {turn.cycles:,.0f}/s, {turn.beside:.2f} processors beside", file=sys.stderr)
        done = ", ".join(f"{one.job} {sum(one.rows()):,} in {len(one.rows())} batches" for one in bench.streams)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; rows written beside the server: {done}\n")
    print(table(turns))


if __name__ == "__main__":
    main()
