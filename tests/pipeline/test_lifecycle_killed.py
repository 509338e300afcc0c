"""Drivers of the job `lifecycle`, killed where it matters: the rows are those of reading the journal by hand."""

import os
import random
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.pipeline.schemas import LIFECYCLE, LIFECYCLE_OPEN
from penstock.pipeline.tables import open_table

from . import stays_by_hand
from .drivers import Driver, moments
from .journals import Journal
from .play import Play

SEGMENTS = 3
KILLS = (
    ("lifecycle", "committed"),
    ("lifecycle_open", "moved"),
)


def test_kills_between_and_within_the_two_tables_change_no_row(spark: SparkSession, tmp_path: Path) -> None:
    journal, out = Journal(tmp_path / "journal"), tmp_path / "tables"
    lines = Play(random.Random(11)).go(80 * SEGMENTS)
    for at in range(0, len(lines), 80):
        file = journal.publish(*lines[at : at + 80])
        os.utime(file, (1_000 + at, 1_000 + at))  # Spark goes by these, in milliseconds, and the test publishes faster
    words = ["lifecycle", "--journal", str(journal.folder), "--out", str(out), "--once", "--segments-at-once", "1"]
    for table, moment in KILLS:
        when = moments(out / table, out / "_checkpoints" / "lifecycle")[moment]()
        driver = Driver(words, "local[2]", tmp_path / "driver.log").start()
        assert driver.kill_when(when), driver.said()
    driver = Driver(words, "local[2]", tmp_path / "driver.log").start()
    assert driver.end() == 0, driver.said()
    ended, opened = stays_by_hand.stays(lines)
    rows = open_table(spark, str(out), LIFECYCLE).read().collect()
    names = LIFECYCLE.all.names
    assert sorted(tuple(map(str, row)) for row in rows) == sorted(
        tuple(str(row[name]) for name in names) for row in ended
    )
    memory = open_table(spark, str(out), LIFECYCLE_OPEN).read().collect()
    assert {(row["arn"], row["message_id"]) for row in memory} == opened.keys()
