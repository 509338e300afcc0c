"""`penstock bench` as a person uses it."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest
from lying_server import Loses, serving

from penstock.bench.modes import MODES
from server_process import Server, clean_environment

BRIEF = ("--seconds", "0.2", "--warmup", "0.05", "--connections", "2", "--size", "64")


def bench(folder: Path, *words: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock", "bench", *map(str, words)],
        cwd=folder,
        env=clean_environment() | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_an_endpoint_it_measures_a_server_of_its_own(tmp_path: Path) -> None:
    done = bench(tmp_path, "cycle", "backlog", *BRIEF, "--steps", "0,20", "--json", "r.json", "--plots", "plots")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^cycle +2 +[\d,]+ +SendMessage .* ok$", done.stdout, re.MULTILINE)
    assert "backlog.svg" in done.stdout
    (server,) = json.loads((tmp_path / "r.json").read_text())["servers"]
    assert [(point["mode"], point["at"]) for point in server["points"]] == [
        ("cycle", None),
        ("backlog", 0),
        ("backlog", 20),
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "plots"}


def test_an_endpoint_is_measured_with_the_keys_of_the_environment(server: Server, tmp_path: Path) -> None:
    done = bench(tmp_path, "fifo", *BRIEF, "--endpoint", server.url, env=server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fifo" in done.stdout


def test_the_keys_may_come_from_the_server_s_directory(tmp_path: Path) -> None:
    own = Server(tmp_path, {"PENSTOCK_ROOT_ACCESS_KEY": "", "PENSTOCK_ROOT_SECRET_KEY": ""})
    own.start()
    try:
        done = bench(tmp_path, "cycle", *BRIEF, "--endpoint", own.url, "--data", own.data)
        assert (done.returncode, done.stderr) == (0, "")
    finally:
        own.stop()


def test_an_endpoint_where_nobody_is_costs_one_line(tmp_path: Path) -> None:
    done = bench(tmp_path, "--endpoint", "http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "penstock: cannot reach http://127.0.0.1:1: connection refused\n"


def test_wrong_keys_cost_one_line_in_the_server_s_words(server: Server, tmp_path: Path) -> None:
    wrong = server.environment | {"AWS_SECRET_ACCESS_KEY": "wrong"}
    done = bench(tmp_path, "cycle", "--endpoint", server.url, env=wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"penstock: {server.url} answered 403: InvalidSignatureException: The request signature"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("nothing",), "there is no mode 'nothing'; there are cycle, "),
        (("--steps", "1,b"), "argument --steps: give whole numbers, separated by commas"),
        (("--seconds", "soon"), "argument --seconds: give a number of seconds"),
        (("--connections", "0"), "argument --connections: give a whole number, 1 or more"),
        (("--pid", "me"), "argument --pid: give a whole number, 1 or more"),
        (("--protocol", "rest"), "argument --protocol: invalid choice: 'rest'"),
    ],
)
def test_wrong_usage_is_told_in_one_line(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    done = bench(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"penstock bench: {complaint}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "http://", "http://127.0.0.1:port"])
def test_what_is_no_endpoint_is_told(url: str, tmp_path: Path) -> None:
    done = bench(tmp_path, "--endpoint", url)
    assert (done.returncode, done.stderr) == (
        1,
        f"penstock: {url} is not the URL of an endpoint: give http://HOST:PORT\n",
    )


def test_a_fault_makes_the_exit_status_one(tmp_path: Path) -> None:
    with serving(Loses()) as url:
        done = bench(tmp_path, "cycle", "--seconds", "0.2", "--warmup", "0", "--connections", "1", "--endpoint", url)
    assert done.returncode == 1
    assert re.search(r"^cycle .* 1 lost$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(("told", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_bench_that_is_told_to_end_leaves_nothing_behind(
    told: signal.Signals, status: int, server: Server, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "penstock", "bench", "cycle", "--seconds", "60", "--warmup", "0"]
    running = subprocess.Popen(words, env=clean_environment() | {"TMPDIR": str(tmp_path)}, start_new_session=True)
    visiting = subprocess.Popen([*words, "--endpoint", server.url], env=server.environment, start_new_session=True)
    sqs = server.client()
    deadline = time.monotonic() + 30
    while not (
        list(tmp_path.glob("*/cycle/data/credentials")) and sqs.list_queues(QueueNamePrefix="bench-").get("QueueUrls")
    ):
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.05)
    own = psutil.Process(running.pid).children()
    for process in (running, visiting):
        process.send_signal(told)
        assert process.wait(30) == status
    assert [child for child in own if child.is_running()] == []
    assert list(tmp_path.iterdir()) == []
    assert "QueueUrls" not in sqs.list_queues(QueueNamePrefix="bench-")


def test_help_names_every_mode(tmp_path: Path) -> None:
    said = bench(tmp_path, "--help").stdout
    assert [name for name in MODES if not re.search(rf"^  {name} +\w", said, re.MULTILINE)] == []
