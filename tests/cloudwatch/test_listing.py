"""ListMetrics: which queues are listed, by which filters, page by page."""

from typing import Any

import pytest

from penstock.core.metrics import NAMES
from sqs.harness import ACCOUNT, OTHER_ACCOUNT, OTHER_REGION, STRANGER

from .watching import NOON, ORDERS, SENT, Watch, sent

DAY = 86_400


def listed(watch: Watch, **given: Any) -> list[tuple[str, str]]:
    found = []
    for page in watch.client.get_paginator("list_metrics").paginate(**given):
        for metric in page["Metrics"]:
            assert metric["Namespace"] == "AWS/SQS"
            (dimension,) = metric["Dimensions"]
            assert dimension["Name"] == "QueueName"
            found.append((dimension["Value"], metric["MetricName"]))
    return found


def queues(watch: Watch, **given: Any) -> list[str]:
    return [queue for queue, _ in listed(watch, MetricName=SENT, **given)]


def test_a_queue_has_all_nine_metrics(watch: Watch) -> None:
    assert listed(watch) == []
    watch.put(60, NOON, sent(1))
    assert listed(watch) == [("orders", name) for name in sorted(NAMES)]
    assert listed(watch, Namespace="AWS/SQS", MetricName=SENT) == [("orders", SENT)]


def test_queues_are_listed_that_were_counted_or_put_here_once_each(watch: Watch) -> None:
    watch.put(60, NOON, sent(1), ORDERS._replace(name="b"))
    watch.put(300, NOON, sent(1), ORDERS._replace(name="a"))
    watch.count(NOON, queue=ORDERS._replace(name="b"))
    watch.count(NOON, queue=ORDERS._replace(name="c"))
    assert queues(watch) == ["a", "b", "c"]


def test_a_queue_is_listed_for_two_weeks_or_three_hours(watch: Watch) -> None:
    watch.put(300, NOON - 15 * DAY, sent(1), ORDERS._replace(name="old"))
    watch.put(300, NOON - 13 * DAY, sent(1), ORDERS._replace(name="quiet"))
    watch.put(300, NOON - 3600, sent(1), ORDERS._replace(name="busy"))
    assert queues(watch) == ["busy", "quiet"]
    assert queues(watch, RecentlyActive="PT3H") == ["busy"]
    for name, known in (("old", False), ("quiet", True)):
        assert queues(watch, Dimensions=[{"Name": "QueueName", "Value": name}]) == ([name] if known else [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Dimensions": [{"Name": "QueueName"}]}, ["orders", "others"]),
        ({"Dimensions": [{"Name": "QueueName", "Value": "others"}]}, ["others"]),
        ({"Dimensions": [{"Name": "QueueName", "Value": "none"}]}, []),
        ({"Dimensions": [{"Name": "TopicName"}]}, []),
        ({"Dimensions": [{"Name": "QueueName", "Value": "orders"}, {"Name": "QueueName", "Value": "others"}]}, []),
        ({"Namespace": "AWS/SNS"}, []),
        ({"MetricName": "NumberOfThings"}, []),
        ({"OwningAccount": ACCOUNT}, ["orders", "others"]),
        ({"OwningAccount": OTHER_ACCOUNT}, []),
    ],
    ids=str,
)
def test_filters(watch: Watch, given: dict[str, Any], expected: list[str]) -> None:
    watch.put(60, NOON, sent(1))
    watch.count(NOON, queue=ORDERS._replace(name="others"))
    assert [queue for queue, _ in listed(watch, **({"MetricName": SENT} | given))] == expected


def test_the_owner_is_told_to_whoever_asks_for_linked_accounts(watch: Watch) -> None:
    watch.put(60, NOON, sent(1))
    reply = watch.client.list_metrics(MetricName=SENT, IncludeLinkedAccounts=True)
    assert reply["OwningAccounts"] == [ACCOUNT]


def test_an_account_lists_its_own_of_its_region(watch: Watch) -> None:
    watch.put(60, NOON, sent(1))
    watch.put(60, NOON, sent(1), ORDERS._replace(account=OTHER_ACCOUNT, name="theirs"))
    watch.put(60, NOON, sent(1), ORDERS._replace(region=OTHER_REGION, name="elsewhere"))
    watch.count(NOON, queue=ORDERS._replace(account=OTHER_ACCOUNT, name="counted"))
    assert queues(watch) == ["orders"]
    watch.key = STRANGER
    assert queues(watch) == ["counted", "theirs"]


def test_pages_have_five_hundred_metrics_at_most_and_miss_none(lasting: Watch) -> None:
    names = [f"q{number:04}" for number in range(130)]
    for name in names[::2]:
        lasting.put(60, NOON, sent(1), ORDERS._replace(name=name))
    for name in names[1::2]:
        lasting.count(NOON, queue=ORDERS._replace(name=name))
    pages = list(lasting.client.get_paginator("list_metrics").paginate())
    assert [len(page["Metrics"]) for page in pages] == [495, 495, 180]
    assert listed(lasting) == [(name, metric) for name in names for metric in sorted(NAMES)]


def test_a_token_that_nobody_gave_is_refused(watch: Watch) -> None:
    code, _ = watch.refusal("list_metrics", NextToken="!!")
    assert code == "InvalidParameterValue"
