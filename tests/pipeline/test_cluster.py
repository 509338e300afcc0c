"""On a real cluster of one master and two workers: drivers and executors are killed, and every event is there once."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import session
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.tables import open_table

from .cluster import Cluster, cluster
from .drivers import Driver, moments
from .journals import Journal, line

SEGMENTS, EVENTS_EACH = 30, 400


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        session.check()
    except session.NotReady as reason:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(reason))
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made, rng = Journal(tmp_path / "journal"), random.Random(7)
    for number in range(SEGMENTS):
        first = number * EVENTS_EACH + 1
        seqs = range(first, first + EVENTS_EACH)
        made.publish(*(line(seq, after_ms=seq * 100, message_id=f"m{seq}", size=rng.randrange(1000)) for seq in seqs))
    return made


def land(journal: Journal, running: Cluster) -> Driver:
    folder = journal.folder.parent
    words = [
        "land",
        "--journal",
        str(journal.folder),
        "--out",
        str(folder / "tables"),
        "--once",
        "--segments-at-once",
        "3",
    ]
    return Driver(words, running.master, folder / "driver.log").start()


def assert_landed(spark: SparkSession, journal: Journal) -> None:
    out = journal.folder.parent / "tables"
    rows = open_table(spark, str(out), EVENTS).read().select("seq", "message_id", "size").collect()
    files = spark.read.parquet(str(out / "events")).select("seq", "message_id", "size").collect()
    rng = random.Random(7)
    expected = [(seq, f"m{seq}", rng.randrange(1000)) for seq in range(1, SEGMENTS * EVENTS_EACH + 1)]
    assert sorted(map(tuple, rows)) == sorted(map(tuple, files)) == expected


def test_a_driver_killed_at_every_kind_of_moment(running: Cluster, journal: Journal, spark: SparkSession) -> None:
    tables = journal.folder.parent / "tables"
    killed = [
        name
        for name, at_start in moments(tables / "events", tables / "_checkpoints" / "land").items()
        if land(journal, running).kill_when(at_start())
    ]
    assert killed == ["planned", "being written", "moved", "committed", "remembered"]
    last = land(journal, running)
    assert last.end() == 0, last.said()
    assert_landed(spark, journal)


def test_an_executor_killed_in_the_middle_of_a_batch(running: Cluster, journal: Journal, spark: SparkSession) -> None:
    tables = journal.folder.parent / "tables"
    driver = land(journal, running)
    writing = moments(tables / "events", tables / "_checkpoints" / "land")["being written"]()
    killed = 0
    while driver.process.poll() is None and killed < 2:
        if writing() and (executors := running.executors()):
            executors[0].kill()
            killed += 1
            writing = moments(tables / "events", tables / "_checkpoints" / "land")["being written"]()
    assert killed == 2
    assert driver.end() == 0, driver.said()
    assert_landed(spark, journal)
    batches = [json.loads(said) for said in driver.said().splitlines() if said.startswith('{"event": "batch"')]
    assert sum(batch["rows"] for batch in batches) == SEGMENTS * EVENTS_EACH
