"""B20: the battery is judged. Seventeen known bugs are planted, one at a time, and each must be found by its part."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.gathering import compiled

from .planted import BUGS, PARTIES, POWER, Bug, Outdated, plant

ROOT = Path(__file__).parent.parent.parent
FAILED = 1
"""The exit status of pytest for tests that ran and failed; others are about tests that did not run."""
BROKEN = ("SyntaxError", "ImportError", "NameError", "AttributeError", "the server did not start")
"""What a bug looks like that was planted badly: anything would find it."""
SECONDS = 120
TURNS = 4
"""How often a part that draws its faults may look: one short turn need not meet the bug, so many must."""
BRIEF = {"PENSTOCK_FAULTS": "brief", "PENSTOCK_HYPOTHESIS": "brief", "CI": ""}


def run(part: str, source: Path) -> subprocess.CompletedProcess[str]:
    words = part.split()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "--tb=line", "--hypothesis-seed=20", *words],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PENSTOCK_TALLY"}
        | BRIEF
        | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_there_are_seventeen() -> None:
    assert len(BUGS) == len({bug.name for bug in BUGS}) == 17


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "_"))
def test_a_planted_bug_is_found(bug: Bug, folder: Path) -> None:
    if bug.found_by == PARTIES:
        compiled()
    try:
        plant(bug, folder)
    except Outdated as reason:
        pytest.fail(str(reason))
    for _ in range(TURNS):
        found = run(bug.found_by, folder)
        if found.returncode != 0:
            break
    assert found.returncode == FAILED, f"{bug.found_by} did not find it:\n{found.stdout[-3000:]}{found.stderr[-1000:]}"
    assert not [words for words in BROKEN if words in found.stdout], found.stdout[-3000:]


def test_a_copy_without_a_bug_is_as_good_as_the_source(folder: Path) -> None:
    """Else it would prove nothing that something is found in a copy with one."""
    plant(Bug("none", POWER, ()), folder)
    found = run(POWER, folder)
    assert found.returncode == 0, found.stdout[-3000:]


def test_an_entry_that_has_lost_its_text_is_named(folder: Path) -> None:
    with pytest.raises(Outdated, match=r"'moved'.*core/clock.py.*0 times"):
        plant(Bug("moved", POWER, (("core/clock.py", "text that is nowhere", ""),)), folder)
