"""Every mode for a moment, at tiny sizes, against a real server; and what is read of the server meanwhile."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.bench.modes import MODES, measured
from penstock.bench.results import Point
from penstock.bench.session import Session
from penstock.bench.target import Target, at
from penstock.bench.watch import Watch, pid_listening_on
from server_process import Server

TINY = {
    "backlog": (0, 50, 120),
    "queues": (1, 20),
    "inflight": (0, 30),
    "connections": (1, 5),
}
SEND, RECEIVE, DELETE = ({f"{verb}Message"} for verb in ("Send", "Receive", "Delete"))
BATCHES = {"SendMessageBatch", "ReceiveMessage", "DeleteMessageBatch"}
ACTIONS = {"cycle10": BATCHES, "backlog": BATCHES, "longpoll": SEND | RECEIVE | DELETE | {"send to reply"}}


def target_of(server: Server) -> Target:
    return replace(at(server.url), access_key=server.access_key, secret_key=server.secret_key, region=server.region)


def points_of(server: Server, mode: str, target: Target | None = None) -> list[Point]:
    options = replace(
        MODES[mode].options(seconds=0.3), connections=4, size=64, warmup=0.05, steps=TINY.get(mode, ()), groups=10
    )
    watch = Watch(server.process.pid, server.data)
    return list(measured(mode, target or target_of(server), options, watch))


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_measures_and_finds_no_fault(mode: str, server: Server) -> None:
    points = points_of(server, mode)
    assert [point.at for point in points] == list(TINY.get(mode, (None,)))
    for point in points:
        assert point.mode == mode
        assert point.messages > 0
        assert point.violations == 0, point.problems
        assert point.latencies.keys() == ACTIONS.get(mode, SEND | RECEIVE | DELETE)
        assert all(0 < one.p50 <= one.p95 <= one.p99 <= one.max for one in point.latencies.values())
        assert point.cpu_per_1000 is not None
        assert point.peak_bytes is not None
        assert point.peak_bytes > 10 << 20


def test_no_queue_is_left_behind(server: Server) -> None:
    points_of(server, "queues")
    assert server.client().list_queues(QueueNamePrefix="bench-").get("QueueUrls", []) == []


@pytest.mark.parametrize("mode", ["cycle", "cycle10", "fifo", "backlog"])
def test_a_mode_speaks_query_too(mode: str, server: Server) -> None:
    for point in points_of(server, mode, replace(target_of(server), protocol="query")):
        assert point.messages > 0
        assert point.violations == 0


def test_a_body_of_one_mebibyte_goes_through(server: Server) -> None:
    options = replace(MODES["large"].options(seconds=2.0), connections=2, warmup=0.0)
    (point,) = measured("large", target_of(server), options, Watch(None))
    assert point.size == 1 << 20
    assert point.messages > 0
    assert point.violations == 0
    assert point.cpu_per_1000 is None


def test_the_process_behind_a_port_is_found(server: Server) -> None:
    port = int(re.findall(r":(\d+)", server.url)[-1])
    assert pid_listening_on(port) == server.process.pid
    assert pid_listening_on(1) is None


def test_what_a_process_uses_is_read(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "file").write_bytes(os.urandom(1 << 16))
    watch = Watch(os.getpid(), tmp_path)
    cpu, peak, disk = watch.cpu_seconds(), watch.peak_bytes(), watch.disk_bytes()
    assert cpu is not None
    assert cpu > 0
    assert peak is not None
    assert peak > 1 << 20
    assert disk is not None
    assert disk >= 1 << 16
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "segment").write_bytes(os.urandom(1 << 18))
    assert watch.stored_bytes() == disk


def test_a_thousandth_of_a_second_of_processor_time_is_seen() -> None:
    watch = Watch(os.getpid())
    before, started = watch.cpu_seconds(), time.process_time()
    while (had := time.process_time() - started) < 0.001:
        pass
    after = watch.cpu_seconds()
    assert before is not None
    assert after is not None
    assert after - before >= had


def test_who_still_works_is_waited_for_and_who_never_ends_is_not() -> None:
    spins = "import time\nwhile time.process_time() < {}: pass\ntime.sleep(60)"
    for seconds, patience, least in ((1, 60, 1), (60, 0.5, 0)):
        with subprocess.Popen([sys.executable, "-c", spins.format(seconds)]) as busy:
            watch = Watch(busy.pid)
            while (watch.cpu_seconds() or 0) < 0.2:
                time.sleep(0.01)
            watch.settle(patience)
            assert least <= (watch.cpu_seconds() or 0) < 60
            busy.kill()


def test_a_journal_that_was_made_smaller_does_not_count_against_what_is_stored(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    journal, store = tmp_path / "journal" / "segment", tmp_path / "store"
    journal.write_bytes(bytes(1 << 22))
    session = Session(Target("127.0.0.1", 1), "backlog", MODES["backlog"].options(1.0), Watch(None, tmp_path))
    store.write_bytes(bytes(1 << 22))
    journal.write_bytes(b"")
    assert session._disk_per_message(None, 0, stored=1 << 14) == pytest.approx(256, rel=0.1)


def test_a_process_that_has_gone_used_nothing() -> None:
    gone = Watch(2**22 + 1)
    assert (gone.cpu_seconds(), gone.peak_bytes(), gone.disk_bytes()) == (0, 0, None)
