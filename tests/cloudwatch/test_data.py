"""GetMetricData: several queries at once, in pages, and what is refused."""

from typing import Any

import pytest

from penstock.core.metrics import Statistics
from sqs.harness import OTHER_ACCOUNT

from .watching import NOON, SENT, SIZE, Watch, sent


def query(name: str = "m", metric: str = SENT, queue: str = "orders", **given: Any) -> dict[str, Any]:
    period, statistic = given.pop("Period", 60), given.pop("Stat", "Sum")
    dimensions = [{"Name": "QueueName", "Value": queue}]
    of = {"Namespace": "AWS/SQS", "MetricName": metric, "Dimensions": dimensions}
    return {"Id": name, "MetricStat": {"Metric": of, "Period": period, "Stat": statistic}} | given


def ask(*queries: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {"MetricDataQueries": list(queries), "StartTime": NOON - 3600, "EndTime": NOON + 3600} | given


def shown(watch: Watch, *queries: dict[str, Any], **given: Any) -> dict[str, list[tuple[int, float]]]:
    """By id: seconds after noon, and values. Pages are followed to the end."""
    found: dict[str, list[tuple[int, float]]] = {}
    for page in watch.client.get_paginator("get_metric_data").paginate(**ask(*queries, **given)):
        for result in page["MetricDataResults"]:
            moments = [round(at.timestamp()) - NOON for at in result["Timestamps"]]
            found.setdefault(result["Id"], []).extend(zip(moments, result["Values"], strict=True))
    return found


@pytest.fixture
def filled(watch: Watch) -> Watch:
    for minute in range(4):
        watch.put(60, NOON + 60 * minute, {SENT: Statistics(2, 2, 1, 1), SIZE: Statistics(2, 10 + minute, 4, 7)})
    return watch


def test_several_queries_are_answered_the_newest_first(filled: Watch) -> None:
    found = shown(
        filled, query("a"), query("b", SIZE, Stat="Average"), query("c", queue="none"), query("d", Period=300)
    )
    assert found == {
        "a": [(180, 2), (120, 2), (60, 2), (0, 2)],
        "b": [(180, 6.5), (120, 6), (60, 5.5), (0, 5)],
        "c": [],
        "d": [(0, 8)],
    }


def test_the_oldest_are_first_if_that_is_asked_for(filled: Watch) -> None:
    assert shown(filled, query(), ScanBy="TimestampAscending") == {"m": [(0, 2), (60, 2), (120, 2), (180, 2)]}


@pytest.mark.parametrize("statistic", ["SampleCount", "Sum", "Average", "Minimum", "Maximum"])
def test_every_statistic_can_be_asked_for(filled: Watch, statistic: str) -> None:
    told = {"SampleCount": 2, "Sum": 10, "Average": 5, "Minimum": 4, "Maximum": 7}
    assert shown(filled, query(metric=SIZE, Stat=statistic), EndTime=NOON + 60) == {"m": [(0, told[statistic])]}


def test_a_result_says_its_label_and_that_it_is_whole(filled: Watch) -> None:
    reply = filled.client.get_metric_data(**ask(query("a", Label="mine"), query("b"), query("c", ReturnData=False)))
    told = [(each["Id"], each["Label"], each["StatusCode"]) for each in reply["MetricDataResults"]]
    assert told == [("a", "mine", "Complete"), ("b", SENT, "Complete")]
    assert "NextToken" not in reply


@pytest.mark.parametrize("order", ["TimestampAscending", "TimestampDescending"])
@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8, 9])
def test_pages_of_any_size_give_the_same_as_one(filled: Watch, most: int, order: str) -> None:
    queries = [query("a"), query("b", queue="none"), query("c", SIZE)]
    assert shown(filled, *queries, ScanBy=order, MaxDatapoints=most) == shown(filled, *queries, ScanBy=order)


def test_a_page_says_what_it_has_not_ended(filled: Watch) -> None:
    wanted = ask(query("a"), query("b"), MaxDatapoints=6)
    first = filled.client.get_metric_data(**wanted)
    assert [each["StatusCode"] for each in first["MetricDataResults"]] == ["Complete", "PartialData"]
    second = filled.client.get_metric_data(**wanted, NextToken=first["NextToken"])
    assert [(each["Id"], each["StatusCode"]) for each in second["MetricDataResults"]] == [("b", "Complete")]
    assert "NextToken" not in second


def test_a_page_ends_when_it_has_cost_enough(filled: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.api.cloudwatch.data.MOST_READ", 1)
    reply = filled.client.get_metric_data(**ask(query("a"), query("b", queue="none"), query("c")))
    assert [each["Id"] for each in reply["MetricDataResults"]] == ["a"]
    assert set(shown(filled, query("a"), query("b", queue="none"), query("c"))) == {"a", "b", "c"}


def test_of_another_unit_there_is_nothing(filled: Watch) -> None:
    wanted = query()
    wanted["MetricStat"]["Unit"] = "Bytes"
    assert shown(filled, wanted) == {"m": []}


WITHOUT = {"Id": "m"}


@pytest.mark.parametrize(
    ("queries", "given", "said"),
    [
        ([], {}, "between 1 and 500 queries"),
        ([query(), query()], {}, "are not unique"),
        ([query("M")], {}, "must begin with a small letter"),
        ([query(), {"Id": "e", "Expression": "m * 2"}], {}, "Metric math and Metrics Insights are not answered here"),
        ([query(Expression="m * 2")], {}, "Metric math and Metrics Insights are not answered here"),
        ([WITHOUT], {}, "must have a MetricStat"),
        ([query(AccountId=OTHER_ACCOUNT)], {}, "is about another account"),
        ([query(Period=30)], {}, "must be a multiple of 60"),
        ([query(Stat="p99")], {}, "The statistic p99 is not known here"),
        ([query()], {"MaxDatapoints": 0}, "between 1 and 100,800"),
        ([query()], {"MaxDatapoints": 100_801}, "between 1 and 100,800"),
        ([query()], {"StartTime": NOON, "EndTime": NOON}, "must be less than the parameter EndTime"),
        ([query()], {"ScanBy": "Sideways"}, "Member must satisfy enum value set"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_asked_is_refused(watch: Watch, queries: list[Any], given: dict[str, Any], said: str) -> None:
    code, message = watch.refusal("get_metric_data", **ask(*queries, **given))
    assert code == "ValidationError"
    assert said in message


@pytest.mark.parametrize("token", ["x", "!!!", "WzEsbnVsbF0=", "Wy0xLG51bGxd", "bnVsbA=="])
def test_a_token_that_nobody_gave_is_refused(watch: Watch, token: str) -> None:
    code, _ = watch.refusal("get_metric_data", **ask(query(), NextToken=token))
    assert code == "InvalidNextToken"


def test_five_hundred_queries_are_answered_and_no_more(lasting: Watch) -> None:
    many = [query(f"m{number}") for number in range(501)]
    lasting.put(60, NOON, sent(3))
    assert shown(lasting, *many[:500]) == {f"m{number}": [(0, 3)] for number in range(500)}
    assert lasting.refusal("get_metric_data", **ask(*many))[0] == "ValidationError"
