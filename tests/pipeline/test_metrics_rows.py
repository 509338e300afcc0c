"""What counts where: events to rows of `queue_metrics` and `queue_latency`, and the same by a plain count."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.counting import queue_latency, queue_metrics
from penstock.pipeline.counting.tallies import added_up, tally
from penstock.pipeline.counting.windows import Span
from penstock.pipeline.schemas import JOURNAL, QUEUE_LATENCY, QUEUE_METRICS
from pipeline import metrics_oracle as oracle
from pipeline.journals import START, Line, line
from pipeline.metrics_traffic import cases

HOUR = Span(START, START + 3_600_000)
DELIVERED = {"receive_count": 1, "duration_ms": 5}


def tallies(spark: SparkSession, lines: list[Line]) -> DataFrame:
    return added_up(
        tally(spark.createDataFrame([{name: one.get(name) for name in JOURNAL.names} for one in lines], JOURNAL))
    )


def metrics(spark: SparkSession, *lines: Line, period: int = 60) -> dict[str, tuple[int, ...]]:
    rows = queue_metrics.transform(tallies(spark, list(lines)), HOUR).where(f"period_seconds = {period}").collect()
    return {row.metric: (row.sample_count, row["sum"], row.minimum, row.maximum) for row in rows}


def latency(spark: SparkSession, *lines: Line) -> dict[str | None, Any]:
    rows = queue_latency.transform(tallies(spark, list(lines)), HOUR).where("period_seconds = 300").collect()
    return {row.type: row for row in rows}


def test_a_message_that_is_sent_counts_and_so_does_its_size_but_a_duplicate_does_not(spark: SparkSession) -> None:
    sent = line(1, size=10), line(2, size=30), line(3, "DEDUPLICATED", size=99)
    assert metrics(spark, *sent) == {"NumberOfMessagesSent": (2, 2, 1, 1), "SentMessageSize": (2, 40, 10, 30)}


def test_a_repeated_receive_is_received_again_but_is_no_delivery(spark: SparkSession) -> None:
    lines = line(1, "RECEIVED", **DELIVERED), line(2, "RECEIVED", receive_count=1, duration_ms=9, reason="repeat")
    assert metrics(spark, *lines) == {"NumberOfMessagesReceived": (2, 2, 1, 1)}
    row = latency(spark, *lines)[None]
    assert (row.deliveries, row.redelivered, row.dwell_p99_ms) == (1, 0, 5)


def test_a_gauge_is_a_sample_of_four_metrics_its_age_in_whole_seconds(spark: SparkSession) -> None:
    depths = {"visible": 3, "in_flight": 2, "delayed": 1}
    samples = line(1, "GAUGE", **depths, duration_ms=1999), line(2, "GAUGE", 60_000, visible=0, in_flight=0, delayed=0)
    assert metrics(spark, *samples, line(3, "GAUGE", **depths, reason="baseline"), period=300) == {
        "ApproximateNumberOfMessagesVisible": (2, 3, 0, 3),
        "ApproximateNumberOfMessagesNotVisible": (2, 2, 0, 2),
        "ApproximateNumberOfMessagesDelayed": (2, 1, 0, 1),
        "ApproximateAgeOfOldestMessage": (2, 1, 0, 1),
    }


def test_what_moves_dies_or_is_purged_is_neither_sent_nor_received_nor_deleted(spark: SparkSession) -> None:
    others = (
        "DEAD_LETTERED",
        "MOVED",
        "EXPIRED",
        "PURGED",
        "VISIBILITY_CHANGED",
        "QUEUE_DELETED",
        "DENIED",
        "UNHEARD_OF",
    )
    assert metrics(spark, *(line(number, event) for number, event in enumerate(others, 1))) == {}


def test_a_failure_is_a_delivery_whose_message_came_again_died_or_expired(spark: SparkSession) -> None:
    kinds = ["DELETED", "DEAD_LETTERED", "EXPIRED", "RECEIVED", "RECEIVED"]
    counts = [1, 3, 1, 2, 1]
    ended = [line(number, kinds[number], receive_count=counts[number], duration_ms=7) for number in range(5)]
    row = latency(spark, *ended, line(9, "EXPIRED", receive_count=0))[None]
    assert (row.deliveries, row.redelivered, row.deleted, row.dead_lettered, row.expired) == (2, 1, 1, 1, 2)
    assert (row.failures, row.success_ratio) == (3, 0.25)


def test_a_type_has_a_row_of_its_deliveries_and_nothing_of_what_the_journal_does_not_tell(spark: SparkSession) -> None:
    lines = (
        line(1, "RECEIVED", **DELIVERED, type="order"),
        line(2, "RECEIVED", **DELIVERED),
        line(3, "DELETED", duration_ms=8),
    )
    rows = latency(spark, *lines)
    assert rows.keys() == {None, "order"}
    assert (rows["order"].deliveries, rows["order"].deleted, rows["order"].failures) == (1, None, None)
    assert (rows[None].deliveries, rows[None].deleted, rows[None].handling_p50_ms) == (2, 1, 8)


@pytest.mark.parametrize(
    ("groups", "index"),
    [("aabb", 1.0), ("aaaa", 1.0), ("aaab", 16 / 20), ("", None)],
    ids=["even", "one", "uneven", "none"],
)
def test_fairness_is_jains_index_over_the_groups(groups: str, index: float | None, spark: SparkSession) -> None:
    lines = [line(number, "RECEIVED", **DELIVERED, group=group) for number, group in enumerate(groups, 1)]
    row = latency(spark, *lines, line(99, "RECEIVED", **DELIVERED))[None]
    assert (row.groups, row.fairness) == (len(set(groups)), index)


def test_rows_have_the_columns_of_their_tables(spark: SparkSession) -> None:
    counted = tallies(spark, [line(1, "RECEIVED", **DELIVERED)])
    for module, schema in ((queue_metrics, QUEUE_METRICS), (queue_latency, QUEUE_LATENCY)):
        made = {field.name: field.dataType for field in module.transform(counted, HOUR).schema}
        assert made.items() >= {field.name: field.dataType for field in schema.all}.items()


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=cases())
def test_any_events_give_what_a_plain_count_gives(spark: SparkSession, lines: list[Line]) -> None:
    counted = tallies(spark, lines).localCheckpoint()
    rows = queue_metrics.transform(counted, HOUR).select(*oracle.METRIC_ROW).collect()
    assert {tuple(row) for row in rows} == oracle.metrics(lines)
    rows = queue_latency.transform(counted, HOUR).select(*oracle.LATENCY_ROW).collect()
    assert {tuple(row) for row in rows} == oracle.latency(lines)
