"""Queues shared between accounts and with everyone: permissions, senders, policies that are refused, moves."""

import json
from typing import Any

import pytest
from deciding import (
    ACCOUNT,
    ANN,
    ARN,
    BOB,
    DEAD,
    DEAD_ARN,
    HOST,
    NOBODY,
    OTHER_ACCOUNT,
    REGION,
    ROOT,
    STRANGER,
    URL,
    Operation,
    Town,
    allow,
    written,
)

SEND, RECEIVE = Operation("sqs", "SendMessage"), Operation("sqs", "ReceiveMessage")
ADD, REMOVE = Operation("sqs", "AddPermission"), Operation("sqs", "RemovePermission")
SET, GET, CREATE = (Operation("sqs", name) for name in ("SetQueueAttributes", "GetQueueAttributes", "CreateQueue"))
URL_OF, MOVE, LIST = (Operation("sqs", name) for name in ("GetQueueUrl", "StartMessageMoveTask", "ListQueues"))


def test_a_permission_is_in_force_when_it_is_given_and_gone_when_it_is_taken(town: Town) -> None:
    assert town.call(STRANGER, SEND).denied
    assert town.call(ROOT, ADD, Label="shop", AWSAccountIds=[OTHER_ACCOUNT], Actions=["SendMessage"]).code == ""
    assert town.call(STRANGER, SEND).code == ""
    batch = Operation("sqs", "SendMessageBatch")
    assert town.call(STRANGER, batch, Entries=[{"Id": "a", "MessageBody": "m"}]).answer["Successful"]
    assert town.call(STRANGER, RECEIVE).denied
    assert town.call(BOB, SEND).denied, "a user of that account needs its own account's leave"
    town.give(BOB, allow("sqs:SendMessage", ARN))
    assert town.call(BOB, SEND).code == ""
    assert town.call(ROOT, REMOVE, Label="shop").code == ""
    assert town.call(STRANGER, SEND).denied
    assert town.call(BOB, SEND).denied


def test_everything_that_is_permitted_is_not_what_only_the_owner_may(town: Town) -> None:
    assert town.call(ROOT, ADD, Label="all", AWSAccountIds=[OTHER_ACCOUNT], Actions=["*"]).code == ""
    assert not town.call(STRANGER, RECEIVE).denied
    assert town.call(STRANGER, Operation("sqs", "DeleteQueue")).denied
    assert town.call(STRANGER, SET, Attributes={"DelaySeconds": "5"}).denied


def test_the_url_of_a_shared_queue_is_found_by_its_owner(town: Town) -> None:
    named = {"QueueName": "orders", "QueueOwnerAWSAccountId": ACCOUNT}
    assert town.call(STRANGER, URL_OF, **named).denied
    town.set_policy(allow("sqs:GetQueueUrl", ARN, Principal={"AWS": OTHER_ACCOUNT}))
    assert town.call(STRANGER, URL_OF, **named).answer["QueueUrl"] == URL
    assert "QueueUrls" not in town.call(STRANGER, LIST).answer, "it is not listed among one's own"


@pytest.mark.parametrize(
    ("key", "sender"), [(ROOT, ACCOUNT), (ANN, "AIDAANN"), (STRANGER, OTHER_ACCOUNT), (NOBODY, "192.0.2.1")]
)
def test_a_receiver_is_told_who_sent(town: Town, key: str, sender: str) -> None:
    town.set_policy(allow("sqs:SendMessage", ARN, Principal="*"))
    assert town.call(key, SEND, MessageBody="hello").code == ""
    (message,) = town.call(ROOT, RECEIVE, AttributeNames=["SenderId"]).answer["Messages"]
    assert (message["Body"], message["Attributes"]) == ("hello", {"SenderId": sender})


def test_nobody_can_work_on_a_queue_that_is_open(town: Town) -> None:
    town.set_policy(allow("sqs:*", ARN, Principal="*"))
    assert town.call(NOBODY, SEND, MessageBody="hello").code == ""
    (message,) = town.call(NOBODY, RECEIVE).answer["Messages"]
    delete = Operation("sqs", "DeleteMessage")
    assert town.call(NOBODY, delete, ReceiptHandle=message["ReceiptHandle"]).code == ""
    assert town.call(NOBODY, SEND, QueueUrl=f"http://{HOST}/{ACCOUNT}/{DEAD}").denied
    assert town.call(NOBODY, SEND, QueueUrl="orders").denied, "a name alone names no account"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"Effect": "Perhaps"}, "Effect"),
    ({"Principal": {"AWS": "not an account"}}, "Principal"),
    ({"Condition": {"StringIs": {"aws:username": "x"}}}, "Condition"),
    ({"Condition": {"IpAddress": {"aws:SourceIp": "300.0.0.1"}}}, "Condition"),
    ({"Action": "SendMessage"}, "Action"),
    ({"Resource": None}, "Resource"),
]


@pytest.mark.parametrize(("change", "place"), BAD, ids=[place for _, place in BAD])
def test_a_policy_that_makes_no_sense_is_refused_with_the_reason_and_the_place(
    town: Town, change: dict[str, Any], place: str
) -> None:
    good = allow("sqs:SendMessage", ARN, Principal="*")
    bad = {name: value for name, value in (good | change).items() if value is not None}
    for operation, given in ((SET, {}), (CREATE, {"QueueName": "new"})):
        attributes = {"Policy": written(good | {"Sid": "first"}, bad), "DelaySeconds": "7"}
        outcome = town.call(ROOT, operation, Attributes=attributes, **given)
        assert outcome.code == "InvalidAttributeValue"
        assert outcome.message.startswith("Invalid value for the parameter Policy. Reason: ")
        assert "Statement[1]" in outcome.message
        assert place in outcome.message
    assert town.call(ROOT, GET, AttributeNames=["DelaySeconds", "Policy"]).answer["Attributes"] == {"DelaySeconds": "0"}
    assert [url.rpartition("/")[2] for url in town.call(ROOT, LIST).answer["QueueUrls"]] == ["dead", "orders"]


def test_a_permission_beside_a_policy_that_cannot_be_read_is_refused_and_nothing_is_changed(town: Town) -> None:
    town.set_document('{"Statement":[{"Effect":"Allow","Action":"*"}]}')
    assert town.call(ROOT, ADD, Label="l").code == "InvalidAttributeValue"
    (policy,) = town.call(ROOT, GET, AttributeNames=["Policy"]).answer["Attributes"].values()
    assert json.loads(policy) == {"Statement": [{"Effect": "Allow", "Action": "*"}]}


def test_who_starts_a_move_must_be_allowed_to_send_to_where_it_goes(town: Town) -> None:
    moving = ["sqs:StartMessageMoveTask", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
    town.give(ANN, allow(moving, DEAD_ARN))
    for destination in ({}, {"DestinationArn": ARN}, {"DestinationArn": f"{ARN}-that-is-not-there"}):
        outcome = town.call(ANN, MOVE, **destination)
        assert outcome.denied, destination
        assert "sqs:sendmessage on resource: " in outcome.message
    town.give(ANN, allow(moving, DEAD_ARN), allow("sqs:SendMessage", ARN))
    assert town.call(ANN, MOVE, DestinationArn=ARN).code == ""


def test_metrics_of_other_accounts_are_for_those_who_may_in_the_root_account(town: Town) -> None:
    metrics = Operation("penstock", "GetQueueMetrics")
    town.give(ANN, allow("penstock:GetQueueMetrics"))
    town.give(BOB, allow("penstock:GetQueueMetrics"))
    assert town.call(ANN, metrics, Account="*").code == ""
    assert town.call(BOB, metrics).code == ""
    assert town.call(BOB, metrics, QueueUrl=URL).denied
    for account in ("*", ACCOUNT):
        assert town.call(BOB, metrics, Account=account).denied
        assert town.call(STRANGER, metrics, Account=account).denied


def test_the_region_of_a_queue_is_part_of_its_name(town: Town) -> None:
    town.give(ANN, allow("sqs:SendMessage", f"arn:aws:sqs:eu-west-1:{ACCOUNT}:*"))
    assert town.call(ANN, SEND).denied
    town.give(ANN, allow("sqs:SendMessage", f"arn:aws:sqs:{REGION}:*:ord*"))
    assert town.call(ANN, SEND).code == ""
