"""The tests in parts: each of them once, what they say kept apart, and an end that tells what failed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest

from parts import INTERRUPTED, PARTS, ROOT, progress, words

SECONDS = 60
PROGRAM = "import json, sys; import parts; sys.exit(parts.main(json.loads(sys.argv[1]), int(sys.argv[2])))"
GOOD = "def test_good(): print('unheard')"
BAD = "def test_bad(): assert 1 == 2"
WAITING = """
import os, pathlib, pytest, time

@pytest.fixture
def thing():
    yield
    pathlib.Path({gone!r}).touch()

def test_waits(thing):
    os.open({fifo!r}, os.O_WRONLY)
    time.sleep(3600)
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts parts of one file each: `start(2, first="def test_…")`, two at once."""

    def start(at_once: int, **texts: str) -> "subprocess.Popen[str]":
        for name, text in texts.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        parts = json.dumps({name: [f"test_{name}.py"] for name in texts})
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, parts, str(at_once)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
            stdout=subprocess.PIPE,
            text=True,
        )

    return start


def owners(file: Path) -> list[str]:
    """The parts that would run it, by what pytest is told."""
    found = []
    for name in PARTS:
        told = words(PARTS, name)
        places = [ROOT / word for word in told if not word.startswith("--")]
        ignored = [ROOT / word.removeprefix("--ignore=") for word in told if word.startswith("--ignore=")]
        family = {file, *file.parents}
        if family & set(places) and not family & set(ignored):
            found.append(name)
    return found


def test_every_test_is_in_one_part() -> None:
    files = [file for file in (ROOT / "tests").rglob("*.py") if fnmatch(file.name, "test_*.py")]
    assert {file: owners(file) for file in files if len(owners(file)) != 1} == {}
    assert {owner for file in files for owner in owners(file)} == set(PARTS)


def test_every_place_is_there() -> None:
    assert [place for places in PARTS.values() for place in places if not (ROOT / place).exists()] == []


def test_all_parts_run_and_what_they_say_is_kept_apart(start: Start) -> None:
    said, _ = (process := start(2, one=GOOD, two=GOOD, three=GOOD)).communicate(timeout=SECONDS)
    assert process.returncode == 0
    heads = [line.split()[1].rstrip(",") for line in said.splitlines() if line.startswith("===== ")]
    assert sorted(heads[:-1]) == ["one", "three", "two"]
    assert "===== 3 of 3 parts ended" in said
    assert said.count("1 passed") == 6  # where it ended, and at the end


def test_a_part_that_fails_stops_no_other_and_is_told_at_the_end(start: Start) -> None:
    said, _ = (process := start(1, bad=BAD, good=GOOD)).communicate(timeout=SECONDS)
    assert process.returncode == 1
    end = said[said.index("===== 2 of 2 parts") :].splitlines()
    assert end[1] == "FAILED test_bad.py::test_bad - assert 1 == 2"
    assert end[2].startswith("bad: 1 failed in ")
    assert end[3].startswith("good: 1 passed in ")


def test_a_part_without_an_end_is_a_failure(start: Start) -> None:
    said, _ = (process := start(2, dies="import os; os._exit(9)", good=GOOD)).communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "dies: no result (status 9)" in said


@pytest.mark.parametrize(
    ("said", "far"),
    [
        ("", "0 tests, 0%"),
        ("..s", "3 tests, 0%"),
        (f"{'.' * 72} [  7%]\n..F.", "76 tests, 7%"),
        (f"{'.' * 72} [ 99%]\n.E                 [100%]\nE   no test\n", "74 tests, 100%"),
    ],
)
def test_how_far_a_part_is_shows_between_its_lines_too(said: str, far: str) -> None:
    assert progress(said) == far


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_every_part_ends_what_it_has_started(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    texts, fifos = {}, []
    for name in ("one", "two"):
        fifos.append(fifo := tmp_path / f"{name}.fifo")
        os.mkfifo(fifo)
        texts[name] = WAITING.format(fifo=str(fifo), gone=str(tmp_path / f"{name}.gone"))
    process = start(2, **texts, three=GOOD)
    for fifo in fifos:
        os.close(os.open(fifo, os.O_RDONLY))  # when both have got so far
    process.send_signal(number)
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == INTERRUPTED
    assert {file.name for file in tmp_path.glob("*.gone")} == {"one.gone", "two.gone"}
    assert "===== 2 of 3 parts ended" in said
