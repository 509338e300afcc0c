"""On a real cluster of one master and two workers: drivers and executors are killed, and every event is there once."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.jobs import drain, lifecycle, metrics
from penstock.pipeline.schemas import EVENTS, LIFECYCLE, QUEUE_METRICS, Schema
from penstock.pipeline.tables import open_table
from server_process import Server

from .cluster import Cluster, cluster
from .drivers import END_SECONDS, LOOK_SECONDS, Driver, moments
from .jobs_asked import asked
from .journals import Journal, Line, line
from .queue.conftest import TestQueue

SEGMENTS, EVENTS_EACH = 30, 400
MESSAGES = 3000


@pytest.fixture(scope="module")
def running(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made, rng = Journal(tmp_path / "journal"), random.Random(7)
    for number in range(SEGMENTS):
        first = number * EVENTS_EACH + 1
        seqs = range(first, first + EVENTS_EACH)
        made.publish(*(event(seq, rng.randrange(1000)) for seq in seqs))
    return made


def event(seq: int, size: int) -> Line:
    """Three events a message: sent, received, deleted."""
    kind = ("SENT", "RECEIVED", "DELETED")[seq % 3]
    about = {"message_id": f"m{seq // 3}", "size": size, "duration_ms": size}
    return line(seq, kind, after_ms=seq * 100, **about, **({} if kind == "SENT" else {"receive_count": 1}))


def started(journal: Journal, running: Cluster, job: str = "land", at_once: int = 8) -> Driver:
    folder = journal.folder.parent
    words = [
        job,
        "--journal",
        str(journal.folder),
        "--out",
        str(folder / "tables"),
        "--once",
        "--segments-at-once",
        str(at_once),
    ]
    return Driver(words, running.master, folder / "driver.log").start()


def assert_landed(spark: SparkSession, journal: Journal) -> None:
    out = journal.folder.parent / "tables"
    rows = open_table(spark, str(out), EVENTS).read().select("seq", "message_id", "size").collect()
    files = spark.read.parquet(str(out / "events")).select("seq", "message_id", "size").collect()
    rng = random.Random(7)
    expected = [(seq, f"m{seq // 3}", rng.randrange(1000)) for seq in range(1, SEGMENTS * EVENTS_EACH + 1)]
    assert sorted(map(tuple, rows)) == sorted(map(tuple, files)) == expected


def test_a_driver_killed_at_every_kind_of_moment(running: Cluster, journal: Journal, spark: SparkSession) -> None:
    tables = journal.folder.parent / "tables"
    killed = [
        name
        for name, at_start in moments(tables / "events", tables / "_checkpoints" / "land").items()
        if started(journal, running).kill_when(at_start())
    ]
    assert killed == ["planned", "being written", "moved", "committed", "remembered"]
    last = started(journal, running)
    assert last.end() == 0, last.said()
    assert_landed(spark, journal)


def test_an_executor_killed_in_the_middle_of_a_batch(running: Cluster, journal: Journal, spark: SparkSession) -> None:
    tables = journal.folder.parent / "tables"
    driver = started(journal, running)
    writing = moments(tables / "events", tables / "_checkpoints" / "land")["being written"]()
    killed = 0
    try:
        while driver.process.poll() is None and killed < 2:
            if writing() and (executors := running.executors()):
                executors[0].kill()
                killed += 1
                writing = moments(tables / "events", tables / "_checkpoints" / "land")["being written"]()
            time.sleep(LOOK_SECONDS)
        assert killed == 2
        assert driver.end() == 0, driver.said()
    finally:
        driver.kill()
    assert_landed(spark, journal)
    batches = [json.loads(said) for said in driver.said().splitlines() if said.startswith('{"event": "batch"')]
    assert sum(batch["rows"] for batch in batches) == SEGMENTS * EVENTS_EACH


@pytest.mark.parametrize(
    ("job", "table"), [(metrics, QUEUE_METRICS), (lifecycle, LIFECYCLE)], ids=["metrics", "lifecycle"]
)
def test_jobs_with_state_end_as_if_nobody_had_killed_them(
    job: Any, table: Schema, running: Cluster, journal: Journal, spark: SparkSession, tmp_path: Path
) -> None:
    name = job.__name__.rpartition(".")[2]
    tables = journal.folder.parent / "tables"
    kinds = moments(tables / table.name, tables / "_checkpoints" / name)
    killed = [
        moment
        for moment in ("being written", "committed")
        if started(journal, running, name, 10).kill_when(kinds[moment]())
    ]
    assert killed == ["being written", "committed"]
    last = started(journal, running, name, 10)
    assert last.end() == 0, last.said()
    job.run(spark, asked(name, "--journal", str(journal.folder), "--out", str(tmp_path / "calm"), "--once"))
    calm, stormy = (
        sorted(map(str, open_table(spark, str(out), table).read().collect())) for out in (tmp_path / "calm", tables)
    )
    assert calm == stormy
    assert len(calm) > 20


def draining(running: Cluster, server: Server, queue: TestQueue, folder: Path) -> Driver:
    keys = {"AWS_ACCESS_KEY_ID": server.access_key, "AWS_SECRET_ACCESS_KEY": server.secret_key}
    words = ["drain", "--queue", queue.url, "--out", str(folder / "tables"), "--every", "100 milliseconds"]
    words += ["--batch", "1000", "--partitions", "2", "--visibility-timeout", "10"]
    words += [f"--conf=spark.executorEnv.{name}={value}" for name, value in keys.items()]
    return Driver(words, running.master, folder / "driver.log").start()


def committed(messages: Path) -> int:
    return sum(json.loads(file.read_text())["rows"] for file in messages.glob("_manifest/*.json"))


def test_an_executor_killed_as_it_receives_from_a_queue(
    running: Cluster, server: Server, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had received comes back when its window ends. What is not in the table yet is in the queue."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret_key)
    sqs, tables = server.client(), tmp_path / "tables"
    queue = TestQueue(server, sqs.create_queue(QueueName="drained-by-a-cluster")["QueueUrl"], sqs)
    queue.send(*map(str, range(MESSAGES)))
    driver, killed, left = draining(running, server, queue, tmp_path), 0, MESSAGES
    deadline = time.monotonic() + END_SECONDS
    try:
        while left:
            assert driver.process.poll() is None, driver.said()
            assert time.monotonic() < deadline, driver.said()
            receiving = tables.glob("_checkpoints/drain/staging/*/.[0-9]*.*")
            time.sleep(LOOK_SECONDS)
            if not killed and any(receiving) and (executors := running.executors()):
                executors[0].kill()
                killed += 1
            elif killed:
                left = sum(queue.counts())
                assert left + committed(tables / "messages") >= MESSAGES
    finally:
        driver.kill()
    rows = open_table(spark, str(tables), drain.MESSAGES).read().select("body").collect()
    assert sorted(int(row.body) for row in rows) == list(range(MESSAGES))
    assert killed == 1
