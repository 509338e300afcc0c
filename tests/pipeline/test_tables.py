"""Tables of files: what a commit is, who may write, how small files are merged."""

import json
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline import tables
from penstock.pipeline.files import LocalFiles
from penstock.pipeline.schemas import Schema, columns
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, ParquetTable, open_table

THINGS = Schema("things", 1, columns("name string, size bigint"))
MONDAY, TUESDAY = date(2026, 11, 16), date(2026, 11, 17)


class Killed(BaseException):
    """As kill -9 has it: nothing after this line."""


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> ParquetTable:
    return ParquetTable(spark, str(tmp_path / "things"), THINGS)


def rows(spark: SparkSession, *names: str, day: date = MONDAY) -> DataFrame:
    return spark.createDataFrame([(name, 1, day) for name in names], THINGS.all)


def names(table: ParquetTable) -> list[str]:
    return sorted(row.name for row in table.read().collect())


def as_files(spark: SparkSession, table: ParquetTable) -> list[str]:
    """What somebody sees who knows nothing of manifests."""
    return sorted(row.name for row in spark.read.parquet(table._files.url()).collect())


def test_a_new_table_is_empty(table: ParquetTable) -> None:
    assert table.read().schema == THINGS.all
    assert names(table) == []


def test_a_batch_is_in_the_table_once(table: ParquetTable, spark: SparkSession) -> None:
    assert table.append(rows(spark, "a", "b"), Batch("q", 0)) == 2
    assert table.append(rows(spark, "a", "b"), Batch("q", 0)) is None
    assert table.append(rows(spark, "c", day=TUESDAY), Batch("q", 1)) == 1
    assert names(table) == as_files(spark, table) == ["a", "b", "c"]
    assert {row.date for row in table.read().collect()} == {MONDAY, TUESDAY}


@pytest.mark.parametrize("step", ["move", "create", "remove"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_writer_killed_at_any_step_leaves_the_batch_out_or_in_and_never_twice(
    step: str, times: int, table: ParquetTable, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.append(rows(spark, "a"), Batch("q", 0))
    both = rows(spark, "b").union(rows(spark, "c", day=TUESDAY))
    called = 0
    really = getattr(LocalFiles, step)

    def killed(self: LocalFiles, *arguments: object) -> None:
        nonlocal called
        called += 1
        if called == times:
            raise Killed
        really(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, step, killed)
        try:
            table.append(both, Batch("q", 1))
        except Killed:
            assert names(table) in (["a"], ["a", "b", "c"])
    again = ParquetTable(spark, table._files.url(), THINGS)
    again.tidy("q")
    again.append(both, Batch("q", 1))
    assert names(again) == as_files(spark, again) == ["a", "b", "c"]


def test_what_is_replaced_is_gone(table: ParquetTable, spark: SparkSession) -> None:
    table.append(rows(spark, "a").union(rows(spark, "b", day=TUESDAY)), Batch("q", 0))
    table.replace(rows(spark, "c", day=TUESDAY), Batch("q", 1), [str(TUESDAY)])
    assert names(table) == as_files(spark, table) == ["a", "c"]
    table.replace(rows(spark, "d"), Batch("q", 2))
    assert names(table) == as_files(spark, table) == ["d"]


def test_small_files_of_a_date_are_merged(
    table: ParquetTable, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MERGE_AT", 4)
    for number in range(9):
        table.append(rows(spark, f"m{number}").coalesce(1), Batch("q", number))
        table.append(rows(spark, f"t{number}", day=TUESDAY).coalesce(1), Batch("p", number))
    assert names(table) == as_files(spark, table) == sorted(f"{day}{n}" for day in "mt" for n in range(9))
    assert len(table.state().live) < 8
    assert table.append(rows(spark, "again"), Batch("q", 8)) is None


def test_a_merge_that_another_writer_overtook_changes_nothing(
    table: ParquetTable, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MERGE_AT", 2)
    table.append(rows(spark, "a").coalesce(1), Batch("q", 0))
    place = ParquetTable._place

    def overtaken(self: ParquetTable, frame: DataFrame, name: str) -> tuple[list[str], int]:
        placed = place(self, frame, name)
        if "merged" in name:
            monkeypatch.setattr(ParquetTable, "_place", place)
            self.replace(rows(spark, "new"), Batch("other", 0))
        return placed

    monkeypatch.setattr(ParquetTable, "_place", overtaken)
    table.append(rows(spark, "b").coalesce(1), Batch("q", 1))
    assert names(table) == as_files(spark, table) == ["new"]


def test_a_column_that_came_later_is_null_in_older_rows(spark: SparkSession, tmp_path: Path) -> None:
    ParquetTable(spark, str(tmp_path), THINGS).append(rows(spark, "a"), Batch("q", 0))
    newer = Schema("things", 2, columns("name string, size bigint, colour string"))
    table = ParquetTable(spark, str(tmp_path), newer)
    table.append(spark.createDataFrame([("b", 1, "red", MONDAY)], newer.all), Batch("q", 1))
    assert sorted((row.name, row.colour) for row in table.read().collect()) == [("a", None), ("b", "red")]
    assert json.loads((tmp_path / "_table.json").read_text())["version"] == 2
    with pytest.raises(
        TableError, match="has version 2 of 'things' and this Penstock knows 1: it was written by a newer"
    ):
        ParquetTable(spark, str(tmp_path), THINGS)


def test_a_folder_of_another_table_or_of_strangers_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    open_table(spark, str(tmp_path), THINGS)
    (tmp_path / "things").rename(tmp_path / "others")
    with pytest.raises(TableError, match="is a table 'things', not 'others'"):
        open_table(spark, str(tmp_path), Schema("others", 1, THINGS.columns))
    rows(spark, "a").write.parquet(str(tmp_path / "mine"))
    with pytest.raises(TableError, match="has files that no job of Penstock wrote"):
        open_table(spark, str(tmp_path), Schema("mine", 1, THINGS.columns))


def test_a_table_may_lie_wherever_hadoop_reaches(spark: SparkSession, tmp_path: Path) -> None:
    table = ParquetTable(spark, f"file:{tmp_path}/things", THINGS)
    table.append(rows(spark, "a"), Batch("q", 0))
    table.replace(rows(spark, "b"), Batch("q", 1))
    assert names(table) == as_files(spark, table) == ["b"]
