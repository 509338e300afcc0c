"""`penstock journal`: in a data directory and over the network."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.stores.sqlite import SqliteStore
from server_process import Server, clean_environment

from .conftest import Run

STORE = "" if SqliteStore.capabilities.journal else "memory://"
WHERE = ["directory", "network"]


@pytest.fixture(scope="module")
def journalling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("journalling"), {"PENSTOCK_STORE": STORE})
    server.start()
    sqs = server.client()
    for name in ("orders", "mail"):
        sqs.create_queue(QueueName=name)
        for number in range(15):
            sqs.send_message(QueueUrl=name, MessageBody=str(number))
    server.client("penstock").register_journal_reader(ReaderName="spark")
    yield server
    server.stop()


def journal(penstock: Run, server: Server, where: str, *words: str) -> subprocess.CompletedProcess[str]:
    if where == "directory":
        return penstock("journal", *words, "--data", server.data)
    return penstock("journal", *words, "--endpoint-url", server.url, env=server.environment)


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("where", WHERE)
def test_tail_shows_the_last_events(penstock: Run, journalling: Server, where: str) -> None:
    found = events(journal(penstock, journalling, where, "tail", "--queue", "orders", "-n", "3", "--json"))
    assert len(found) == 3
    assert {event["queue"] for event in found} == {"orders"}
    assert len(events(journal(penstock, journalling, where, "tail", "--json"))) == 10
    line = journal(penstock, journalling, where, "tail", "--queue", "orders", "--from", "1").stdout.splitlines()[1]
    assert line.split()[2:5] == ["2", "SENT", "000000000000/orders"]


@pytest.mark.parametrize("where", WHERE)
def test_tail_from_a_number_shows_everything_since(penstock: Run, journalling: Server, where: str) -> None:
    found = events(journal(penstock, journalling, where, "tail", "--from", "5", "--json"))
    assert [event["seq"] for event in found] == list(range(5, 5 + len(found)))
    assert len(found) >= 28


@pytest.mark.parametrize("where", WHERE)
def test_tail_follows_what_comes_until_it_is_interrupted(journalling: Server, where: str) -> None:
    place = ["--data", str(journalling.data)] if where == "directory" else ["--endpoint-url", journalling.url]
    words = [
        sys.executable,
        "-m",
        "penstock",
        "journal",
        "tail",
        "--queue",
        f"new-{where}",
        "--follow",
        "--json",
        *place,
    ]
    follower = subprocess.Popen(
        words, env=clean_environment() | journalling.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        journalling.client().create_queue(QueueName=f"new-{where}")
        assert follower.stdout is not None
        os.set_blocking(follower.stdout.fileno(), True)
        assert json.loads(follower.stdout.readline())["event"] == "QUEUE_CREATED"
    finally:
        follower.send_signal(signal.SIGINT)
        said = follower.communicate(timeout=20)[1]
    assert (follower.returncode, said) == (130, b"")


@pytest.mark.parametrize("where", WHERE)
def test_segments_and_readers_are_listed(penstock: Run, journalling: Server, where: str) -> None:
    first = events(journal(penstock, journalling, where, "segments", "--json"))[0]
    assert first["first"] == 1
    assert first["name"].startswith(f"node={first['node']}/date=")
    [reader] = events(journal(penstock, journalling, where, "readers", "--json"))
    assert (reader["reader"], reader["committed"]) == ("spark", {})
    assert reader["lag"] > 30
    assert journal(penstock, journalling, where, "readers").stdout.splitlines()[1].startswith("spark ")
    assert journal(penstock, journalling, where, "segments").stdout.startswith("NODE ")


@pytest.mark.parametrize("action", ["tail", "segments", "readers", "verify"])
def test_a_place_without_a_journal_is_said_to_be_one(penstock: Run, tmp_path: Path, action: str) -> None:
    done = penstock("journal", action)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"penstock: there is no journal at {Path('data/journal')}; name the server's directory"
    )


def test_a_damaged_list_of_readers_is_said_to_be_one(penstock: Run, tmp_path: Path) -> None:
    place = tmp_path / "data" / "journal" / "_readers.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"{")
    done = penstock("journal", "readers")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "_readers.json is damaged" in done.stderr


def test_a_node_that_is_not_there_is_named(penstock: Run, journalling: Server) -> None:
    done = journal(penstock, journalling, "directory", "tail", "--node", "nobody")
    assert done.returncode == 1
    assert done.stderr.startswith("penstock: there is no node nobody in the journal; there are: ")


def test_verify_finds_a_running_server_s_journal_whole(penstock: Run, journalling: Server) -> None:
    done = penstock("journal", "verify", "--data", journalling.data)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith("all is well.\n")
    assert not list(journalling.data.glob("penstock-verify-*"))


def test_verify_names_what_is_wrong(penstock: Run, tmp_path: Path) -> None:
    server = Server(tmp_path, {"PENSTOCK_STORE": STORE, "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"})
    server.start()
    server.client().create_queue(QueueName="orders")
    deadline = time.monotonic() + 20
    while not (published := sorted(server.data.glob("journal/*/*/0*.gz"))):
        assert time.monotonic() < deadline, "no segment was published"
        time.sleep(0.05)
    server.stop()
    lines = gzip.decompress(published[0].read_bytes())
    published[0].write_bytes(gzip.compress(lines.replace(b'"seq":1', b'"seq":7')))
    done = penstock("journal", "verify", "--data", server.data)
    assert done.returncode == 1
    assert "event 1 calls itself 7 of node" in done.stdout
    assert re.search(r": \d+ problems?\.\n$", done.stdout)
