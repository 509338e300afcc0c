"""What every command has in common: help with an example, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from penstock import __version__, registry
from penstock.aws.contract import load
from penstock.cli import COMMANDS
from penstock.cli.actions import option
from server_process import Server

from .conftest import Run

ACTIONS = [("sqs", option(action)) for action in load("sqs").operations]


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *ACTIONS], ids=" ".join)
def test_help_carries_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.cli import main

    assert main([*words, "--help"]) == 0
    said = capsys.readouterr().out
    command = " ".join(("penstock", *words))
    assert said.startswith(f"usage: {command} ")
    assert re.search(rf"^examples:\n  {command}\b", said, re.MULTILINE)


def test_help_is_quick_because_it_does_not_load_what_it_does_not_need(penstock: Run) -> None:
    code = "import sys, penstock.cli; penstock.cli.main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"botocore", "apsw", "msgspec", "uvloop", "structlog"} & set(done.stderr.split())


@pytest.mark.parametrize("words", [("version",), ("--version",)])
def test_the_version_is_told(penstock: Run, words: tuple[str, ...]) -> None:
    without = "" if registry.native() else ", without native code"
    assert penstock(*words).stdout == f"Penstock {__version__}{without}\n"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("serf",),
        ("serve", "--lisen", "x"),
        ("serve", "--list", "x"),
        ("sqs",),
        ("sqs", "send"),
        ("peek",),
        ("backup",),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_in_one_line_and_status_2(penstock: Run, words: tuple[str, ...]) -> None:
    done = penstock(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"penstock.*--help\)\n", done.stderr)


def test_a_reader_who_leaves_early_is_not_worth_a_word(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "config"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (141, b"")


def test_ctrl_c_ends_a_command_quietly_with_status_130(server: Server) -> None:
    server.client().create_queue(QueueName="ctrl-c")
    words = ["sqs", "receive-message", "--queue-url", "ctrl-c", "--wait-time-seconds", "20"]
    command = [sys.executable, "-m", "penstock", *words]
    with subprocess.Popen(command, env=server.environment, stderr=subprocess.PIPE) as waiting:
        _connected(waiting.pid)
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=20)
    assert (waiting.returncode, said) == (130, b"")


def _connected(pid: int) -> None:
    process, deadline = psutil.Process(pid), time.monotonic() + 20
    while not process.net_connections():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_server_answers_signals_and_its_exit_status_is_0(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    assert server.stop() == 0


def test_serve_with_mistakes_names_them_all_and_starts_nothing(penstock: Run, tmp_path: Path) -> None:
    done = penstock("serve", "--auth", "maybe", env={"PENSTOCK_LISTEN": "here"})
    assert done.returncode == 1
    assert [line.split(" (")[0] for line in done.stderr.splitlines()] == [
        'penstock: listen "here"',
        'penstock: auth "maybe"',
    ]
    assert os.listdir(tmp_path) == []


def test_config_tells_each_value_and_where_it_came_from(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text('log_level = "debug"\n[[queues]]\nname = "orders"\n')
    environ = {"PENSTOCK_ROOT_ACCESS_KEY": "ROOT_ACCESS_KEY_1", "PENSTOCK_ROOT_SECRET_KEY": "not for your eyes"}
    done = penstock("config", "--listen", "[::1]:0", env=environ)
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()}
    assert lines["listen"] == ["[::1]:0", "flag --listen"]
    assert lines["log_level"] == ["debug", "penstock.toml"]
    assert lines["root_access_key"] == ["ROOT_ACCESS_KEY_1", "environment PENSTOCK_ROOT_ACCESS_KEY"]
    assert lines["root_secret_key"] == ["(hidden)", "environment PENSTOCK_ROOT_SECRET_KEY"]
    assert lines["region"] == ["us-east-1", "default"]
    assert "not for your eyes" not in done.stdout


def test_config_as_json_has_the_same_and_what_the_file_declares(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(
        '[[accounts]]\nid = "111122223333"\n'
        'keys = [{ access_key = "SHOP_ACCESS_KEY_1", secret_key = "0123456789abcdef" }]\n'
        '[[queues]]\nname = "orders"\nattributes = { DelaySeconds = 5 }\n'
    )
    done = penstock("config", "--json", "--config", "other.toml")
    report = json.loads(done.stdout)
    assert report["settings"]["max_tags"] == {"value": "50", "origin": "default"}
    assert report["accounts"] == [{"id": "111122223333", "name": "", "keys": ["SHOP_ACCESS_KEY_1"]}]
    assert report["queues"][0]["attributes"] == {"DelaySeconds": "5"}
    assert "0123456789abcdef" not in done.stdout


def test_config_with_mistakes_names_them_all(penstock: Run) -> None:
    done = penstock("config", "--region", "NO", "--max-tags", "x", "--config", "none.toml")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3
