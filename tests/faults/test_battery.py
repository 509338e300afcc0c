"""`make battery` itself: it says what it did, and how to see again what it found."""

import os
import subprocess
import sys
from pathlib import Path

from .battery import PARTS, ROOT
from .planted import BUGS, EDGES, plant


def run_edges(path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One run of the part that takes least time, on our own source or on a copy."""
    return subprocess.run(
        [sys.executable, "tests/faults/battery.py", "--minutes", "0.0001", "--seed", "7", "--parts", "edges"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(path or "")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_was_survived_is_in_the_table() -> None:
    done = run_edges()
    assert done.returncode == 0, done.stdout
    first, progress, heads, row = done.stdout.splitlines()
    assert "SEED=7" in first
    assert progress.startswith("edges      ok         seed 7")
    assert heads.split() == ["part", "runs", "cycles", "requests", "acknowledged", "violations"]
    name, part, runs, cycles, *_, violations = row.split()
    assert (name, part, runs, violations) == ("B10", "edges", "1", "0")
    assert int(cycles) > 100


def test_a_violation_is_printed_with_what_repeats_it(folder: Path) -> None:
    plant(next(bug for bug in BUGS if bug.found_by == EDGES), folder)
    done = run_edges(folder)
    assert done.returncode == 1
    assert "edges      VIOLATION  seed 7" in done.stdout
    assert "AssertionError: -1 ms" in done.stdout
    assert "make battery MINUTES=0.01 PARTS=edges SEED=7" in done.stdout
    assert done.stdout.splitlines()[-1].split()[-1] == "1"


def test_no_test_of_the_size_for_a_night_is_cut_off() -> None:
    test = "tests/faults/test_kill.py::test_a_receipt_handle_is_as_good_after_a_kill"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "timeout=0.1", test],
        cwd=ROOT,
        env=os.environ | {"PENSTOCK_FAULTS": "thorough"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_part_has_its_files() -> None:
    missing = [file for _, files in PARTS.values() for file in files.split() if not (ROOT / file).exists()]
    assert missing == []
