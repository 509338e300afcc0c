"""What the job `metrics` costs per event, from a million to ten: `python bench/pipeline_metrics.py --millions 1 3 10`.

Each size has a journal of its own, made once in --folder, with sizes, waits and groups that vary as they do in life.
The command runs as its users run it, with one gigabyte for Spark. The cost of an event is told in whole; without the
start of Python, the JVM and the session, by what the job itself says it took; and as the slope from the first size to
this one. A young JVM compiles Spark and the queries while they run: that is in the first two, and not in the slope.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_journals import make_journal

MEMORY = "1g"


@dataclass(frozen=True)
class Run:
    events: int
    seconds: float
    job_seconds: float
    """Once the session is there, until the last batch is committed."""
    cpu_seconds: float
    """Of the JVM: what a busy machine changes least."""
    resident_mib: float
    """The most that the JVM held."""

    def row(self, least: "Run") -> Sequence[str]:
        more = self.events - least.events
        slope = f"{1e6 * (self.seconds - least.seconds) / more:.2f}" if more else "–"
        return (
            f"{self.events:,}",
            f"{self.events / self.seconds:,.0f}",
            *_cost(self.seconds, self.events, least.seconds / least.events),
            *_cost(self.job_seconds, self.events, least.job_seconds / least.events),
            slope,
            f"{self.cpu_seconds:.1f}",
            f"{self.resident_mib:,.0f}",
        )


def _cost(seconds: float, events: int, least: float) -> Sequence[str]:
    return f"{seconds:.1f}", f"{1e6 * seconds / events:.2f}", f"{seconds / events / least:.2f}"


def measure(folder: Path, events: int) -> Run:
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, "-m", "penstock", "pipeline", "metrics", "--once"]
        command += ["--journal", str(folder / str(events)), "--out", out, "--conf", f"spark.driver.memory={MEMORY}"]
        began = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        _, said = process.communicate()
        seconds = time.monotonic() - began
        held = watch.stop()
        if process.returncode:
            raise SystemExit(said)
        return Run(events, seconds, _job_seconds(said), *held)


def _job_seconds(said: str) -> float:
    found = re.search(r" rows in ([\d.]+) s", said)
    if not found:
        raise SystemExit(f"the job does not say how long it took: {said}")
    return float(found[1])


class Watch:
    """The JVM below a process: how long it has computed, and the most memory it has held, as the kernel keeps them."""

    def __init__(self, pid: int) -> None:
        self._pid, self._over = pid, threading.Event()
        self._cpu = self._mib = 0.0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            for place in self._jvms():
                try:
                    times = (place / "stat").read_text().rpartition(")")[2].split()
                    peak = re.search(r"VmHWM:\s+(\d+)", (place / "status").read_text())
                except OSError:
                    continue  # it has ended
                self._cpu = max(self._cpu, (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"))
                self._mib = max(self._mib, int(peak[1]) / 1024 if peak else 0)

    def _jvms(self) -> Iterator[Path]:
        below = {self._pid}
        for _ in range(3):  # Spark starts Java by way of a shell, at times
            children = (Path(f"/proc/{pid}/task/{pid}/children") for pid in below)
            below |= {int(child) for file in children if file.exists() for child in file.read_text().split()}
        for pid in below:
            place = Path(f"/proc/{pid}")
            if place.exists() and (place / "comm").read_text().strip() == "java":
                yield place

    def stop(self) -> tuple[float, float]:
        self._over.set()
        self._thread.join()
        return self._cpu, self._mib


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 3, 10], metavar="N")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "penstock-bench-metrics"))
    asked = parser.parse_args(words)
    runs: list[Run] = []
    cost = ("µs/event", "ratio")
    titles = ("events", "events/s", "seconds", *cost, "job alone", *cost, "µs/event more", "JVM CPU s", "JVM MiB")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {MEMORY} of memory for Spark\n")
    print(f"| {' | '.join(titles)} |\n|{'---:|' * len(titles)}")
    for events in (round(millions * 1e6) for millions in asked.millions):
        if not (asked.folder / str(events)).exists():
            make_journal(asked.folder / str(events), events)
        runs.append(measure(asked.folder, events))
        print(f"| {' | '.join(runs[-1].row(runs[0]))} |", flush=True)


if __name__ == "__main__":
    main()
