"""`make battery MINUTES=… SEED=…`: the fault tests in rotation, each time with another seed, until the time is over.

A part is a test file (or a few), and a cycle of the rotation is one run of it in a process of its own: what `make test`
runs once is run here as often as there is time. The table at the end says what was survived; a violation is printed
with the command that repeats it, and the exit status is then 1.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

PARTS: dict[str, tuple[str, str]] = {
    "model": ("B1", "tests/conformance/test_model.py"),
    "kill": ("B2", "tests/faults/test_kill.py tests/faults/test_journal.py"),
    "power": (
        "B3",
        "tests/faults/test_power_cut.py tests/faults/test_power_cut_journal.py tests/faults/test_power_cut_server.py "
        "tests/faults/test_rollback.py",
    ),
    "disk": ("B4", "tests/faults/test_disk.py tests/faults/test_start.py"),
    "corruption": ("B5", "tests/faults/test_corruption.py"),
    "clock": ("B6", "tests/faults/test_clock.py tests/faults/test_pauses.py"),
    "network": ("B7", "tests/faults/test_network.py"),
    "races": ("B8", "tests/faults/test_races.py"),
    "torture": ("B9", "tests/faults/test_torture.py"),
    "edges": ("B10", "tests/faults/test_time_edges.py"),
    "fuzz": ("B13", "tests/faults/test_fuzz.py tests/sqs/test_fuzz.py"),
    "hostile": ("B16", "tests/faults/test_hostile.py"),
    "backup": ("B17", "tests/faults/test_backup.py"),
}
"""Name → its number in the specification, and its files. B20 is not in the rotation: it is about the battery."""

COLUMNS = "part", "runs", "cycles", "requests", "acknowledged", "violations"


def run(part: str, seed: int) -> tuple[Counter[str], str]:
    """What one run has done, and what it printed if something was wrong."""
    with tempfile.NamedTemporaryFile(suffix=".json") as tally:
        environment = os.environ | {"PENSTOCK_SEED": str(seed), "PENSTOCK_TALLY": tally.name}
        command = [sys.executable, "-m", "pytest", "--tb=short", f"--hypothesis-seed={seed}", *PARTS[part][1].split()]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        done: Counter[str] = Counter(json.loads(Path(tally.name).read_text() or "{}"))
    done["runs"] += 1
    done["violations"] += ended.returncode != 0
    return done, ended.stdout + ended.stderr if ended.returncode else ""


def table(done: dict[str, Counter[str]]) -> str:
    rows = [COLUMNS, *((f"{PARTS[p][0]} {p}", *(f"{done[p][name]:,}" for name in COLUMNS[1:])) for p in done)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return "\n".join(
        f"{row[0]:<{widths[0]}}" + "".join(f"  {c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make battery", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    asked = parser.parse_args()
    print(
        f"{len(asked.parts)} parts in rotation for {asked.minutes:g} minutes; SEED={asked.seed} repeats them",
        flush=True,
    )
    done: dict[str, Counter[str]] = {part: Counter() for part in asked.parts}
    deadline, number = time.monotonic() + asked.minutes * 60, 0
    while time.monotonic() < deadline:
        part, seed = asked.parts[number % len(asked.parts)], asked.seed + number // len(asked.parts)
        began = time.monotonic()
        found, complaint = run(part, seed)
        done[part] += found
        number += 1
        took, survived = f"{time.monotonic() - began:5.1f} s", f"{done[part]['cycles']:>9,} cycles survived"
        print(f"{part:<11}{'VIOLATION' if complaint else 'ok':<10} seed {seed}  {took}  {survived}", flush=True)
        if complaint:
            print(complaint)
            print(f"To see it again: make battery MINUTES=0.01 PARTS={part} SEED={seed}", flush=True)
    print(table(done))
    return int(any(counted["violations"] for counted in done.values()))


if __name__ == "__main__":
    sys.exit(main())
