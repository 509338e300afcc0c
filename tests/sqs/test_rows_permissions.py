"""Rows 126–129: tags, permissions and policies."""

import json
from typing import Any

import pytest

from penstock.core.limits import Limits

from .clients import Client
from .harness import ACCOUNT, OTHER_ACCOUNT, STRANGER, World, done, make, row


@row(126)
async def test_tags_are_put_overwritten_and_taken_off(client: Client) -> None:
    done(await client.call("CreateQueue", QueueName="orders", tags={"tag1": "v1", "tag2": "v2", "tag3": ""}))
    queue = await make(client, "orders")
    assert await queue.do("ListQueueTags") == {"Tags": {"tag1": "v1", "tag2": "v2", "tag3": ""}}
    await queue.do("TagQueue", Tags={"tag1": "new", "Tag1": "other", "a b:/=+-@_.": "ü/=+-@ :."})
    expected = {"tag1": "new", "tag2": "v2", "tag3": "", "Tag1": "other", "a b:/=+-@_.": "ü/=+-@ :."}
    assert await queue.do("ListQueueTags") == {"Tags": expected}
    await queue.do("UntagQueue", TagKeys=["tag2", "unknown", "TAG1"])
    del expected["tag2"]
    assert await queue.do("ListQueueTags") == {"Tags": expected}
    await queue.do("UntagQueue", TagKeys=list(expected))
    reply = await queue.call("ListQueueTags")
    assert (reply.status, reply.result) == (200, {})
    assert reply.body == b"{}" if client.protocol == "json" else b"<ListQueueTagsResult/>" in reply.body


async def policy_of(queue: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((await queue.attributes("Policy"))["Policy"])
    return document


@row(127)
async def test_a_permission_is_a_statement_of_the_policy(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.do("AddPermission", Label="one", AWSAccountIds=[ACCOUNT], Actions=["ReceiveMessage"])
    first = {
        "Sid": "one",
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
        "Action": "SQS:ReceiveMessage",
        "Resource": queue.arn,
    }
    document = {"Version": "2008-10-17", "Id": f"{queue.arn}/SQSDefaultPolicy", "Statement": [first]}
    assert await queue.attributes("Policy") == {"Policy": json.dumps(document, separators=(",", ":"))}
    accounts = [ACCOUNT, OTHER_ACCOUNT]
    await queue.do("AddPermission", Label="two", AWSAccountIds=accounts, Actions=["SendMessage", "DeleteMessage"])
    second = first | {
        "Sid": "two",
        "Principal": {"AWS": [f"arn:aws:iam::{account}:root" for account in accounts]},
        "Action": ["SQS:SendMessage", "SQS:DeleteMessage"],
    }
    assert await policy_of(queue) == document | {"Statement": [first, second]}
    again = {"Label": "one", "AWSAccountIds": [OTHER_ACCOUNT], "Actions": ["SendMessage"]}
    message = "Value one for parameter Label is invalid. Reason: Already exists."
    await queue.refuses("InvalidParameterValue", message, "AddPermission", **again)


@row(127)
async def test_a_permission_is_for_seven_actions_at_most(client: Client) -> None:
    queue = await make(client, "orders")
    actions = [
        "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes",
        "GetQueueUrl", "ListDeadLetterSourceQueues", "PurgeQueue",
    ]  # fmt: skip
    given = {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": actions}
    await queue.refuses("OverLimit", None, "AddPermission", **given)
    await queue.do("AddPermission", **given | {"Actions": actions[:7]})


@row(128)
async def test_a_policy_goes_with_its_last_statement(client: Client) -> None:
    queue = await make(client, "orders")
    for label in ("one", "two"):
        await queue.do("AddPermission", Label=label, AWSAccountIds=[ACCOUNT], Actions=["*"])
    message = "Value three for parameter Label is invalid. Reason: can't find label."
    await queue.refuses("InvalidParameterValue", message, "RemovePermission", Label="three")
    await queue.do("RemovePermission", Label="one")
    assert [statement["Sid"] for statement in (await policy_of(queue))["Statement"]] == ["two"]
    await queue.do("RemovePermission", Label="two")
    assert await queue.do("GetQueueAttributes", AttributeNames=["Policy"]) == {}
    message = "Value two for parameter Label is invalid. Reason: can't find label."
    await queue.refuses("InvalidParameterValue", message, "RemovePermission", Label="two")


@row(129)
async def test_a_policy_is_kept_as_it_was_written_until_an_empty_one_removes_it(client: Client) -> None:
    queue = await make(client, "orders")
    policy = '{ "Version":"2012-10-17",\n "Statement": [ {"Sid":"ü","Effect":"Allow","Principal":"*",' + (
        f'"Action":"sqs:SendMessage", "Resource":"{queue.arn}"}} ] }}'
    )
    for _ in range(2):
        await queue.set(Policy=policy)
        assert await queue.attributes("Policy") == {"Policy": policy}
        await queue.set(Policy="")
        assert await queue.attributes("Policy") == {}
    await queue.set(Policy="")


@row(129)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_policy_statements=30, max_policy_bytes=30_000)}])
async def test_a_policy_may_be_as_large_as_the_operator_lets_it_and_holds(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    statement = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": queue.arn}
    many = [statement | {"Sid": f"{number:0800}"} for number in range(31)]
    too_many = "31 statements were found in the submitted policy, max allowed is 30"
    attributes = {"Policy": json.dumps({"Version": "2012-10-17", "Statement": many})}
    await queue.refuses("OverLimit", too_many, "SetQueueAttributes", Attributes=attributes)
    await queue.set(Policy=json.dumps({"Version": "2012-10-17", "Statement": many[:30]}))
    done(await world.client(client.protocol, STRANGER).call("SendMessage", QueueUrl=queue.url, MessageBody="m"))
