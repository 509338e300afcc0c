"""The script that times refusals, end to end at a tiny size. What it says about time is not judged here."""

import subprocess
import sys
from itertools import product
from pathlib import Path

from oracle import CALLERS, QUEUES

BENCH = Path(__file__).parents[2] / "bench"


def test_every_caller_is_refused_every_queue_and_is_in_the_table() -> None:
    command = [sys.executable, str(BENCH / "oracle.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading.split()[:4] == ["CALLER", "QUEUE", "WORK", "µs"]
    named = ["  ".join(kind) for kind in product(CALLERS, QUEUES)]
    assert [" ".join(line.split()[:-6]) for line in lines] == [" ".join(name.split()) for name in named]
