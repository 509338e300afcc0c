"""What the job `metrics` costs per event, from a million to ten: `python bench/pipeline_metrics.py --millions 1 3 10`.

Each size has a journal of its own, made once in --folder, with sizes, waits and groups that vary as they do in life.
The command runs as its users run it, with one gigabyte for Spark. The cost of an event is told in whole, and without
what the smallest run pays for starting: the slope from the first size to this one.
"""

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

NODE = "4f1c2a9be07d"
START = 1_794_787_200_000
SEGMENT = 50_000
QUEUES = 50
GROUPS = 20
PER_SECOND = 1000
"""Events, by the clock of the journal."""
MEMORY = "1g"
FIELDS = (
    "node seq ts_ms event region account queue message_id group type endpoint size receive_count sent_ms "
    "first_receive_ms principal duration_ms reason trace count visible in_flight delayed successor attributes body"
)


def journal(folder: Path, events: int) -> None:
    """Three events a message, and a GAUGE of every queue each minute."""
    chance, place = (
        random.Random(events),
        folder / f"node={NODE}" / f"date={datetime.fromtimestamp(START / 1000, UTC):%F}",
    )
    place.mkdir(parents=True)
    (folder / "_format.json").write_text(json.dumps({"version": 1, "fields": FIELDS.split()}))
    first = 1
    while first <= events:
        last = min(first + SEGMENT, events + 1) - 1
        with gzip.open(place / f"{first:020d}-{last:020d}.jsonl.gz", "wt", compresslevel=1) as file:
            file.writelines(_lines(first, last, chance))
        first = last + 1


def _lines(first: int, last: int, chance: random.Random) -> Iterator[str]:
    seq = first
    while seq <= last:
        now, queue, number = START + seq * 1000 // PER_SECOND, chance.randrange(QUEUES), chance.getrandbits(122)
        about = f'"region":"us-east-1","account":"000000000000","queue":"queue-{queue}"'
        if seq % (60 * PER_SECOND) < QUEUES:
            gauge = f'"count":9,"visible":{seq % 7},"in_flight":2,"delayed":0,"size":900,"duration_ms":{seq % 60_000}'
            yield _line(seq, now, "GAUGE", about, gauge)
            seq += 1
            continue
        said = f'"message_id":"{number:032x}","group":"g{chance.randrange(GROUPS)}","type":"order.placed"'
        principal = '"principal":"arn:aws:iam::000000000000:root"'
        size, dwell = chance.randrange(100, 4000), int(chance.expovariate(1 / 200))
        yield _line(seq, now, "SENT", about, f'{said},"size":{size},{principal}')
        if seq + 1 <= last:
            times = f'"receive_count":1,"sent_ms":{now},"first_receive_ms":{now + dwell},"duration_ms":{dwell}'
            yield _line(seq + 1, now, "RECEIVED", about, f'{said},"size":{size},{times},{principal}')
        if seq + 2 <= last:
            handled = int(chance.expovariate(1 / 80))
            done = f'"message_id":"{number:032x}","receive_count":1,{principal},"duration_ms":{handled}'
            yield _line(seq + 2, now, "DELETED", about, done)
        seq += 3


def _line(seq: int, ts_ms: int, event: str, about: str, rest: str) -> str:
    return f'{{"node":"{NODE}","seq":{seq},"ts_ms":{ts_ms},"event":"{event}",{about},{rest}}}\n'


@dataclass(frozen=True)
class Run:
    events: int
    seconds: float
    cpu_seconds: float
    """Of the JVM: what a busy machine changes least."""
    resident_mib: float
    """The most that the JVM held."""

    def row(self, least: "Run") -> Sequence[str]:
        cost = 1e6 * self.seconds / self.events
        more = self.events - least.events
        slope = f"{1e6 * (self.seconds - least.seconds) / more:.2f}" if more else "–"
        ratio = cost / (1e6 * least.seconds / least.events)
        rate = self.events / self.seconds
        return (
            f"{self.events:,}", f"{self.seconds:.1f}", f"{rate:,.0f}", f"{cost:.2f}", f"{ratio:.2f}", slope,
            f"{self.cpu_seconds:.1f}", f"{self.resident_mib:,.0f}",
        )  # fmt: skip


def measure(folder: Path, events: int) -> Run:
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, "-m", "penstock", "pipeline", "metrics", "--once"]
        command += ["--journal", str(folder / str(events)), "--out", out, "--conf", f"spark.driver.memory={MEMORY}"]
        began = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        _, said = process.communicate()
        seconds = time.monotonic() - began
        if process.returncode:
            raise SystemExit(said)
        return Run(events, seconds, *watch.stop())


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
    titles = ("events", "seconds", "events/s", "µs/event", "ratio", "µs/event more", "JVM CPU s", "JVM MiB")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {MEMORY} of memory for Spark\n")
    print(f"| {' | '.join(titles)} |\n|{'---:|' * len(titles)}")
    for events in (round(millions * 1e6) for millions in asked.millions):
        if not (asked.folder / str(events)).exists():
            journal(asked.folder / str(events), events)
        runs.append(measure(asked.folder, events))
        print(f"| {' | '.join(runs[-1].row(runs[0]))} |", flush=True)


if __name__ == "__main__":
    main()
