"""The two commands, as far as they can be tried without making anything; and the locks they go by."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = [
    *(ROOT / name for name in ("requirements.txt", "requirements-build.txt", "requirements-dev.txt")),
    *sorted((ROOT / "tests" / "sdk").glob("requirements-*.txt")),
]

THERE = {"java": "", "curl": "", "node": "", "npm": ""}
"""Programs that are installed already."""


def make(*words: str, path: str = os.environ["PATH"], directory: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | {"PATH": path}
    command = [shutil.which("make") or "make", *words]
    return subprocess.run(command, cwd=directory, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout in which nothing has been made."""
    for file in (ROOT / "Makefile", *ROOT.glob("requirements*.txt")):
        shutil.copy(file, tmp_path)
    shutil.copytree(ROOT / "tests" / "sdk", tmp_path / "tests" / "sdk", ignore=shutil.ignore_patterns("*.py"))
    return tmp_path


def with_only(folder: Path, **scripts: str) -> str:
    """A PATH with what make itself needs, and these scripts."""
    folder.mkdir()
    for tool in ("sh", "cat", "cut", "sha256sum", "awk"):
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_plain_make_prints_help() -> None:
    done = make()
    assert done.returncode == 0
    targets = re.findall(r"^  make ([a-z-]+)", done.stdout, re.MULTILINE)
    assert {"run", "test", "check", "stubs", "docs", "bench", "pipeline", "clean"} <= set(targets)


@pytest.mark.parametrize("target", ["run", "test", "check", "sdk-envs"])
def test_a_machine_without_a_new_enough_python_is_told_so_in_one_line(fresh: Path, target: str) -> None:
    path = with_only(fresh / "bin", python3="exit 1")
    done = make(target, path=path, directory=fresh)
    assert done.returncode == 2
    assert re.fullmatch(r"Makefile:\d+: \*\*\* .* apt-get install python3 python3-venv\.  Stop\.\n", done.stderr)


def test_a_machine_that_cannot_make_environments_is_told_so_in_one_line(fresh: Path) -> None:
    path = with_only(fresh / "bin", **{"python3.12": 'case "$*" in *ensurepip*) exit 1;; esac'})
    done = make("run", path=path, directory=fresh)
    assert re.fullmatch(r"Makefile:\d+: \*\*\* python3.12 .* apt-get install python3-venv\.  Stop\.\n", done.stderr)


def test_programs_that_tests_use_are_installed_by_root(fresh: Path) -> None:
    path = with_only(fresh / "bin", id="echo 0", **THERE, **{"apt-get": 'echo "apt-get $*" >&2'})
    done = make("test-tools", path=path, directory=fresh)
    assert done.stdout == "Installing chromium…\n"
    assert done.stderr.splitlines() == ["apt-get -qq update", "apt-get -qq install -y --no-install-recommends chromium"]


def test_others_are_told_the_line_that_installs_them(fresh: Path) -> None:
    path = with_only(fresh / "bin", id="echo 1000")
    done = make("test-tools", path=path, directory=fresh)
    assert done.stdout.endswith("To have them: sudo apt-get install openjdk-17-jre-headless chromium curl nodejs npm\n")


def test_where_everything_is_there_nothing_is_said(fresh: Path) -> None:
    path = with_only(fresh / "bin", chromium="", **THERE)
    done = make("test-tools", path=path, directory=fresh)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_running_the_server_has_nothing_to_do_with_spark() -> None:
    done = make("--dry-run", "--always-make", "run")
    assert "pip" in done.stdout
    assert not {"requirements-spark.txt", "requirements-dev.txt"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "run"),
    [((), "tests/parts.py"), (("ARGS=tests/core -x",), "-m pytest tests/core -x")],
    ids=["all", "some"],
)
def test_every_part_is_run_unless_some_tests_are_asked_for(words: tuple[str, ...], run: str) -> None:
    assert make("--dry-run", "test", *words).stdout.splitlines()[-1] == f".venv/bin/python {run}"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_pins_everything_and_names_no_address(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"-r [\w.-]+|[\w.-]+==[\w.]+", line) for line in lines)


def test_the_build_machine_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()
