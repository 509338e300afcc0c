"""`penstock demo`: what can be tried of it in less than a minute. The jobs have tests of their own."""

import json
import subprocess
import sys
from collections import Counter
from gzip import open as unzipped
from pathlib import Path

import pytest

from penstock.cli import demo, demo_traffic, main
from penstock.cli.parser import CommandError


@pytest.mark.parametrize(("now", "seconds"), [(0.0, 62), (30.0, 32), (45.0, 20), (58.0, 64)])
def test_traffic_goes_on_until_the_queues_have_been_gauged(now: float, seconds: int) -> None:
    assert demo.until_a_gauge(20, now) == seconds


def test_its_server_journals_traffic_of_every_kind(tmp_path: Path) -> None:
    with demo.server(tmp_path) as url:
        sent = demo_traffic.run(url, 6)
        demo.published(tmp_path)
    assert sent > 0
    events = Counter[str]()
    accounts = set[str]()
    for segment in sorted((tmp_path / "data" / "journal").rglob("*.jsonl.gz")):
        with unzipped(segment, "rt") as lines:
            for event in map(json.loads, lines):
                events[event["event"]] += 1
                accounts.add(event["account"])
                assert event["event"] != "SENT" or event["body"]
    assert events["SENT"] == sent
    assert {"RECEIVED", "DELETED", "DEAD_LETTERED"} <= set(events)
    assert len(accounts) == 3


def test_a_job_that_fails_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([sys.executable], 3)
    monkeypatch.setattr("subprocess.run", lambda words, check: failed)
    with pytest.raises(CommandError, match="demo: land ended with status 3"):
        demo.pipeline(tmp_path, "land")


def test_without_java_it_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("penstock.cli.demo.check", _no_java)
    assert main(["demo", "--folder", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err == "penstock: Spark needs Java 17\n"
    assert not (tmp_path / "new").exists()


def _no_java() -> None:
    from penstock.pipeline.session import NotReady

    raise NotReady("Spark needs Java 17")
