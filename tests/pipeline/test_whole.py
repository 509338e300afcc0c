"""The quick way of `land`: only for a batch in which nothing is wrong, and with the same rows as the careful one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import events
from penstock.pipeline.ask import Ask
from penstock.pipeline.files import files
from penstock.pipeline.jobs import land
from penstock.pipeline.schemas import EVENTS
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Day, ParquetTable, open_table
from penstock.pipeline.whole import planned, whole

from .journals import NODE, START, Journal, line

HOUR = 3_600_000


def ask(journal: Journal, **options: Any) -> Ask:
    place = journal.folder
    return Ask("land", journal=str(place), out=str(place.parent / "tables"), once=True, **options)


def day(spark: SparkSession, journal: Journal) -> Day | None:
    """What the quick way says to all of a journal, having read it."""
    listed = events.segments(spark, str(journal.folder))
    found = whole(spark, listed, listed)
    if found is None:
        return None
    found.rows.write.format("noop").mode("overwrite").save()
    return found.day()


def test_segments_of_one_day_with_all_that_their_names_say_go_the_quick_way(
    spark: SparkSession, journal: Journal
) -> None:
    journal.publish(line(1), line(2, after_ms=24 * HOUR - 1))
    journal.publish(line(7) | {"node": "another"})
    assert day(spark, journal) == Day("2026-11-16", 3)


def without(field: str) -> str:
    return json.dumps({name: value for name, value in line(2).items() if name != field})


@pytest.mark.parametrize(
    "second",
    [
        pytest.param("", id="a line too few"),
        pytest.param(f"{json.dumps(line(2))}\n{json.dumps(line(3))}", id="a line too many"),
        pytest.param('{"node":', id="a torn line"),
        pytest.param(json.dumps(line(2, size="three")), id="a word for a number"),
        pytest.param(without("seq"), id="no number"),
        pytest.param(without("ts_ms"), id="no time"),
        pytest.param(f"{json.dumps(line(2))}\n{{}}", id="all there, and an object of nothing"),
        pytest.param(json.dumps(line(2, after_ms=24 * HOUR)), id="the day after"),
        pytest.param(json.dumps(line(2, after_ms=-1)), id="the day before"),
        pytest.param(json.dumps(line(2, after_ms=10**17)), id="no day at all"),
        pytest.param(json.dumps(line(2, extra="x")), id="a field that is a column of ours"),
    ],
)
def test_with_anything_wrong_there_is_no_quick_way(second: str, spark: SparkSession, journal: Journal) -> None:
    journal.publish_text(f"{json.dumps(line(1))}\n{second}\n", line(1), line(2))
    assert day(spark, journal) is None


def test_nor_for_a_torn_file_or_one_that_is_gone_or_of_another_day(spark: SparkSession, journal: Journal) -> None:
    file = journal.publish(*(line(seq, body="x" * 200 + str(seq * 7919)) for seq in range(1, 501)))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert day(spark, journal) is None
    file.write_bytes(content)
    listed = events.segments(spark, str(journal.folder))
    assert day(spark, journal) == Day("2026-11-16", 500)
    journal.publish(line(501, after_ms=24 * HOUR))
    assert day(spark, journal) is None
    file.unlink()
    assert whole(spark, listed, listed) is None
    assert whole(spark, listed, []) is None


def test_both_ways_bring_the_same_rows_to_their_dates(spark: SparkSession, tmp_path: Path) -> None:
    told: list[list[Any]] = []
    for name, fields in (("quick", events.JOURNAL.names), ("careful", ["unknown"])):
        journal = Journal(tmp_path / name / "journal", fields)
        journal.publish(line(1, body="ä", attributes={"a": ["String", "b"]}), line(2, "RECEIVED", receive_count=1))
        journal.publish(line(3, after_ms=23 * HOUR), line(4, after_ms=25 * HOUR))
        journal.publish(line(5, after_ms=26 * HOUR))
        land.run(spark, ask(journal, segments_at_once=1))
        table = open_table(spark, ask(journal).out, EVENTS)
        told.append(sorted(table.read().collect(), key=lambda row: int(row.seq)))
    assert told[0] == told[1]
    assert [str(row.date)[-2:] for row in told[0]] == ["16", "16", "16", "17", "17"]


def test_what_spark_noted_of_a_batch_is_found_also_where_it_sums_its_notes_up(
    spark: SparkSession, journal: Journal
) -> None:
    for seq in range(1, 11):
        journal.publish(line(seq))
    land.run(spark, ask(journal, segments_at_once=1))
    checkpoint = files(ask(journal).checkpoint_place, spark)
    assert checkpoint.read("sources/0/9.compact")
    assert [one and one[:3] for one in planned(checkpoint, 9)] == [(NODE, 10, 10)]
    journal.publish(line(11))
    journal.publish(line(12))
    land.run(spark, ask(journal))
    assert [one and one[:3] for one in planned(checkpoint, 10)] == [(NODE, 11, 11), (NODE, 12, 12)]
    checkpoint.replace("sources/0/10", b"v2\n")
    assert planned(checkpoint, 10) == planned(checkpoint, 11) == []


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", ["append_day", "_stage", "_move", "_commit", "_merge_small"])
def test_a_job_that_dies_on_the_quick_way_lands_everything_once(
    step: str, before: bool, spark: SparkSession, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.publish(line(1), line(2))
    really: Callable[..., Any] = getattr(ParquetTable, step)

    def dies(*arguments: Any) -> Any:
        result = None if before else really(*arguments)
        raise TableError("dead")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(ParquetTable, step, dies)
        with pytest.raises(TableError, match="dead"):
            land.run(spark, ask(journal))
    journal.publish(line(3))
    land.run(spark, ask(journal))
    rows = open_table(spark, ask(journal).out, EVENTS).read().collect()
    assert sorted(row.seq for row in rows) == [1, 2, 3]
    assert {row.ts_ms for row in rows} == {START}
