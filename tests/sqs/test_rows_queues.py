"""Rows 112–125: queues and their attributes."""

from typing import Any

import pytest

from penstock.core.limits import Limits

from .clients import Client
from .harness import (
    ACCOUNT,
    OTHER_ACCOUNT,
    OTHER_REGION,
    REGION,
    STRANGER,
    World,
    done,
    make,
    no_such_queue,
    redrive,
    refused,
    row,
)

BAD_NAME = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
DEFAULTS = {
    "ApproximateNumberOfMessages": "0",
    "ApproximateNumberOfMessagesDelayed": "0",
    "ApproximateNumberOfMessagesNotVisible": "0",
    "CreatedTimestamp": "1700000000",
    "DelaySeconds": "0",
    "LastModifiedTimestamp": "1700000000",
    "MaximumMessageSize": "1048576",
    "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0",
    "SqsManagedSseEnabled": "true",
    "VisibilityTimeout": "30",
}
FIFO_DEFAULTS = {
    "ContentBasedDeduplication": "false",
    "DeduplicationScope": "queue",
    "FifoQueue": "true",
    "FifoThroughputLimit": "perQueue",
}


def exists_with_other(attribute: str) -> str:
    return f"A queue already exists with the same name and a different value for attribute {attribute}"


async def create(client: Client, name: str = "orders", **attributes: str) -> str:
    url: str = done(await client.call("CreateQueue", QueueName=name, Attributes=attributes))["QueueUrl"]
    return url


@row(112)
async def test_creating_a_queue_again_without_attributes_finds_it(client: Client) -> None:
    queue = await make(client, "orders", VisibilityTimeout=77, DelaySeconds=5)
    await queue.send()
    assert await create(client) == queue.url
    assert done(await client.call("CreateQueue", QueueName="orders")) == {"QueueUrl": queue.url}
    assert (await queue.attributes("VisibilityTimeout")) == {"VisibilityTimeout": "77"}
    assert await queue.counts() == (0, 0, 1)


@row(113)
async def test_only_the_attributes_given_are_compared_and_with_present_values(client: Client) -> None:
    queue = await make(client, "orders", VisibilityTimeout=77, DelaySeconds=5)
    assert await create(client, DelaySeconds="5") == queue.url
    assert await create(client, MaximumMessageSize="1048576", VisibilityTimeout="77") == queue.url, "a default counts"
    await queue.set(DelaySeconds=6)
    assert await create(client, DelaySeconds="6") == queue.url
    creation = {"QueueName": "orders", "Attributes": {"DelaySeconds": "5"}}
    await refused(client, "QueueNameExists", exists_with_other("DelaySeconds"), "CreateQueue", **creation)


@row(114)
@pytest.mark.parametrize(
    ("name", "attributes", "different"),
    [
        ("orders", {"DelaySeconds": "1"}, "DelaySeconds"),
        ("orders", {"VisibilityTimeout": "30", "DelaySeconds": "1", "MaximumMessageSize": "1024"}, "DelaySeconds"),
        ("orders.fifo", {"FifoQueue": "true", "ContentBasedDeduplication": "true"}, "ContentBasedDeduplication"),
    ],
)
async def test_another_value_is_refused_and_the_first_one_named(
    client: Client, name: str, attributes: dict[str, str], different: str
) -> None:
    await make(client, name)
    creation = {"QueueName": name, "Attributes": attributes}
    await refused(client, "QueueNameExists", exists_with_other(different), "CreateQueue", **creation)


@row(115)
async def test_a_name_is_free_again_a_minute_after_its_queue_was_deleted(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    await queue.do("DeleteQueue")
    message = "You must wait 60 seconds after deleting a queue before you can create another with the same name."
    await refused(client, "QueueDeletedRecently", message, "CreateQueue", QueueName="orders")
    world.advance(59.999)
    await refused(client, "QueueDeletedRecently", message, "CreateQueue", QueueName="orders")
    world.advance(0.001)
    await make(client, "orders")
    assert await queue.counts() == (0, 0, 0)


@row(115)
@pytest.mark.parametrize("settings", [{"recreate_wait_seconds": 0, "purge_wait_seconds": 0}])
async def test_the_waits_can_be_turned_off(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.do("PurgeQueue")
    await queue.do("PurgeQueue")
    await queue.do("DeleteQueue")
    await make(client, "orders")


@row(116)
@pytest.mark.parametrize("value", ["true", "false"])
async def test_a_standard_queue_does_not_know_of_fifo(client: Client, value: str) -> None:
    message, attributes = "Unknown Attribute FifoQueue.", {"FifoQueue": value}
    if value == "false":
        creation = {"QueueName": "another", "Attributes": attributes}
        await refused(client, "InvalidAttributeName", message, "CreateQueue", **creation)
    queue = await make(client, "orders")
    await queue.refuses("InvalidAttributeName", message, "SetQueueAttributes", Attributes=attributes)


@row(116)
async def test_a_fifo_queue_stays_one(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.set(FifoQueue="true")
    message = "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported."
    await queue.refuses("InvalidAttributeValue", message, "SetQueueAttributes", Attributes={"FifoQueue": "false"})


@row(117)
@pytest.mark.parametrize(
    ("attribute", "value"), [("DeduplicationScope", "queue"), ("FifoThroughputLimit", "perQueue")]
)  # fmt: skip
async def test_fifo_settings_are_for_fifo_queues(client: Client, attribute: str, value: str) -> None:
    message = f"You can specify the {attribute} only when FifoQueue is set to true."
    creation = {"QueueName": "another", "Attributes": {attribute: value}}
    await refused(client, "InvalidAttributeName", message, "CreateQueue", **creation)
    queue = await make(client, "orders")
    await queue.refuses("InvalidAttributeName", message, "SetQueueAttributes", Attributes={attribute: value})


@row(118)
@pytest.mark.parametrize("params", [{}, {"AttributeNames": []}, {"AttributeNames": ["Policy", "KmsMasterKeyId"]}])
async def test_who_asks_for_nothing_gets_nothing(client: Client, params: dict[str, Any]) -> None:
    queue = await make(client, "orders")
    reply = await queue.call("GetQueueAttributes", **params)
    assert (reply.status, reply.result) == (200, {})
    assert reply.body == b"{}" if client.protocol == "json" else b"<GetQueueAttributesResult/>" in reply.body


@row(119)
async def test_an_attribute_that_nobody_knows(client: Client) -> None:
    queue = await make(client, "orders")
    message = "Unknown Attribute Foobar."
    for names in (["Foobar"], ["VisibilityTimeout", "Foobar"], ["All", "Foobar"]):
        await queue.refuses("InvalidAttributeName", message, "GetQueueAttributes", AttributeNames=names)
    await queue.refuses("InvalidAttributeName", message, "SetQueueAttributes", Attributes={"Foobar": "1"})
    creation = {"QueueName": "another", "Attributes": {"Foobar": "1"}}
    await refused(client, "InvalidAttributeName", message, "CreateQueue", **creation)
    await queue.refuses(
        "InvalidAttributeName", None, "SetQueueAttributes", Attributes={"QueueArn": queue.arn}
    )  # fmt: skip


@row(120)
@pytest.mark.parametrize(("name", "more"), [("orders", {}), ("orders.fifo", FIFO_DEFAULTS)])
async def test_what_a_new_queue_says_of_itself(world: World, client: Client, name: str, more: dict[str, str]) -> None:
    queue = await make(client, name)
    world.advance(3)
    assert await queue.attributes("All") == DEFAULTS | more | {"QueueArn": queue.arn}
    await queue.set(DelaySeconds=0)
    assert (await queue.attributes("All"))["CreatedTimestamp"] == "1700000000"
    await queue.set(DelaySeconds=1)
    assert await queue.attributes("LastModifiedTimestamp", "QueueArn") == {
        "LastModifiedTimestamp": "1700000003", "QueueArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}",
    }  # fmt: skip


SSE = ("KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled")


@row(121)
async def test_a_key_of_kms_turns_the_queues_own_encryption_off_and_it_stays_off(client: Client) -> None:
    queue = await make(client, "orders")
    assert await queue.attributes(*SSE) == {"SqsManagedSseEnabled": "true"}
    await queue.set(KmsMasterKeyId="testKeyId", KmsDataKeyReusePeriodSeconds=6000)
    with_key = {"KmsMasterKeyId": "testKeyId", "KmsDataKeyReusePeriodSeconds": "6000", "SqsManagedSseEnabled": "false"}
    assert await queue.attributes(*SSE) == with_key
    await queue.set(KmsMasterKeyId="", KmsDataKeyReusePeriodSeconds=300)
    assert await queue.attributes(*SSE) == {"SqsManagedSseEnabled": "false"}
    await queue.set(SqsManagedSseEnabled="true")
    assert await queue.attributes(*SSE) == {"SqsManagedSseEnabled": "true"}


@row(121)
async def test_one_kind_of_encryption_at_a_time(client: Client) -> None:
    message = (
        "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE."
    )
    both = {"KmsMasterKeyId": "testKeyId", "SqsManagedSseEnabled": "true"}
    queue = await make(client, "orders")
    await queue.refuses("InvalidAttributeName", message, "SetQueueAttributes", Attributes=both)
    creation = {"QueueName": "another", "Attributes": both}
    await refused(client, "InvalidAttributeName", message, "CreateQueue", **creation)


@row(122)
async def test_booleans_are_told_in_lower_case(client: Client) -> None:
    await create(client, "a.fifo", FifoQueue="True", ContentBasedDeduplication="TRUE", SqsManagedSseEnabled="False")
    queue = await make(client, "a.fifo")
    names = ("FifoQueue", "ContentBasedDeduplication", "SqsManagedSseEnabled")
    assert await queue.attributes(*names) == dict(zip(names, ("true", "true", "false"), strict=True))
    await create(client, "a.fifo", FifoQueue="true", ContentBasedDeduplication="True")
    await queue.set(ContentBasedDeduplication="fAlse")
    assert await queue.attributes("ContentBasedDeduplication") == {"ContentBasedDeduplication": "false"}


@row(123)
@pytest.mark.parametrize("name", ["a" * 81, "invalid/name", "a b", "ä", "a.b", "a\n", "../a", "a%20b"])
async def test_a_name_is_a_word_of_up_to_eighty_characters(client: Client, name: str) -> None:
    await refused(client, "InvalidParameterValue", BAD_NAME, "CreateQueue", QueueName=name)


@row(123)
async def test_names_are_case_sensitive(client: Client) -> None:
    names = ["A-_09z", "ORDERS", "Orders", "a" * 80, "orders"]
    urls = [await create(client, name) for name in names]
    assert len(set(urls)) == len(names)
    assert done(await client.call("ListQueues")) == {"QueueUrls": urls}
    assert done(await client.call("GetQueueUrl", QueueName="Orders")) == {"QueueUrl": urls[2]}
    await no_such_queue(client, "GetQueueUrl", QueueName="oRders")


@row(124)
async def test_a_queue_that_does_not_exist(client: Client) -> None:
    url = f"http://queue.test/{ACCOUNT}/nowhere"
    entry = {"Id": "1", "ReceiptHandle": "h"}
    calls: dict[str, dict[str, Any]] = {
        "AddPermission": {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["SendMessage"]},
        "ChangeMessageVisibility": {"ReceiptHandle": "h", "VisibilityTimeout": 1},
        "ChangeMessageVisibilityBatch": {"Entries": [entry | {"VisibilityTimeout": 1}]},
        "DeleteMessage": {"ReceiptHandle": "h"},
        "DeleteMessageBatch": {"Entries": [entry]},
        "DeleteQueue": {},
        "GetQueueAttributes": {},
        "ListDeadLetterSourceQueues": {},
        "ListQueueTags": {},
        "PurgeQueue": {},
        "ReceiveMessage": {},
        "RemovePermission": {"Label": "l"},
        "SendMessage": {"MessageBody": "m"},
        "SendMessageBatch": {"Entries": [{"Id": "1", "MessageBody": "m"}]},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
        "TagQueue": {"Tags": {"k": "v"}},
        "UntagQueue": {"TagKeys": ["k"]},
    }
    for action, params in calls.items():
        await no_such_queue(client, action, QueueUrl=url, **params)
    await no_such_queue(client, "GetQueueUrl", QueueName="nowhere")


@row(125)
async def test_queues_are_listed_by_prefix_and_in_pages_if_wanted(client: Client) -> None:
    assert done(await client.call("ListQueues")) == {}
    names = [f"a{n}" for n in range(4)] + ["Ab", "b0"]
    urls = {name: await create(client, name) for name in names}
    in_order = [urls[name] for name in sorted(names)]
    assert done(await client.call("ListQueues")) == {"QueueUrls": in_order}
    some = [urls[f"a{n}"] for n in range(4)]
    assert done(await client.call("ListQueues", QueueNamePrefix="a")) == {"QueueUrls": some}
    assert done(await client.call("ListQueues", QueueNamePrefix="x")) == {}
    assert done(await client.call("ListQueues", QueueNamePrefix="a", MaxResults=4)) == {"QueueUrls": some}
    first = done(await client.call("ListQueues", QueueNamePrefix="a", MaxResults=3))
    assert (first["QueueUrls"], first.keys()) == (some[:3], {"QueueUrls", "NextToken"})
    more = {"QueueNamePrefix": "a", "MaxResults": 3, "NextToken": first["NextToken"]}
    assert done(await client.call("ListQueues", **more)) == {"QueueUrls": some[3:]}
    for wrong in (0, 1001):
        await refused(client, "InvalidParameterValue", None, "ListQueues", MaxResults=wrong)


@row(125)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_list_results=3)}])
async def test_no_list_is_longer_than_the_limit_and_a_token_is_for_who_asked(client: Client) -> None:
    dead = await make(client, "dead")
    for n in range(4):
        await make(client, f"a{n}", RedrivePolicy=redrive(dead, 1))
    for listed, key in (
        (done(await client.call("ListQueues")), "QueueUrls"),
        (await dead.do("ListDeadLetterSourceQueues"), "queueUrls"),
    ):
        assert (len(listed[key]), listed.keys()) == (3, {key})


@row(125)
async def test_each_account_and_each_region_has_its_own_queues(world: World, client: Client) -> None:
    mine = await make(client, "orders")
    elsewhere = world.client(client.protocol, region=OTHER_REGION)
    stranger = world.client(client.protocol, STRANGER)
    for other in (elsewhere, stranger):
        assert done(await other.call("ListQueues")) == {}
        await no_such_queue(other, "GetQueueUrl", QueueName="orders")
    assert f"/{OTHER_ACCOUNT}/orders" in await create(stranger)
    await create(elsewhere)
    assert done(await client.call("ListQueues")) == {"QueueUrls": [mine.url]}
    await refused(stranger, "AccessDenied", None, "SendMessage", QueueUrl=mine.url, MessageBody="m")
