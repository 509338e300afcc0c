"""`penstock bench scale` at one hundredth of its size, end to end; and that it would have noticed."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.bench.scale import judge, phases
from penstock.bench.scale.crew import Crew
from penstock.bench.scale.operations import OPERATIONS
from penstock.bench.scale.plan import PHASES, Plan
from penstock.bench.scale.report import Cost, Histogram, ScaleReport
from penstock.bench.scale.server import ScaleServer
from penstock.bench.scale.tables import lines
from penstock.bench.target import at
from penstock.bench.watch import Watch
from server_process import Server, clean_environment

TINY = Plan(accounts=2, queues=3, messages=20, in_flight=10, storm=12, parked=5, size=64, connections=4)


def scale(folder: Path, *words: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock", "bench", "scale", *map(str, words)],
        cwd=folder,
        env=clean_environment() | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_hundredth_loses_nothing_doubles_nothing_and_keeps_the_order(tmp_path: Path) -> None:
    done = scale(tmp_path, "--scale", "0.01", "--seconds", "3", "--json", "r.json")
    assert (done.returncode, done.stderr) == (0, "")
    report = ScaleReport.read(tmp_path / "r.json")
    assert report.problems == dict.fromkeys(judge.PROBLEMS, 0)
    assert list(report.phases) == list(PHASES)
    assert report.counts["sent"] >= 100_000
    assert report.counts["received"] >= 50_000
    assert report.counts["made visible again"] >= 5_000 + report.figures["storm messages"]
    assert report.figures["storm messages"] >= 4_000
    assert list(report.empty) == list(report.loaded) == list(OPERATIONS)
    assert all(cost.count and cost.cpu_us for cost in report.loaded.values())
    assert report.whole().count == sum(report.whole().coarse) + report.whole().above
    assert {limit.figure for limit in judge.LIMITS} <= set(report.figures)
    assert "Must hold" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"r.json"}


def test_at_an_endpoint_it_leaves_out_what_needs_its_own_server_and_leaves_nothing_behind(
    server: Server, tmp_path: Path
) -> None:
    def queues() -> list[str]:
        return list(server.client().list_queues(QueueNamePrefix="scale-").get("QueueUrls", []))

    before = queues()
    words = ("--accounts", 2, "--queues", 3, "--messages", 20, "--in-flight", 10, "--storm", 12, "--seconds", 0.1)
    done = scale(tmp_path, *map(str, words), "--endpoint", server.url, env=server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "kill: left out: it needs a server of its own" in done.stdout
    assert "the empty stores beside it left out: they need servers of their own" in done.stdout
    assert queues() == before


def crew_at(server: Server) -> tuple[Crew, ScaleReport]:
    target = replace(at(server.url), region=server.region)
    keys = [(server.access_key, server.secret_key)]
    crew = Crew(TINY, ScaleServer(target, keys, Watch(None)), lambda line: None)
    report = ScaleReport("", {}, {}, problems=dict.fromkeys(judge.PROBLEMS, 0))
    phases.load(crew, report)
    return crew, report


def test_it_notices_a_queue_that_has_lost_its_messages(server: Server) -> None:
    crew, report = crew_at(server)
    try:
        assert phases.count(crew, report) == 0
        assert report.problems["lost"] == 0
        server.client().purge_queue(QueueUrl=crew.places[3].url)
        assert phases.count(crew, report) == 1
        assert (report.problems["lost"], report.problems["visible too early"]) == (20, 10)
    finally:
        phases.tidy(crew)


def test_it_notices_a_message_that_a_drain_does_not_find(server: Server) -> None:
    crew, _ = crew_at(server)
    try:
        place = crew.places[1]
        (message,) = server.client().receive_message(QueueUrl=place.url)["Messages"]
        server.client().delete_message(QueueUrl=place.url, ReceiptHandle=message["ReceiptHandle"])
        assert crew.drain(crew.places, "draining") == 1
    finally:
        phases.tidy(crew)


def test_a_broken_promise_always_fails_and_a_missed_time_only_when_strict() -> None:
    report = ScaleReport("", {}, {}, problems=dict.fromkeys(judge.PROBLEMS, 0), figures={"ready again s": 11.0})
    report.empty = {"SendMessage": Cost(1, 1.0, 1.0, 1.0, 100.0)}
    report.loaded = {"SendMessage": Cost(1, 1.0, 1.0, 1.0, 131.0)}
    report.requirements = list(judge.judged(report))
    missed = [row.what for row in report.requirements if not row.ok]
    assert missed == ["SendMessage: processor time to that on an empty store", "ready again after kill -9"]
    assert (report.failed(strict=False), report.failed(strict=True)) == (False, True)
    report.problems["duplicates"] = 1
    report.requirements = list(judge.judged(report))
    assert report.failed(strict=False)
    assert any(line.split() == ["duplicates", "0", "1", "NOT"] for line in lines(report))


def test_response_times_are_counted_in_buckets_of_10_and_of_100_ms() -> None:
    histogram = Histogram()
    histogram.add([0.0, 0.0099, 0.010, 0.0999, 0.1, 0.501, 2.0])
    assert histogram.fine == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert histogram.coarse == [4, 1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert (histogram.above, histogram.slow, histogram.count, histogram.max_ms) == (1, 2, 7, 2000.0)


def test_a_share_has_so_many_queues_and_what_needs_a_load_has_one() -> None:
    plan = Plan().scaled(0.01).of_phases({"storm", "parked"})
    assert (plan.accounts, plan.queues, plan.every_message, plan.storm, plan.parked) == (10, 10, 100_000, 5_000, 50)
    assert plan.phases == ("load", "storm", "parked")
    assert (plan.few_queues().every_queue, replace(plan, accounts=3).few_queues().every_queue) == (20, 21)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--phases", "load,sleep"), "there is no phase 'sleep'; there are load, hold"),
        (("--in-flight", "20", "--messages", "10"), "--in-flight 20 is more than --messages 10"),
        (("--scale", "0"), "give a number above 0, such as 0.01"),
        (("cycle",), "scale is a run of its own: name no other mode beside it"),
        (("--protocol", "query"), "scale signs its requests and speaks JSON only"),
        (("--endpoint", "http://127.0.0.1:9", "--keys", "none"), "cannot read none: No such file or directory"),
        (("--endpoint", "http://127.0.0.1:9"), "cannot reach http://127.0.0.1:9: connection refused"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    done = scale(tmp_path, *words)
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
