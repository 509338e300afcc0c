"""`land` beside a running server: it registers, so that the server keeps what it has not read, or reads over HTTP."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import land
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.sources.journal.server import Refused
from penstock.pipeline.tables import open_table
from server_process import Server

PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(
        tmp_path_factory.mktemp("source"), {"PENSTOCK_JOURNAL": "full", "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"}
    )
    server.start()
    sqs = server.client()
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    for number in range(5):
        entries = [{"Id": str(n), "MessageBody": f"{number}-{n}"} for n in range(10)]
        sqs.send_message_batch(QueueUrl=url, Entries=entries)
    yield server
    server.stop()


@pytest.fixture
def as_root(source: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in source.environment.items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)


def bodies(spark: SparkSession, out: Path) -> list[str]:
    return sorted(row.body for row in open_table(spark, str(out), EVENTS).read().where("event = 'SENT'").collect())


def reader(source: Server, name: str) -> dict[str, Any]:
    readers = source.client("penstock").list_journal_readers()["Readers"]
    return next(one for one in readers if one["ReaderName"] == name)


EXPECTED = sorted(f"{number}-{n}" for number in range(5) for n in range(10))


def test_the_journal_is_landed_over_http_up_to_its_last_event(
    source: Server, spark: SparkSession, tmp_path: Path
) -> None:
    words = ["land", "--endpoint-url", source.url, "--out", str(tmp_path), "--once", "--reader", "over-http"]
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-m", "penstock", "pipeline", *words, "--master", "local[2]"],
            env=source.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert bodies(spark, tmp_path) == EXPECTED
    (committed,) = reader(source, "over-http")["Committed"].values()
    assert committed >= 51


@pytest.mark.usefixtures("as_root")
def test_a_reader_of_the_folder_tells_the_server_how_far_it_is(
    source: Server, spark: SparkSession, tmp_path: Path
) -> None:
    journal = source.data / "journal"
    ask = Ask("land", str(journal), source.url, out=str(tmp_path), once=True, reader="by-folder")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while bodies(spark, tmp_path) != EXPECTED and time.monotonic() < deadline:
        land.run(spark, ask)
    assert bodies(spark, tmp_path) == EXPECTED
    (committed,) = reader(source, "by-folder")["Committed"].values()
    assert committed >= 51


def test_wrong_credentials_are_one_clear_line(
    source: Server, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "NOBODY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    ask = Ask("land", str(source.data / "journal"), source.url, out=str(tmp_path), once=True, reader="nobody")
    with pytest.raises(Refused, match="security token included in the request is invalid"):
        land.run(spark, ask)
