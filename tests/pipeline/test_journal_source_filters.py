"""Filters: those that are pushed give the rows that SQL would, and spare the segments that need no look."""

import datetime as dt

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, GreaterThanOrEqual, In, IsNotNull, LessThan, Not
from pyspark.sql.datasource import LessThanOrEqual as AtMost
from pyspark.sql.datasource import StringStartsWith as StartsWith

from penstock.pipeline.sources import PUSH_DOWN, register
from penstock.pipeline.sources.journal import JournalSource
from penstock.pipeline.sources.journal.columns import COLUMNS
from pipeline.journal_source import planned, read, rows, rows_here
from pipeline.journals import START, Journal, line

DAY = 86_400_000


@pytest.fixture
def week(journal: Journal) -> Journal:
    """Seven days of ten events: three queues, two accounts, one event in five without a queue."""
    for day in range(7):
        seqs = range(1 + day * 10, 11 + day * 10)
        journal.publish(*(_line(seq, day * DAY + seq) for seq in seqs))
    return journal


def _line(seq: int, after_ms: int) -> dict[str, object]:
    made = line(seq, ("SENT", "RECEIVED")[seq % 2], after_ms, queue=f"q{seq % 3}", account=str(seq % 2))
    return {name: value for name, value in made.items() if name != "queue"} if seq % 5 == 0 else made


PUSHED: list[tuple[Filter, str, int]] = [
    (EqualTo(("queue",), "q1"), "queue = 'q1'", 7),
    (In(("queue",), ("q1", "q2", None)), "queue in ('q1', 'q2', null)", 7),
    (IsNotNull(("queue",)), "queue is not null", 7),
    (EqualTo(("account",), "1"), "account = '1'", 7),
    (EqualTo(("event",), "SENT"), "event = 'SENT'", 7),
    (EqualTo(("node",), "nobody"), "node = 'nobody'", 0),
    (EqualTo(("date",), dt.date(2026, 11, 18)), "date = date'2026-11-18'", 1),
    (EqualTo(("seq",), 35), "seq = 35", 1),
    (GreaterThan(("seq",), 50), "seq > 50", 2),
    (AtMost(("seq",), 20), "seq <= 20", 2),
    (GreaterThanOrEqual(("ts_ms",), START + 5 * DAY), f"ts_ms >= {START + 5 * DAY}", 4),
    (LessThan(("ts_ms",), START + DAY), f"ts_ms < {START + DAY}", 2),
]


@pytest.mark.parametrize(("pushed", "sql", "looked_at"), PUSHED, ids=[sql for _, sql, _ in PUSHED])
def test_a_pushed_filter_gives_the_rows_of_its_sql_and_spares_segments(
    spark: SparkSession, week: Journal, pushed: Filter, sql: str, looked_at: int
) -> None:
    everything = spark.createDataFrame(rows_here(week.folder), COLUMNS)
    assert [row["seq"] for row in rows_here(week.folder, pushed)] == [row["seq"] for row in rows(everything.where(sql))]
    assert sum(len(share.parts) for share in planned(week.folder, pushed)[1]) == looked_at


@pytest.mark.parametrize(
    "wanted", [Not(EqualTo(("queue",), "q1")), StartsWith(("queue",), "q"), EqualTo(("body",), "b")]
)
def test_a_filter_that_is_not_done_here_is_given_back(week: Journal, wanted: Filter) -> None:
    reader = JournalSource({"path": str(week.folder)}).reader(COLUMNS)
    assert list(reader.pushFilters([wanted])) == [wanted]


def test_spark_gets_the_same_rows_with_push_down_and_without(spark: SparkSession, week: Journal) -> None:
    sql = f"queue in ('q1', 'q2') and event = 'SENT' and ts_ms > {START + 2 * DAY} and message_id is null"
    spark.conf.unset(PUSH_DOWN)
    without = read(spark, week.folder).where(sql)
    expected = rows(without)
    assert "queue" in _filtered_by_spark(without)
    register(spark)
    pushed = read(spark, week.folder).where(sql)
    assert rows(pushed) == expected
    assert len(expected) > 3
    assert "queue" not in _filtered_by_spark(pushed)


def _filtered_by_spark(frame: object) -> str:
    plan = frame._jdf.queryExecution().executedPlan().toString()  # type: ignore[attr-defined]
    return next((part for part in plan.splitlines() if "Filter " in part), "")


def test_options_filter_too_and_spare_segments(week: Journal) -> None:
    asked = {"queue": "q1,q2", "account": "0", "events": "SENT", "from": "2026-11-19", "to": START + 5 * DAY}
    found = rows_here(week.folder, **asked)
    assert [row["seq"] for row in found] == [
        seq for seq in range(31, 51) if seq % 3 in (1, 2) and seq % 2 == 0 and seq % 5
    ]
    assert sum(len(share.parts) for share in planned(week.folder, **asked)[1]) == 5
