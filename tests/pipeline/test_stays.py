"""What became of each message: any journal, cut anywhere, gives the rows that reading it line by line gives."""

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline import stays
from penstock.pipeline.schemas import JOURNAL, LIFECYCLE, LIFECYCLE_OPEN

from . import stays_by_hand
from .journals import START, Line, line
from .play import DAY, Play, arn

GIVE_UP_DAYS = 15


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    return sorted((row.asDict() for row in frame.collect()), key=repr)


def followed(spark: SparkSession, batches: Iterable[Sequence[Line]]) -> tuple[list[dict[str, Any]], DataFrame]:
    """Rows that ended in any batch, and what is open after the last."""
    memory = spark.createDataFrame([], LIFECYCLE_OPEN.all)
    ended: list[dict[str, Any]] = []
    for lines in batches:
        told = stays.told(spark.createDataFrame(lines, JOURNAL))
        covers = stays.extent(told)
        assert covers is not None
        merged = stays.merge(told, memory, covers, GIVE_UP_DAYS).persist()
        ended += rows(stays.ended(merged, GIVE_UP_DAYS))
        memory = spark.createDataFrame(stays.open_stays(merged).collect(), LIFECYCLE_OPEN.all)
        merged.unpersist()
    return sorted(ended, key=repr), memory


def cut(lines: Sequence[Line], *places: int) -> list[Sequence[Line]]:
    ends = [0, *sorted(places), len(lines)]
    return [lines[start:end] for start, end in pairwise(ends) if start < end]


def played(seed: int) -> list[Line]:
    """A journal that begins in the middle of things, and goes on as another node near its end."""
    play = Play(random.Random(seed))
    play.go(60)
    play.forget()
    play.go(250)
    play.restore()
    return play.go(90)


def ordered(ended: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(({name: row[name] for name in LIFECYCLE.all.names} for row in ended), key=repr)


@pytest.mark.parametrize("seed", range(2))
def test_a_journal_cut_anywhere_gives_the_rows_of_reading_it_line_by_line(spark: SparkSession, seed: int) -> None:
    lines = played(seed)
    by_hand, open_by_hand = stays_by_hand.stays(lines)
    places = random.Random(seed).sample(range(len(lines)), 2)
    for batches in ([lines], cut(lines, *places)):
        ended, memory = followed(spark, batches)
        assert ended == ordered(by_hand)
        assert {(row["arn"], row["message_id"]) for row in rows(memory)} == open_by_hand.keys()


def one(spark: SparkSession, *lines: Line) -> dict[str, Any]:
    ended, _ = followed(spark, [lines])
    assert len(ended) == 1
    return ended[0]


def test_a_message_that_was_handled_tells_every_time_of_its_stay(spark: SparkSession) -> None:
    first = {"sent_ms": START, "first_receive_ms": START + 40}
    row = one(
        spark,
        line(1, message_id="m", type="order", size=12, principal="shop"),
        line(2, "RECEIVED", 40, message_id="m", receive_count=1, duration_ms=40, **first),
        line(3, "VISIBILITY_CHANGED", 50, message_id="m", receive_count=1, duration_ms=0),
        line(4, "RECEIVED", 60, message_id="m", receive_count=2, duration_ms=60, principal="worker", **first),
        line(5, "DELETED", 95, message_id="m", receive_count=2, duration_ms=35),
    )  # fmt: skip
    assert (row["sender"], row["receiver"], row["type"], row["size"]) == ("shop", "worker", "order", 12)
    assert (row["first_receive_ms"], row["last_receive_ms"], row["ended_ms"]) == (START + 40, START + 60, START + 95)
    assert (row["dwell_ms"], row["handling_ms"], row["total_ms"]) == (40, 35, 95)
    assert (row["outcome"], row["attempts"], row["visibility_changes"]) == ("DELETED", 2, 1)


def test_a_message_of_before_the_journal_has_the_times_that_later_events_tell(spark: SparkSession) -> None:
    received = {"receive_count": 3, "sent_ms": START - 500, "first_receive_ms": START - 100, "duration_ms": 510}
    row = one(
        spark,
        line(7, "RECEIVED", 10, message_id="m", **received),
        line(8, "EXPIRED", 20, message_id="m", receive_count=3, duration_ms=520),
    )
    assert (row["origin"], row["sent_ms"], row["entered_ms"]) == (None, START - 500, START - 500)
    assert (row["first_receive_ms"], row["attempts"], row["outcome"]) == (START - 100, 3, "EXPIRED")


def test_a_purge_ends_what_came_before_it_and_nothing_that_came_after(spark: SparkSession) -> None:
    lines = [
        line(1, message_id="before"),
        line(2, message_id="elsewhere", queue="mail"),
        line(3, "PURGED", count=1),
        line(4, message_id="after"),
        line(5, "QUEUE_DELETED", 1, count=1),
        line(6, "QUEUE_CREATED", 2),
        line(7, message_id="again"),
    ]
    for batches in ([lines], cut(lines, 4)):
        ended, memory = followed(spark, batches)
        found = {row["message_id"]: (row["outcome"], row["ended_ms"]) for row in ended}
        assert found == {"before": ("PURGED", START), "after": ("QUEUE_DELETED", START + 1)}
        assert {row["message_id"] for row in rows(memory)} == {"elsewhere", "again"}


def test_a_dead_letter_s_deliveries_are_counted_in_each_queue_by_themselves(spark: SparkSession) -> None:
    first = {"sent_ms": START, "first_receive_ms": START + 5}
    ended, _ = followed(
        spark,
        [[
            line(1, message_id="m"),
            line(2, "RECEIVED", 5, message_id="m", receive_count=1, duration_ms=5, **first),
            line(3, "DEAD_LETTERED", 9, message_id="m", receive_count=1, duration_ms=9, endpoint=arn("dead")),
            line(4, "RECEIVED", 30, message_id="m", queue="dead", receive_count=2, duration_ms=30, **first),
            line(5, "MOVED", 40, message_id="m", queue="dead", successor="n", endpoint=arn("orders")),
        ]],
    )  # fmt: skip
    dead, orders = sorted(ended, key=lambda row: str(row["queue"]))
    assert (orders["next_queue"], orders["successor"]) == (dead["arn"], dead["message_id"])
    assert (dead["origin"], dead["origin_queue"], dead["predecessor"]) == ("DEAD_LETTERED", orders["arn"], "m")
    assert (orders["attempts"], dead["attempts"]) == (1, 1)
    assert (dead["first_receive_ms"], dead["dwell_ms"], dead["successor"]) == (START + 30, 21, "n")


def test_a_stay_without_an_end_is_given_up_when_every_retention_is_over(spark: SparkSession) -> None:
    lines = [
        line(1, message_id="lost"),
        line(2, after_ms=15 * DAY, message_id="m"),
        line(3, after_ms=16 * DAY, message_id="n"),
    ]
    ended, memory = followed(spark, cut(lines, 1, 2))
    assert [(row["message_id"], row["outcome"], row["ended_ms"]) for row in ended] == [("lost", "UNKNOWN", None)]
    assert {row["message_id"] for row in rows(memory)} == {"m", "n"}
