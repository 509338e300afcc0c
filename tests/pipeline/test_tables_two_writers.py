"""A table is replaced in part while another job writes to it: nothing of the other's is lost, or there twice."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.schemas import Schema, columns
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, ParquetTable

THINGS = Schema("things", 1, columns("name string"))
DAY = date(2026, 11, 16)


class Slow(ParquetTable):
    """While it writes, something happens."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def _place(self, rows: DataFrame, name: str) -> tuple[list[str], int]:
        self.meanwhile()
        return super()._place(rows, name)


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> tuple[Slow, ParquetTable]:
    """The same table twice, with one row."""
    place = str(tmp_path / "things")
    slow, other = Slow(spark, place, THINGS), ParquetTable(spark, place, THINGS)
    other.append(rows(spark, "old"), Batch("other", 0))
    return slow, other


def rows(spark: SparkSession, *names: str) -> DataFrame:
    return spark.createDataFrame([(name, DAY) for name in names], THINGS.all)


def names(table: ParquetTable) -> list[str]:
    return sorted(row.name for row in table.read().collect())


def test_what_another_adds_meanwhile_stays(pair: tuple[Slow, ParquetTable], spark: SparkSession) -> None:
    slow, other = pair
    slow.meanwhile = lambda: other.append(rows(spark, "added"), Batch("other", 1))
    slow.replace(rows(spark, "new"), Batch("slow", 0), [str(DAY)])
    assert names(other) == ["added", "new"]


def test_what_another_replaced_meanwhile_is_not_replaced_again(
    pair: tuple[Slow, ParquetTable], spark: SparkSession
) -> None:
    slow, other = pair
    slow.meanwhile = lambda: other.replace(rows(spark, "theirs"), Batch("other", 1), [str(DAY)])
    with pytest.raises(TableError, match="'things' was written by another job meanwhile: start again"):
        slow.replace(rows(spark, "mine"), Batch("slow", 0), [str(DAY)])
    assert names(other) == ["theirs"]


def test_rows_made_of_a_table_that_has_changed_since_are_refused(
    pair: tuple[Slow, ParquetTable], spark: SparkSession
) -> None:
    slow, other = pair
    seen, read = slow.writers(), slow.read()
    other.append(rows(spark, "added"), Batch("other", 1))
    with pytest.raises(TableError, match="start again"):
        slow.replace(read, Batch("slow", 0), [str(DAY)], seen)
    assert names(other) == ["added", "old"]


def test_writers_are_known_with_their_last_batch(pair: tuple[Slow, ParquetTable], spark: SparkSession) -> None:
    slow, other = pair
    other.append(rows(spark, "b"), Batch("other", 4))
    slow.append(rows(spark, "c"), Batch("slow", 1))
    assert slow.writers() == {"other": 4, "slow": 1}
