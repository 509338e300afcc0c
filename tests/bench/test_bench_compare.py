"""The comparison as a program: ours beside peers that cannot be had, that lie, or that are too slow."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import compare
import psutil
import pytest
import readme
from lying_server import Liar, Loses, serving
from peers import Peer, PeerUnavailable

from penstock.bench.report import comparison
from penstock.bench.results import Results, Server
from penstock.bench.target import Target, at
from penstock.bench.watch import Watch
from server_process import clean_environment

SUITE = replace(
    compare.QUICK,
    starts=((compare.Item("cycle", 1), compare.Item("fifo", 1)),),
    seconds=0.2,
    warmup=0.0,
    most_warming_seconds=0.0,
)


def refused(cache: Path) -> None:
    raise PeerUnavailable("java is not installed")


NOWHERE = Peer("nowhere", "Nowhere", False, False, install=refused, start=None)  # type: ignore[arg-type]


def measured(server: Server, suite: compare.Suite = SUITE) -> Server:
    for items in suite.starts:
        compare.measure(server, items, suite, lambda line: None)
    return server


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> type[Loses]:
    """Whatever is asked for, a server that loses a message is started."""

    @contextmanager
    def running(name: str) -> Iterator[tuple[Target, Watch]]:
        with serving(Loses()) as url:
            yield at(url), Watch(None)

    monkeypatch.setattr(compare, "_running", running)
    return Loses


def test_a_peer_that_cannot_be_had_stands_in_the_table_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(compare.PEERS, "nowhere", NOWHERE)
    monkeypatch.setattr(compare, "CACHE", tmp_path)
    nowhere = Server("nowhere", "Nowhere")
    compare.install([nowhere], lambda line: None)
    assert nowhere.reasons == {"": "java is not installed"}
    rows = comparison(Results("", {}, [nowhere]), ("cycle", 1, None))
    assert rows == [("Nowhere", "", "", "", "", "", "", "java is not installed")]


def test_what_a_peer_does_wrong_stands_beside_its_figure(liar: type[Liar]) -> None:
    (row,) = comparison(Results("", {}, [measured(Server("liar", "Liar"))]), ("cycle", 1, None))
    assert row[-1] == "1 lost"


def test_a_mode_that_fails_does_not_keep_the_others_from_being_measured(liar: type[Liar]) -> None:
    suite = replace(SUITE, starts=((compare.Item("backlog", 1, (0, 10)), compare.Item("cycle", 1)),))
    server = measured(Server("liar", "Liar"), suite)
    assert list(server.reasons) == ["backlog"], "it knows no batches"
    assert [point.mode for point in server.points] == ["cycle"]


def test_peers_are_spared_the_depths_that_only_ours_is_asked_for() -> None:
    (item,) = [item for items in compare.FULL.starts for item in items if item.mode == "backlog"]
    steps = {name: compare._options(Server(name, name), item, compare.FULL).steps for name in ("penstock", "goaws")}
    assert steps == {"penstock": (0, 10_000, 100_000, 1_000_000, 10_000_000), "goaws": (0, 10_000, 100_000)}


class Clock:
    """Each look takes a second."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize(
    ("speeds", "warm", "measurements"),
    [
        pytest.param([10.0] * 99, True, 4, id="none-is-faster-than-the-first"),
        pytest.param([10, 10.5, 10.5, 20, 20, 20, 20], True, 7, id="a-rest-before-it-gets-faster-is-no-end"),
        pytest.param([1.2**turn for turn in range(99)], False, 12, id="faster-and-faster"),
    ],
)
def test_a_server_is_loaded_until_it_gets_no_faster(
    monkeypatch: pytest.MonkeyPatch, speeds: list[float], warm: bool, measurements: int
) -> None:
    left = iter(speeds)
    monkeypatch.setattr(compare, "time", Clock())
    monkeypatch.setattr(compare, "measured", lambda *given: [SimpleNamespace(per_second=next(left))])
    suite = replace(compare.FULL, stalled_seconds=3, most_warming_seconds=25)
    assert compare._warm_up(at("http://127.0.0.1:1"), suite, lambda line: None) is warm
    assert len(speeds) - len(list(left)) == measurements


def test_a_peer_that_was_still_getting_faster_is_told_of(liar: type[Liar]) -> None:
    assert measured(Server("liar", "Liar", note="quiet")).note == f"quiet; {compare.COLD}"


def test_every_figure_of_the_readme_is_measured_by_both_suites() -> None:
    for suite in (compare.FULL, compare.QUICK):
        measured = {(item.mode, item.connections) for items in suite.starts for item in items}
        assert {(mode, connections) for _, (mode, connections, _) in readme.COLUMNS} <= measured


PROGRAM = f"""
import sys, pathlib
sys.path.insert(0, {str(Path(compare.__file__).parent)!r})
import compare
compare.RESULTS = pathlib.Path()
sys.exit(compare.main(sys.argv[1:]))
"""


def test_ours_alone_is_measured_by_the_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "cycle", "--quick", "--peers", "", "--seconds", "0.2"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "cycle, 64 connections" in done.stdout
    assert len(Results.read(tmp_path / "quick.json").servers[0].points) == 2


def test_a_comparison_that_is_told_to_end_takes_its_server_with_it(tmp_path: Path) -> None:
    words = [sys.executable, compare.__file__, "cycle", "--quick", "--peers", "", "--seconds", "60"]
    environment = clean_environment() | {compare.CACHE_VARIABLE: str(tmp_path)}
    running = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("run-*/data/credentials")):
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.05)
    own = psutil.Process(running.pid).children()
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 128 + signal.SIGTERM
    assert own
    assert [child for child in own if child.is_running()] == []
    assert list(tmp_path.iterdir()) == []
