"""The scripts that measure the store's choices and the way of a request, end to end at a tiny size.

What they say about speed is not judged here; that they say all of it is.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from encryption import INSIDE, SOCKETS, speed
from inside import ACTIONS
from layouts import Apart, Flips, Layout, VisibleAt
from path import MEANINGS, MIX, ROW
from stopwatch import STEPS
from storage import CHOICES

from penstock.bench.target import at
from server_process import Server

BENCH = Path(__file__).parents[2] / "bench"


def ran(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(BENCH / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def done(script: str, *arguments: str) -> str:
    outcome = ran(script, *arguments)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
    return outcome.stdout


def test_every_choice_of_the_store_is_in_the_table_with_both_figures(tmp_path: Path) -> None:
    printed = done("storage.py", "--quick", "--json", str(tmp_path / "out.json"))
    figures = msgspec.json.decode((tmp_path / "out.json").read_bytes())
    assert "one bare fdatasync: " in printed
    assert figures["machine"]["fdatasync_us"] > 0
    assert list(dict.fromkeys(row["choice"] for row in figures["rows"])) == list(CHOICES)
    for name, choice in CHOICES.items():
        assert f"{name}: kept {choice.kept}; other {choice.other}" in printed
    for row in figures["rows"]:
        assert row["kept"] > 0, row
        assert row["other"] > 0 or row["step"] == "one comes back", row
        assert any(row["case"] in line and row["step"] in line for line in printed.splitlines()), row


def test_the_choices_to_measure_can_be_named(tmp_path: Path) -> None:
    printed = done("storage.py", "--quick", "encoding")
    assert "encoding: kept msgpack; other JSON" in printed
    assert "layout:" not in printed


@pytest.mark.parametrize(
    ("script", "arguments", "words"),
    [
        ("storage.py", ["colour"], f"there is no choice 'colour'; there are {', '.join(CHOICES)}"),
        ("path.py", ["--clients", "0"], "--clients is a number of at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_line(script: str, arguments: list[str], words: str) -> None:
    outcome = ran(script, *arguments)
    assert outcome.returncode == 2
    assert words in outcome.stderr


def test_deciding_who_may_is_measured_beside_letting_everyone_through() -> None:
    printed = done("authorise.py", "--quick")
    ratios = [line.split()[-1] for line in printed.splitlines()[1:] if "WITHOUT" not in line]
    assert len(ratios) == 3
    assert all(float(ratio) > 0 for ratio in ratios)


def test_encryption_is_measured_with_and_without_inside_and_over_sockets(tmp_path: Path) -> None:
    printed = done("encryption.py", "--quick", "--json", str(tmp_path / "out.json"))
    rows = msgspec.json.decode((tmp_path / "out.json").read_bytes())["rows"]
    assert [row["case"] for row in rows] == [*INSIDE, *SOCKETS]
    for row in rows:
        assert row["encrypted"] > 0 < row["clear"]
        assert any(row["case"] in line and f"{row['ratio']:.2f}" in line for line in printed.splitlines())


def test_a_time_in_which_nothing_could_be_measured_is_made_longer(server: Server) -> None:
    target = replace(at(server.url), access_key=server.access_key, secret_key=server.secret_key)
    assert speed("cycle", target, 0.0001, {}) > 0


@pytest.mark.parametrize("script", ["storage.py", "path.py", "authorise.py", "encryption.py"])
def test_the_help_has_examples(script: str) -> None:
    assert f"python bench/{script} --quick" in done(script, "--help")


def test_every_step_of_every_request_is_in_the_table(tmp_path: Path) -> None:
    printed = done("path.py", "--quick", "--clients", "7", "--json", str(tmp_path / "out.json"))
    figures = msgspec.json.decode((tmp_path / "out.json").read_bytes())
    assert set(figures["steps"]) == {ROW, MIX}
    for how, table in figures["steps"].items():
        assert list(table) == list(ACTIONS)
        for action, steps in table.items():
            assert set(steps) == {*STEPS, "fsync"} == set(MEANINGS)
            assert all(steps[step] > 0 for step in STEPS), (how, action, steps)
    for step in (*MEANINGS, "sum"):
        line = next(line for line in printed.splitlines() if line.startswith(step))
        assert len([cell for cell in line.split() if cell.replace(".", "").isdigit()]) == len(ACTIONS) * 2 + 1
    assert list(figures["cycle"]) == ["in step", "one at a time", "in step, tens"]
    for name, cycle in figures["cycle"].items():
        assert name in printed
        assert cycle["processor"] > 0
        assert 0 < cycle["commits"] < 1, "seven clients share their commits"


@pytest.mark.parametrize("kind", [Flips, VisibleAt, Apart])
def test_the_layouts_that_are_compared_do_the_same(kind: type[Layout], tmp_path: Path) -> None:
    layout = kind(tmp_path / "file")
    layout.begin()
    for now in (1, 2, 3):
        layout.send(now, b"content")
    assert [layout.receive(4, hidden=1), layout.receive(4, hidden=100)] == [1, 2]
    assert layout.counts(4) == (1, 2)
    layout.come_back(5)
    assert layout.counts(5) == (2, 1)
    layout.delete(2)
    assert layout.counts(5) == (2, 0)
    assert [layout.receive(5), layout.receive(5)] == [3, 1], "what comes back goes to the back"
    layout.commit()
