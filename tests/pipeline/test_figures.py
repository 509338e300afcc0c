"""What a report shows equals what Python counts in the same rows, one by one."""

import math
from collections import Counter
from collections.abc import Iterable

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.reporting.figures import MOST_BUCKETS, Figures, extent, figures, span_of
from penstock.pipeline.reporting.quantities import DAY, HOUR, MINUTE

from .journals import START, Line, line
from .traffic import a_day, frame

LINES = a_day(per_minute=30, minutes=45)
HOUR_OF_IT = (START, START + HOUR)


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Figures:
    return figures(frame(spark, LINES), *HOUR_OF_IT)


def within(*events: str) -> list[Line]:
    return [one for one in LINES if one["event"] in events and HOUR_OF_IT[0] <= one["ts_ms"] < HOUR_OF_IT[1]]


def quantile(values: Iterable[int], part: float) -> int:
    ordered = sorted(values)
    return ordered[math.ceil(part * len(ordered)) - 1]


def test_totals_are_the_counts_of_the_rows(found: Figures) -> None:
    counts = Counter(one["event"] for one in within(*{one["event"] for one in LINES}))
    names = {
        "sent": "SENT",
        "received": "RECEIVED",
        "deleted": "DELETED",
        "dead": "DEAD_LETTERED",
        "expired": "EXPIRED",
    }
    assert {name: found.totals[name] for name in names} == {name: counts[event] for name, event in names.items()}
    assert found.totals["events"] == sum(counts.values())
    assert found.totals["bytes"] == sum(one["size"] for one in within("SENT"))
    assert found.totals["failed"] == counts["DEAD_LETTERED"] + counts["EXPIRED"]
    assert found.totals["redelivered"] == sum(one["receive_count"] > 1 for one in within("RECEIVED"))


def test_percentiles_are_those_of_the_rows(found: Figures) -> None:
    dwell = [one["duration_ms"] for one in within("RECEIVED") if one["receive_count"] == 1]
    assert found.totals["dwell"] == [quantile(dwell, part) for part in (0.5, 0.95, 0.99)]
    handling = [one["duration_ms"] for one in within("DELETED")]
    assert found.totals["handling"] == [quantile(handling, part) for part in (0.5, 0.95, 0.99)]


def test_buckets_add_up_to_the_total(found: Figures) -> None:
    for name in ("sent", "received", "deleted", "redelivered", "dead", "expired"):
        assert sum(row[name] for row in found.timeline.values()) == found.totals[name]
    busiest = max(found.timeline, key=lambda number: found.timeline[number]["sent"])
    begin = found.span.start_ms + busiest * found.span.bucket_ms
    assert found.timeline[busiest]["sent"] == sum(
        begin <= one["ts_ms"] < begin + found.span.bucket_ms for one in within("SENT")
    )


def test_depth_is_the_sum_of_each_queue_s_last_gauge(found: Figures) -> None:
    in_third_minute = [one for one in within("GAUGE") if one["ts_ms"] // MINUTE == START // MINUTE + 2]
    assert found.gauges[2]["visible"] == sum(one["visible"] for one in in_third_minute)
    assert found.gauges[2]["oldest"] == max(one["duration_ms"] for one in in_third_minute)


def test_a_queue_gauged_twice_in_a_bucket_counts_once(spark: SparkSession) -> None:
    twice = [
        line(number, "GAUGE", number * 1000, queue=queue, visible=visible, in_flight=0, delayed=0, duration_ms=age)
        for number, (queue, visible, age) in enumerate([("a", 9, 50), ("b", 1, 70), ("a", 4, 20)], 1)
    ]
    (gauge,) = figures(frame(spark, twice), *HOUR_OF_IT).gauges.values()
    assert (gauge["visible"], gauge["oldest"], gauge["oldest_at_end"]) == (5, 70, 70)


def test_the_busiest_come_first_with_how_many_there_are(found: Figures) -> None:
    sent = Counter((one["account"], one["queue"]) for one in within("SENT"))
    first = found.queues[0]
    assert first["sent"] == sent[first["account"], first["queue"]] == max(sent.values())
    assert first["of"] == len(sent)
    assert len(found.queues) == 10
    assert sum(row["sent"] for row in found.accounts) == found.totals["sent"]


def test_dead_letters_are_told_apart_by_the_type_they_were_sent_with(found: Figures) -> None:
    types = {one["message_id"]: one["type"] for one in within("SENT", "RECEIVED")}
    causes = Counter((one["account"], one["queue"], types[one["message_id"]]) for one in within("DEAD_LETTERED"))
    assert {(row["account"], row["queue"], row["type"]): row["messages"] for row in found.causes} == causes


def test_a_repeated_receive_attempt_is_no_delivery(spark: SparkSession) -> None:
    lines = [
        line(n, "RECEIVED", n, receive_count=n, duration_ms=5, reason=reason)
        for n, reason in ((1, None), (2, "repeat"))
    ]
    found = figures(frame(spark, lines), *HOUR_OF_IT)
    assert (found.totals["received"], found.totals["redelivered"]) == (1, 0)


def test_without_a_range_it_is_the_last_day_of_the_data(spark: SparkSession) -> None:
    lines = [line(1), line(2, after_ms=DAY), line(3, after_ms=DAY + 5), line(4, after_ms=2 * DAY)]
    assert extent(frame(spark, lines)) == (START + DAY + 5, START + 2 * DAY + 1)
    assert extent(frame(spark, lines[:0])) is None


@pytest.mark.parametrize("length", [1, 999, HOUR, DAY - 1, 30 * DAY, 900 * DAY])
def test_a_few_hundred_buckets_cover_any_time(length: int) -> None:
    span = span_of(START + 1, START + 1 + length)
    assert span.buckets <= MOST_BUCKETS + 1
    assert span.start_ms <= START + 1
    assert span.end_ms >= START + 1 + length
