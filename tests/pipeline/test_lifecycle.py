"""The job `lifecycle`: what it writes, what it remembers, and that a kill between the two changes nothing."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.cli import parser_of
from penstock.cli.pipeline import asked
from penstock.pipeline.ask import Ask
from penstock.pipeline.events import JournalError
from penstock.pipeline.jobs.lifecycle import Recorder, run
from penstock.pipeline.schemas import JOURNAL, LIFECYCLE, LIFECYCLE_OPEN
from penstock.pipeline.tables import Batch, Table, open_table

from .journals import Journal, Line, line
from .play import DAY, arn

QUERY = "0123456789abcdef"


class Tables:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.ended = open_table(spark, str(folder), LIFECYCLE)
        self.memory = open_table(spark, str(folder), LIFECYCLE_OPEN)

    def write(self, number: int, lines: Sequence[Line], memory: Table | None = None) -> int | None:
        recorder = Recorder(self.ended, memory or self.memory, give_up_days=15)
        return recorder.write(self.spark.createDataFrame(lines, JOURNAL), Batch(QUERY, number))

    def ids(self, table: Table) -> list[str]:
        return sorted(row.message_id for row in table.read().select("message_id").collect())

    def files(self, day: str) -> set[str]:
        return {file.name for file in self.folder.glob(f"lifecycle_open/date={day}/*.parquet")}


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    return Tables(spark, tmp_path)


def sent(seq: int, name: str, days: int = 0, **fields: Any) -> Line:
    return line(seq, after_ms=days * DAY, message_id=name, **fields)


def deleted(seq: int, name: str, days: int = 0) -> Line:
    return line(seq, "DELETED", days * DAY, message_id=name, receive_count=1, duration_ms=1)


class Killed(Exception):
    pass


class KilledAtReplace:
    """A table whose writer dies as it is about to commit."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def replace(self, rows: DataFrame, batch: Batch, dates: Sequence[str] | None = None) -> int | None:
        raise Killed


def test_a_batch_killed_between_its_two_tables_is_done_again_without_a_row_twice(tables: Tables) -> None:
    tables.write(0, [sent(1, "a"), sent(2, "b")])
    second = [deleted(3, "a"), sent(4, "c"), deleted(5, "c"), sent(6, "d")]
    with pytest.raises(Killed):
        tables.write(1, second, KilledAtReplace(tables.memory))  # type: ignore[arg-type]
    assert (tables.ids(tables.ended), tables.ids(tables.memory)) == (["a", "c"], ["a", "b"])
    assert tables.write(1, second) == 0
    assert (tables.ids(tables.ended), tables.ids(tables.memory)) == (["a", "c"], ["b", "d"])
    assert tables.write(1, second) is None


def test_what_is_remembered_does_not_grow_with_what_went_through(tables: Tables) -> None:
    each = 500
    held, went = [], 0
    for number in range(4):
        before = [deleted(seq, f"m{number - 1}-{seq}", number) for seq in range(each)] if number else []
        went += (
            tables.write(number, [*before, *(sent(each + seq, f"m{number}-{seq}", number) for seq in range(each))]) or 0
        )
        held.append(tables.memory.read().count())
    assert held == [each] * 4
    assert went == 3 * each
    days = {path.name for path in tables.folder.glob("lifecycle_open/date=*") if any(path.glob("*.parquet"))}
    assert days == {"date=2026-11-19"}


def test_a_backlog_of_another_day_is_not_written_again(tables: Tables) -> None:
    tables.write(0, [sent(1, "old"), sent(2, "older still", queue="mail")])
    backlog = tables.files("2026-11-16")
    tables.write(1, [sent(3, "new", 1)])
    assert tables.files("2026-11-16") == backlog != set()
    tables.write(2, [line(4, "PURGED", DAY, queue="mail", count=1), deleted(5, "new", 1)])
    assert (tables.ids(tables.ended), tables.ids(tables.memory)) == (["new", "older still"], ["old"])


def test_a_backlog_that_is_given_up_leaves_the_memory(tables: Tables) -> None:
    tables.write(0, [sent(1, "lost")])
    tables.write(1, [sent(2, "new", 16)])
    assert (tables.ids(tables.ended), tables.ids(tables.memory)) == (["lost"], ["new"])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


@pytest.fixture
def ask(journal: Journal, tmp_path: Path) -> Ask:
    words = ["lifecycle", "--journal", str(journal.folder), "--out", str(tmp_path / "tables"), "--once"]
    return asked(parser_of("pipeline").parse_args([*words, "--segments-at-once", "1"]))


def test_the_job_follows_a_journal_and_goes_on_where_it_was(spark: SparkSession, journal: Journal, ask: Ask) -> None:
    journal.publish(sent(1, "a"), sent(2, "b"), line(3, "GAUGE", count=2))
    assert run(spark, ask) == 0
    dead = {"receive_count": 1, "duration_ms": 9, "endpoint": arn("dead"), "reason": "maxReceiveCount"}
    journal.publish(line(4, "DEAD_LETTERED", 9, message_id="a", **dead), deleted(5, "b"))
    assert run(spark, ask) == 0
    ended = open_table(spark, ask.out, LIFECYCLE).read().select("message_id", "outcome").collect()
    assert sorted(map(tuple, ended)) == [("a", "DEAD_LETTERED"), ("b", "DELETED")]
    opened = open_table(spark, ask.out, LIFECYCLE_OPEN).read().where(F.col("queue") == "dead")
    assert [row.message_id for row in opened.collect()] == ["a"]


def test_segments_out_of_their_order_stop_the_job(spark: SparkSession, journal: Journal, ask: Ask) -> None:
    first, second = journal.publish(sent(1, "a")), journal.publish(deleted(2, "a"))
    for file, at in ((second, 1_000), (first, 2_000)):
        os.utime(file, (at, at))
    with pytest.raises(JournalError, match=r"event 1 of node .* comes after event 2: the files' times of change"):
        run(spark, ask)
