"""GetMetricStatistics: what it answers, and what it refuses."""

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.core.metrics import NAMES, Statistics
from sqs.harness import OTHER_ACCOUNT, OTHER_REGION, STRANGER

from .watching import AGE, NOON, ORDERS, SENT, SIZE, Watch, asking, sent

EVERY = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"]


def test_the_five_statistics_of_a_minute(watch: Watch) -> None:
    watch.put(60, NOON, {SIZE: Statistics(4, 30, 5, 10)})
    (point,) = watch.statistics(SIZE, Statistics=EVERY)
    assert point == {
        "Timestamp": datetime.fromtimestamp(NOON, UTC),
        "SampleCount": 4.0,
        "Average": 7.5,
        "Sum": 30.0,
        "Minimum": 5.0,
        "Maximum": 10.0,
        "Unit": "Bytes",
    }


def test_only_what_is_asked_for_is_told(watch: Watch) -> None:
    watch.put(60, NOON, sent(3))
    (point,) = watch.statistics(SENT, Statistics=["Average"])
    assert point.keys() == {"Timestamp", "Average", "Unit"}


def test_units_are_amazon_s(watch: Watch) -> None:
    watch.put(60, NOON, {name: Statistics(1, 1, 1, 1) for name in NAMES})
    units = {name: watch.statistics(name)[0]["Unit"] for name in NAMES}
    assert {name for name, unit in units.items() if unit == "Bytes"} == {SIZE}
    assert {name for name, unit in units.items() if unit == "Seconds"} == {AGE}
    assert {*units.values()} == {"Bytes", "Seconds", "Count"}


def test_of_another_unit_there_is_nothing(watch: Watch) -> None:
    watch.put(60, NOON, sent(3))
    assert watch.sums(Unit="Count") == {0: 3.0}
    assert watch.sums(Unit="Bytes") == {}


def test_points_are_in_order_and_begin_at_multiples_of_the_period(watch: Watch) -> None:
    for minute in (7, 3, 0, 11, 5):
        watch.put(60, NOON + minute * 60, sent(minute + 1))
    assert list(watch.sums().items()) == [(0, 1), (180, 4), (300, 6), (420, 8), (660, 12)]
    assert watch.sums(Period=300) == {0: 5, 300: 14, 600: 12}
    assert watch.sums(Period=120) == {0: 1, 120: 4, 240: 6, 360: 8, 600: 12}
    assert watch.sums(Period=3600) == {0: 31}


def test_the_first_point_is_the_one_in_which_the_start_lies_and_the_end_is_none(watch: Watch) -> None:
    for minute in range(12):
        watch.put(60, NOON + minute * 60, sent(1))
    assert watch.sums(StartTime=NOON + 119, EndTime=NOON + 180) == {60: 1, 120: 1}
    assert watch.sums(StartTime=NOON + 301, EndTime=NOON + 600, Period=300) == {300: 5}
    assert watch.sums(StartTime=NOON + 301, EndTime=NOON + 601, Period=300) == {300: 5, 600: 2}


@pytest.mark.parametrize(
    "other",
    [
        {"metric": "NumberOfThings"},
        {"queue": "others"},
        {"Namespace": "AWS/SNS"},
        {"Dimensions": None},
        {"Dimensions": [{"Name": "TopicName", "Value": "orders"}]},
        {"Dimensions": [{"Name": "QueueName", "Value": "orders"}] * 2},
    ],
    ids=lambda value: str(value)[:40],
)
def test_of_a_metric_that_nobody_reports_there_is_nothing(watch: Watch, other: dict[str, Any]) -> None:
    watch.put(60, NOON, sent(3))
    assert watch.client.get_metric_statistics(**asking(**other))["Datapoints"] == []


def test_an_account_sees_its_own_queues_alone(watch: Watch) -> None:
    watch.put(60, NOON, sent(3))
    watch.put(60, NOON, sent(4), ORDERS._replace(account=OTHER_ACCOUNT))
    watch.put(60, NOON, sent(5), ORDERS._replace(region=OTHER_REGION))
    assert watch.sums() == {0: 3}
    watch.key = STRANGER
    assert watch.sums() == {0: 4}
    watch.key, watch.region = "AKIAROOT", OTHER_REGION
    assert watch.sums() == {0: 5}


COMBINATION, INVALID, VALIDATION = "InvalidParameterCombination", "InvalidParameterValue", "ValidationError"


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"StartTime": NOON, "EndTime": NOON}, COMBINATION, "must be less than the parameter EndTime"),
        ({"StartTime": NOON - 86_401}, COMBINATION, "up to 1,501 datapoints, which exceeds the limit of 1,440"),
        ({"Statistics": None}, COMBINATION, "At least one of the parameters"),
        ({"ExtendedStatistics": ["p99"]}, COMBINATION, "must not be specified together"),
        ({"Statistics": None, "ExtendedStatistics": ["p99"]}, INVALID, "The statistic p99 is not known here"),
        ({"Period": 30}, INVALID, "Must be a multiple of 60"),
        ({"Period": 90}, INVALID, "Must be a multiple of 60"),
        ({"Period": 0}, VALIDATION, "'period' failed to satisfy constraint: Member must have value greater than"),
        ({"Statistics": ["Median"]}, VALIDATION, "Member must satisfy enum value set"),
        ({"Unit": "Pieces"}, VALIDATION, "at 'unit' failed to satisfy constraint"),
        ({"Namespace": ":x"}, VALIDATION, "at 'namespace' failed to satisfy constraint"),
        ({"Dimensions": [{"Name": "QueueName", "Value": "x" * 1025}]}, VALIDATION, "less than or equal to 1024"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_asked_is_refused(watch: Watch, wrong: dict[str, Any], code: str, said: str) -> None:
    refused, message = watch.refusal("get_metric_statistics", **asking(**wrong))
    assert refused == code
    assert said in message


def test_fourteen_hundred_and_forty_points_are_not_too_many(watch: Watch) -> None:
    watch.put(60, NOON, sent(3))
    assert watch.sums(StartTime=NOON - 86_400 + 60, EndTime=NOON + 60) == {0: 3}


@pytest.mark.parametrize("missing", ["Namespace", "MetricName", "StartTime", "EndTime", "Period"])
def test_what_must_be_there_is_named(watch: Watch, missing: str) -> None:
    refused, message = watch.refusal("get_metric_statistics", **asking(**{missing: None}))
    assert refused in ("MissingParameter", "ValidationError")
    assert missing.lower() in message.lower()
