"""The master key: a server that lacks it says so and touches nothing, and it can be replaced, whoever is killed."""

import base64
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from operating import Start, kill, refusal, run

from server_process import Server, clean_environment

OLD, NEW = (base64.b64encode(letter * 32).decode() for letter in (b"o", b"n"))
ROTATE = """
import asyncio, os, signal, sys
from pathlib import Path
from penstock import config, registry
from penstock.rotation import rotation

async def rotate(steps):
    settings = config.load({"data": "data"}, {}).settings
    store = registry.load(registry.STORES["sqlite"])(settings.store)
    await store.open()
    done = rotation(settings, store, forget=True)
    for _ in range(steps):
        print(await anext(done), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(rotate(int(sys.argv[1])))
"""
STEPS = 5


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a server that made its own root key and holds messages, killed."""
    folder = tmp_path_factory.mktemp("template")
    server = Server(folder, {"PENSTOCK_ROOT_ACCESS_KEY": "", "PENSTOCK_ROOT_SECRET_KEY": ""})
    server.start()
    as_root(server).create_queue(QueueName="orders")
    as_root(server).send_message(QueueUrl="orders", MessageBody="precious")
    kill(server)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template / "data", tmp_path / "data")
    return tmp_path


def as_root(server: Server) -> Any:
    """With the key that the server made."""
    words = dict(line.split(" = ") for line in (server.data / "credentials").read_text().splitlines()[1:])
    server.access_key, server.secret_key = words["aws_access_key_id"], words["aws_secret_access_key"]
    return server.client()


def check(folder: Path, **settings: str) -> None:
    """A server has everything that it had: its root key, and what was sent."""
    kept = {"PENSTOCK_ROOT_ACCESS_KEY": "", "PENSTOCK_ROOT_SECRET_KEY": ""}
    server = Server(folder, kept | {f"PENSTOCK_{name.upper()}": value for name, value in settings.items()})
    server.start()
    (message,) = as_root(server).receive_message(QueueUrl="orders", VisibilityTimeout=0)["Messages"]
    assert server.stop() == 0
    assert message["Body"] == "precious"


def keys(folder: Path) -> list[str]:
    return (folder / "data" / "master.key").read_text().split()


def names(folder: Path, **settings: str) -> list[str]:
    done = run(folder, "master-key", "list", **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_server_without_its_master_key_says_so_in_one_line_and_makes_no_other(folder: Path) -> None:
    key = folder / "data" / "master.key"
    aside = key.rename(folder / "elsewhere")
    (line,) = refusal(folder)
    assert "there is no data/master.key" in line
    assert not key.exists()
    aside.rename(key)
    check(folder)


def test_a_blank_master_key_is_refused_and_no_other_is_made_in_its_place(tmp_path: Path) -> None:
    (line,) = refusal(tmp_path, master_key=" ")
    assert "master_key" in line
    assert "give 32 bytes in base64" in line
    assert not (tmp_path / "data").exists()


def test_a_server_with_another_master_key_says_so_in_one_line_and_sets_nothing_aside(folder: Path) -> None:
    (line,) = refusal(folder, master_key=NEW)
    assert "is not the one that the store was written with" in line
    assert NEW not in line
    check(folder)


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, False), (0o644, True)])
def test_a_master_key_that_everybody_can_read_is_told_of_at_the_start(folder: Path, mode: int, warned: bool) -> None:
    (folder / "data" / "master.key").chmod(mode)
    check(folder)
    assert ("everybody on this machine can read the master key" in (folder / "stderr").read_text()) is warned


def test_a_rotation_leaves_everything_readable_and_the_old_key_in_the_file(folder: Path) -> None:
    (before,) = keys(folder)
    done = run(folder, "master-key", "rotate")
    assert (done.returncode, done.stderr) == (0, "")
    new, old = keys(folder)
    assert old == before
    assert new not in done.stdout
    assert before not in done.stdout
    assert stat.S_IMODE((folder / "data" / "master.key").stat().st_mode) == 0o600
    in_force, older = names(folder)
    assert in_force.endswith("in force")
    assert older.endswith("older: opens what it sealed")
    check(folder)


def test_after_a_rotation_nothing_needs_the_old_key(folder: Path) -> None:
    (before,) = keys(folder)
    done = run(folder, "master-key", "rotate", "--forget")
    assert (done.returncode, done.stderr) == (0, "")
    (after,) = keys(folder)
    assert after != before
    check(folder)


@pytest.mark.parametrize("steps", range(STEPS + 1))
def test_a_rotation_that_is_killed_leaves_everything_readable_and_can_be_finished(folder: Path, steps: int) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", ROTATE, str(steps)],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr.decode()
    assert len(killed.stdout.splitlines()) == steps
    there = keys(folder)
    assert len(there) == (2 if 0 < steps < STEPS else 1)
    check(folder)
    done = run(folder, "master-key", "rotate", "--forget")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(keys(folder)) == 1
    if 0 < steps < STEPS - 1:
        assert keys(folder) == there[:1], "an unfinished rotation is finished with the key that it made"
    check(folder)


def test_an_unfinished_rotation_shows_in_the_list(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", ROTATE, "1"], cwd=folder, env=clean_environment(), check=False)
    *_, told = names(folder)
    assert "`penstock master-key rotate` seals it anew" in told


def test_of_two_keys_in_the_environment_the_first_seals_and_both_open(start: Start, tmp_path: Path) -> None:
    server = start(master_key=OLD, root_access_key="", root_secret_key="")
    as_root(server).create_queue(QueueName="orders")
    as_root(server).send_message(QueueUrl="orders", MessageBody="precious")
    assert server.stop() == 0
    assert not (tmp_path / "data" / "master.key").exists()
    check(tmp_path, master_key=f"{NEW} {OLD}")
    (refused,) = refusal(tmp_path, master_key=NEW)
    assert "is not the one that the store was written with" in refused
    done = run(tmp_path, "master-key", "rotate", master_key=f"{NEW} {OLD}")
    assert (done.returncode, done.stderr) == (0, "")
    check(tmp_path, master_key=NEW)
    again = run(tmp_path, "master-key", "rotate", master_key=NEW)
    assert again.returncode == 1
    assert "put the new one before it" in again.stderr


@pytest.mark.parametrize(
    ("spoil", "words", "expected"),
    [
        (lambda data: (data / "master.key").unlink(), ("list",), "there is no data/master.key"),
        (lambda data: (data / "master.key").unlink(), ("rotate",), "there is no data/master.key"),
        (lambda data: (data / "master.key").write_text("nonsense"), ("rotate",), "a master key is 32 bytes in base64"),
        (lambda data: (data / "master.key").write_bytes(b"\xff\x00" * 16), ("list",), "32 bytes in base64"),
        (lambda data: (data / "master.key").write_bytes(b"\xff\x00" * 16), ("rotate",), "32 bytes in base64"),
        (lambda data: (data / "master.key").write_text(NEW), ("rotate",), "is not the one that the store was written"),
        (lambda data: (data / "master.key").write_text(NEW), ("list",), "which is not among them"),
        (lambda data: (data / "penstock.db").unlink(), ("rotate",), "there is no database at data/penstock.db"),
        (lambda data: None, ("rotate", "--store", "memory://"), "is not the embedded store"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_nothing_is_changed(
    folder: Path, spoil: Any, words: tuple[str, ...], expected: str
) -> None:
    spoil(folder / "data")
    key = folder / "data" / "master.key"
    before = key.read_bytes() if key.exists() else b""
    done = run(folder, "master-key", *words)
    assert done.returncode == 1
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert (key.read_bytes() if key.exists() else b"") == before


def test_nothing_is_rotated_under_a_running_server(start: Start, tmp_path: Path) -> None:
    start()
    before = keys(tmp_path)
    done = run(tmp_path, "master-key", "rotate")
    assert done.returncode == 1
    assert "in use" in done.stderr
    assert keys(tmp_path) == before
    assert len(names(tmp_path)) == 1
