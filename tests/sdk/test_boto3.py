"""The current boto3, which speaks JSON: what the scenario found, and what only this SDK has."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from server_process import MODELS, Server

from .scenario import Facts, Teller

ACCOUNT = "000000000000"


@pytest.fixture
def tell(sqs: Any, request: pytest.FixtureRequest) -> Teller:
    return Teller(sqs, f"{request.function.__name__[5:45]}-")


def test_the_current_boto3_speaks_json(sqs: Any) -> None:
    assert sqs.meta.service_model.metadata["protocol"] == "json"


def test_the_scenario_uses_every_action_of_sqs(sqs: Any, told: dict[str, Facts], used: set[str]) -> None:
    assert used >= set(sqs.meta.service_model.operation_names)


def test_a_queue_lives_and_is_deleted(told: dict[str, Facts]) -> None:
    facts = dict(told["queue"])
    assert {"QueueArn", "CreatedTimestamp", "SqsManagedSseEnabled", "MaximumMessageSize"} <= set(facts.pop("named"))
    assert facts == {
        "again": True,
        "found": True,
        "listed": ["orders"],
        "attributes": {"DelaySeconds": "0", "VisibilityTimeout": "60"},
        "tags": {"stage": "live"},
        "permission": ["ship", "SQS:SendMessage", {"AWS": "arn:aws:iam::000000000000:root"}],
        "permission removed": True,
        "purged": [0, 0, 0],
        "purged again": ["AWS.SimpleQueueService.PurgeQueueInProgress", 403],
        "deleted": ["AWS.SimpleQueueService.NonExistentQueue", 400],
        "too soon": ["AWS.SimpleQueueService.QueueDeletedRecently", 400],
    }


def test_a_message_arrives_as_it_was_sent_and_is_hidden_until_it_is_deleted(told: dict[str, Facts]) -> None:
    facts = told["message"]
    assert facts["same"] == [True, True, True]
    assert facts["digests again"] == facts["digests"][:2]
    system = {"SenderId", "SentTimestamp", "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp"}
    assert set(facts["attributes"]) == system | {"AWSTraceHeader"}
    assert facts["first"] == ["1", "Root=1-5759e988-bd862e3fe1be46a994272793"]
    assert facts["hidden"] == [[], [0, 1, 0]]
    assert facts["second"] == ["2", [0, 0, 0]]
    assert (facts["largest"], facts["larger"]) == (True, ["InvalidParameterValue", 400])


def test_an_entry_of_a_batch_fails_alone(told: dict[str, Facts]) -> None:
    bad_handle = [["h2", "ReceiptHandleIsInvalid", True]]
    assert told["batches"] == {
        "sent": [["e0", "e2"], [["e1", "InvalidParameterValue", True]]],
        "received": ["parcel 0", "parcel 2"],
        "changed": [["h0", "h1"], bad_handle],
        "deleted": [["h0", "h1"], bad_handle],
        "left": [0, 0, 0],
    }


def test_a_fifo_queue_keeps_the_order_of_groups_and_takes_nothing_twice(told: dict[str, Facts]) -> None:
    assert told["order"] == {
        "numbers grow": True,
        "duplicate": [True, True],
        "counted": [5, 0, 0],
        "first": ["a1", "a", 20],
        "while a is in flight": ["b1", "b2"],
        "then": ["a2", "a3"],
    }


def test_what_fails_too_often_goes_to_the_dead_letter_queue_and_a_move_task_brings_it_back(
    told: dict[str, Facts],
) -> None:
    assert told["dead_letters"] == {
        "tries": [["poison"], []],
        "moved": ["poison", True],
        "sources": ["work"],
        "back": ["poison", True],
        "task": ["COMPLETED", 1, False],
        "twice": ["InvalidParameterValue", 400],
        "cancelled": [True, 1],
        "some stayed": True,
    }


def test_a_long_poll_is_woken_by_whatever_makes_a_message_visible(told: dict[str, Facts]) -> None:
    assert told["long_polls"] == {
        "send": ["ding"],
        "visibility 0": ["ding"],
        "visibility over": ["ding"],
        "delay over": ["dong"],
        "nothing came": [],
        "waited": True,
    }


def refusals(tell: Teller) -> dict[str, Callable[[], Any]]:
    sqs = tell.sqs
    url = tell.create("strict")
    fifo = tell.create("strict.fifo", FifoQueue="true")
    letter = {"QueueUrl": url, "MessageBody": "m"}
    entry = {"Id": "a", "MessageBody": "m"}
    listed = {"many": {"DataType": "String", "StringListValues": ["a", "b"]}}

    def batch(*entries: dict[str, str]) -> Callable[[], Any]:
        return lambda: sqs.send_message_batch(QueueUrl=url, Entries=entries)

    return {
        "QueueDoesNotExist": lambda: sqs.get_queue_url(QueueName="nowhere"),
        "QueueNameExists": lambda: tell.create("strict", DelaySeconds=9),
        "ReceiptHandleIsInvalid": lambda: sqs.delete_message(QueueUrl=url, ReceiptHandle="garbage"),
        "InvalidMessageContents": lambda: sqs.send_message(**letter | {"MessageBody": "\x0b"}),
        "InvalidAttributeName": lambda: tell.attributes(url, "Colour"),
        "InvalidAttributeValue": lambda: tell.create("wrong", VisibilityTimeout="long"),
        "EmptyBatchRequest": batch(),
        "TooManyEntriesInBatchRequest": batch(*({"Id": str(n), "MessageBody": "m"} for n in range(11))),
        "BatchEntryIdsNotDistinct": batch(entry, entry),
        "InvalidBatchEntryId": batch(entry | {"Id": "a b"}),
        "BatchRequestTooLong": batch(*({"Id": str(n), "MessageBody": "m" * 600_000} for n in range(2))),
        "UnsupportedOperation": lambda: sqs.send_message(**letter, MessageAttributes=listed),
        "ResourceNotFoundException": lambda: sqs.start_message_move_task(SourceArn=f"{tell.arn(fifo)}-nowhere"),
    }


def test_what_is_refused_is_raised_as_the_exception_of_that_name(tell: Teller) -> None:
    for name, call in refusals(tell).items():
        with pytest.raises(getattr(tell.sqs.exceptions, name)):
            call()


def test_what_has_no_exception_of_its_own_has_its_code(tell: Teller) -> None:
    url = tell.create("strict.fifo", FifoQueue="true")
    assert tell.refusal("send_message", QueueUrl=url, MessageBody="m") == ["MissingParameter", 400]
    assert tell.refusal("receive_message", QueueUrl=url, MaxNumberOfMessages=11) == ["InvalidParameterValue", 400]


def test_the_sdk_finds_the_same_digests(tell: Teller) -> None:
    """boto3 checks the MD5 of every message itself, and would raise."""
    url = tell.create("digests")
    for body in ("plain", "zażółć", " leading\r\n", "&amp;"):
        tell.send(url, body)
    assert sorted(tell.bodies(url)) == sorted(["plain", "zażółć", " leading\r\n", "&amp;"])


def test_queues_are_listed_page_by_page(tell: Teller) -> None:
    for number in range(7):
        tell.create(f"page-{number}")
    pages = tell.sqs.get_paginator("list_queues").paginate(
        QueueNamePrefix=f"{tell.prefix}page", PaginationConfig={"PageSize": 3}
    )
    found = [[tell.name(url) for url in page["QueueUrls"]] for page in pages]
    assert [len(page) for page in found] == [3, 3, 1]
    assert [name for page in found for name in page] == [f"page-{number}" for number in range(7)]


def test_the_resources_of_boto3_work(server: Server) -> None:
    session = boto3.Session(server.access_key, server.secret_key, region_name=server.region)
    sqs = session.resource("sqs", endpoint_url=server.url)
    queue = sqs.create_queue(QueueName="resource", Attributes={"VisibilityTimeout": "7"})
    assert queue.url == f"{server.url}/{ACCOUNT}/resource"
    assert queue.attributes["VisibilityTimeout"] == "7"
    sent = queue.send_message(MessageBody="by resource")
    (message,) = sqs.get_queue_by_name(QueueName="resource").receive_messages(WaitTimeSeconds=1)
    assert (message.message_id, message.body) == (sent["MessageId"], "by resource")
    message.change_visibility(VisibilityTimeout=0)
    (message,) = queue.receive_messages()
    message.delete()
    queue.reload()
    assert queue.attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
    assert [found.url for found in sqs.queues.filter(QueueNamePrefix="resource")] == [queue.url]
    queue.delete()
    with pytest.raises(ClientError, match="NonExistentQueue"):
        sqs.get_queue_by_name(QueueName="resource")


def test_sts_says_who_is_calling(server: Server) -> None:
    identity = server.client("sts").get_caller_identity()
    assert identity.pop("ResponseMetadata")["HTTPStatusCode"] == 200
    assert identity == {"UserId": ACCOUNT, "Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:root"}


def test_a_service_of_our_own_is_called_like_any_other(server: Server, tell: Teller, monkeypatch: Any) -> None:
    url = tell.create("peeked")
    for body in ("one", "two", "three"):
        tell.send(url, body)
    tell.receive(url, 1)
    monkeypatch.setenv("AWS_DATA_PATH", str(MODELS))
    session = boto3.Session(server.access_key, server.secret_key, region_name=server.region)
    own = session.client("penstock", endpoint_url=server.url)
    pages = own.get_paginator("peek_messages").paginate(QueueUrl=url, PaginationConfig={"PageSize": 2})
    shown = [message for page in pages for message in page.get("Messages", [])]
    assert [message["Body"] for message in shown] == ["one", "two", "three"]
    assert [message["Attributes"]["ApproximateReceiveCount"] for message in shown] == ["1", "0", "0"]
    assert tell.counts(url) == [2, 1, 0]
