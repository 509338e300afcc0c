"""Rows 99–105, 110 and 111: dead-letter queues, retention, purge."""

import json
from typing import Any

import pytest

from .clients import Client
from .golden import GREETING, MD5_OF_GREETING, MD5_OF_TRACE, string
from .harness import (
    ACCOUNT,
    OTHER_ACCOUNT,
    OTHER_REGION,
    REGION,
    Queue,
    World,
    make,
    make_with_dead_letters,
    redrive,
    refused,
    row,
)

both_types = pytest.mark.parametrize("name", ["orders", "orders.fifo"])


async def let_die(queue: Queue, world: World, *bodies: str) -> None:
    """Messages go to the dead-letter queue of a queue that allows one receive."""
    for body in bodies:
        await queue.send(body)
        await queue.take(VisibilityTimeout=1)
        world.advance(1)
        assert await queue.receive() == []


@row(99)
@both_types
async def test_a_message_dies_when_it_is_asked_for_once_too_often_and_never_by_itself(
    world: World, client: Client, name: str
) -> None:
    queue, dead = await make_with_dead_letters(client, name, 2)
    await queue.send()
    for _ in range(2):
        await queue.take(VisibilityTimeout=1)
        world.advance(60)
        await world.tend()
        assert (await queue.counts(), await dead.counts()) == ((1, 0, 0), (0, 0, 0))
    assert await queue.receive() == []
    assert (await queue.counts(), await dead.counts()) == ((0, 0, 0), (1, 0, 0))


@row(99)
async def test_the_receive_that_buries_one_message_hands_out_the_next(world: World, client: Client) -> None:
    queue, dead = await make_with_dead_letters(client, "orders", 1)
    await queue.send("old")
    await queue.take(VisibilityTimeout=1)
    world.advance(1)
    await queue.send("new")
    assert await queue.bodies() == ["new"]
    assert await dead.bodies() == ["old"]


@row(100)
@both_types
async def test_a_dead_message_keeps_what_it_is(world: World, client: Client, name: str) -> None:
    queue, dead = await make_with_dead_letters(client, name, 1)
    trace = next(iter(MD5_OF_TRACE))
    sent_at = str(world.clock.now())
    sent = await queue.send(
        "foobar", MessageAttributes=GREETING, MessageSystemAttributes={"AWSTraceHeader": string(trace)}
    )
    world.advance(5)
    first_received = str(world.clock.now())
    await queue.take(VisibilityTimeout=1)
    world.advance(5)
    assert await queue.receive() == []
    world.advance(5)
    message = await dead.take(AttributeNames=["All"], MessageAttributeNames=["All"])
    assert (message["MessageId"], message["Body"]) == (sent["MessageId"], "foobar")
    assert message["MessageAttributes"] == GREETING
    assert message["MD5OfMessageAttributes"] == MD5_OF_GREETING["General", "Hello", "Help.Me"]
    about = message["Attributes"]
    assert about["DeadLetterQueueSourceArn"] == queue.arn
    assert about["ApproximateReceiveCount"] == "2"
    assert about["SentTimestamp"] == sent_at
    assert about["ApproximateFirstReceiveTimestamp"] == first_received
    assert about["AWSTraceHeader"] == trace
    assert ("MessageGroupId" in about) == queue.fifo


@row(101)
@pytest.mark.parametrize(("name", "lives"), [("orders", 40), ("orders.fifo", 100)])
async def test_a_dead_standard_message_is_as_old_as_ever_and_a_fifo_one_starts_anew(
    world: World, client: Client, name: str, lives: int
) -> None:
    queue, dead = await make_with_dead_letters(client, name, 1)
    await dead.set(MessageRetentionPeriod=100)
    await queue.send()
    await queue.take(VisibilityTimeout=60)
    world.advance(60)
    assert await queue.receive() == []
    world.advance(lives - 0.001)
    assert await dead.counts() == (1, 0, 0)
    world.advance(0.001)
    assert await dead.counts() == (0, 0, 0)


@row(102)
async def test_the_deduplication_id_of_a_dead_message_is_its_message_id(world: World, client: Client) -> None:
    queue, dead = await make_with_dead_letters(client, "orders.fifo", 1)
    await let_die(queue, world, "m")
    message = await dead.take(AttributeNames=["MessageDeduplicationId"])
    assert message["Attributes"] == {"MessageDeduplicationId": message["MessageId"]}


BOUNDS = "valid values are from 1 to 1000 both inclusive."


@row(103)
@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({}, "Redrive policy does not contain mandatory attribute: maxReceiveCount."),
        ({"deadLetterTargetArn": "ARN"}, "Redrive policy does not contain mandatory attribute: maxReceiveCount."),
        ({"maxReceiveCount": 5}, "Redrive policy does not contain mandatory attribute: deadLetterTargetArn."),
        ({"deadLetterTargetArn": "dummy", "maxReceiveCount": 42}, "Invalid value for deadLetterTargetArn."),
        *(
            ({"deadLetterTargetArn": "ARN", "maxReceiveCount": n}, f"Invalid value for maxReceiveCount: {n}, {BOUNDS}")
            for n in (0, -36, 1001, "0", "text", "")
        ),
        ({"deadLetterTargetArn": "ARN", "maxReceiveCount": True}, None),
        ({"deadLetterTargetArn": "ARN", "maxReceiveCount": 1.5}, None),
        ({"deadLetterTargetArn": "ARN", "maxReceiveCount": None}, None),
        ({"deadLetterTargetArn": 5, "maxReceiveCount": 5}, None),
        (
            {"deadLetterTargetArn": "ARN", "maxReceiveCount": 5, "more": 1},
            "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].",
        ),
    ],
)
async def test_a_redrive_policy_that_is_wrong(client: Client, policy: dict[str, Any], reason: str | None) -> None:
    dead, queue = await make(client, "dead"), await make(client, "orders")
    raw = json.dumps(policy).replace("ARN", dead.arn)
    message = reason and f"Value {raw} for parameter RedrivePolicy is invalid. Reason: {reason}"
    attributes = {"RedrivePolicy": raw}
    await queue.refuses("InvalidParameterValue", message, "SetQueueAttributes", Attributes=attributes)
    creation = {"QueueName": "another", "Attributes": attributes}
    await refused(client, "InvalidParameterValue", message, "CreateQueue", **creation)
    assert await queue.attributes("RedrivePolicy") == {}


@row(103)
@pytest.mark.parametrize("most", [1, 1000, "42"])
async def test_a_redrive_policy_is_set_read_back_and_removed(client: Client, most: int | str) -> None:
    dead, queue = await make(client, "dead"), await make(client, "orders")
    for _ in range(2):
        await queue.set(RedrivePolicy=redrive(dead, most))
        policy = json.loads((await queue.attributes("RedrivePolicy"))["RedrivePolicy"])
        assert policy == {"deadLetterTargetArn": dead.arn, "maxReceiveCount": int(most)}
        await queue.set(RedrivePolicy="")
        assert await queue.attributes("RedrivePolicy") == {}
    await queue.set(RedrivePolicy="")


@row(104)
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:nowhere", "Dead letter target does not exist."),
        (f"arn:aws:sqs:{REGION}:{OTHER_ACCOUNT}:dead", "Dead letter target does not exist."),
        (f"arn:aws:sqs:{OTHER_REGION}:{ACCOUNT}:dead", "Dead letter target does not exist."),
        (f"arn:aws:sqs:{REGION}:{ACCOUNT}:dead.fifo", "Dead-letter queue must be same type of queue as the source.."),
    ],
)
async def test_a_dead_letter_queue_is_one_of_the_same_type_account_and_region(
    client: Client, target: str, reason: str
) -> None:
    for name in ("dead", "dead.fifo"):
        await make(client, name)
    queue = await make(client, "orders")
    raw = json.dumps({"deadLetterTargetArn": target, "maxReceiveCount": 3})
    message = f"Value {raw} for parameter RedrivePolicy is invalid. Reason: {reason}"
    attributes = {"RedrivePolicy": raw}
    await queue.refuses("InvalidParameterValue", message, "SetQueueAttributes", Attributes=attributes)


def allowing(permission: str, *queues: Queue) -> dict[str, str]:
    sources = {"sourceQueueArns": [queue.arn for queue in queues]} if queues else {}
    return {"RedriveAllowPolicy": json.dumps({"redrivePermission": permission} | sources)}


@row(104)
async def test_a_dead_letter_queue_says_whom_it_serves(client: Client) -> None:
    dead, queue, other = [await make(client, name) for name in ("dead", "orders", "other")]
    wanted = {"RedrivePolicy": redrive(dead, 3)}
    for refusing in (allowing("denyAll"), allowing("byQueue", other)):
        await dead.set(**refusing)
        assert await dead.attributes("RedriveAllowPolicy") == refusing
        await queue.refuses("InvalidParameterValue", None, "SetQueueAttributes", Attributes=wanted)
    for welcoming in (allowing("byQueue", other, queue), allowing("allowAll"), {"RedriveAllowPolicy": ""}):
        await dead.set(**welcoming)
        await queue.set(**wanted)
        await queue.set(RedrivePolicy="")


@row(104)
async def test_a_dead_letter_queue_names_ten_queues_at_most(client: Client) -> None:
    dead, queue = await make(client, "dead"), await make(client, "orders")
    await dead.set(**allowing("byQueue", *[queue] * 10))
    raw = allowing("byQueue", *[queue] * 11)["RedriveAllowPolicy"]
    message = (
        f"Value {raw} for parameter RedriveAllowPolicy is invalid. Reason: Amazon SQS can't create the redrive allow "
        "policy. The maximum number of source queue ARNs you can specify is 10."
    )
    attributes = {"RedriveAllowPolicy": raw}
    await dead.refuses("InvalidParameterValue", message, "SetQueueAttributes", Attributes=attributes)


@row(105)
async def test_the_sources_of_a_dead_letter_queue_are_listed_in_pages_if_wanted(client: Client) -> None:
    dead = await make(client, "dead")
    sources = [await make(client, f"source-{n}", RedrivePolicy=redrive(dead, 3)) for n in range(5)]
    await make(client, "bystander")
    urls = [source.url for source in sources]
    assert await dead.do("ListDeadLetterSourceQueues") == {"queueUrls": urls}
    first = await dead.do("ListDeadLetterSourceQueues", MaxResults=3)
    assert (first["queueUrls"], first.keys()) == (urls[:3], {"queueUrls", "NextToken"})
    rest = await dead.do("ListDeadLetterSourceQueues", MaxResults=3, NextToken=first["NextToken"])
    assert rest == {"queueUrls": urls[3:]}
    assert await dead.do("ListDeadLetterSourceQueues", MaxResults=5) == {"queueUrls": urls}


@row(105)
async def test_a_queue_that_is_nobodys_dead_letter_queue_has_no_sources(client: Client) -> None:
    queue, dead = await make_with_dead_letters(client, "orders", 3)
    await queue.set(RedrivePolicy="")
    assert (await dead.do("ListDeadLetterSourceQueues")).get("queueUrls", []) == []


@row(110)
async def test_a_retention_is_a_minute_to_two_weeks(client: Client) -> None:
    queue = await make(client, "orders")
    for seconds in (60, 1_209_600):
        await queue.set(MessageRetentionPeriod=seconds)
    for seconds in (59, 1_209_601):
        wrong = {"MessageRetentionPeriod": str(seconds)}
        message = "Invalid value for the parameter MessageRetentionPeriod."
        await queue.refuses("InvalidAttributeValue", message, "SetQueueAttributes", Attributes=wrong)


@row(110)
@both_types
async def test_messages_expire_in_every_state(world: World, client: Client, name: str) -> None:
    queue = await make(client, name, MessageRetentionPeriod=60)
    await queue.send("in flight", MessageGroupId="a")
    await queue.take(VisibilityTimeout=600)
    await queue.send("waiting", MessageGroupId="b")
    await queue.set(DelaySeconds=900)
    await queue.send("delayed", MessageGroupId="c")
    world.advance(59.999)
    assert sum(await queue.counts()) == 3
    world.advance(0.001)
    assert await queue.receive() == []
    assert await queue.counts() == (0, 0, 0)


@row(110)
async def test_a_shorter_retention_counts_for_messages_already_there(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send("old")
    world.advance(100)
    await queue.send("young")
    await queue.set(MessageRetentionPeriod=60)
    assert await queue.counts() == (1, 0, 0)
    assert await queue.bodies() == ["young"]


@row(111)
@both_types
async def test_a_purge_removes_messages_in_every_state(world: World, client: Client, name: str) -> None:
    queue = await make(client, name)
    await queue.send("in flight", MessageGroupId="a")
    taken = await queue.take()
    await queue.send("waiting", MessageGroupId="b")
    await queue.set(DelaySeconds=900)
    await queue.send("delayed", MessageGroupId="c")
    await queue.do("PurgeQueue")
    assert await queue.counts() == (0, 0, 0)
    await queue.set(DelaySeconds=0)
    await queue.send("after", MessageGroupId="a")
    await queue.delete(taken)
    assert await queue.bodies() == ["after"]
    world.advance(901)
    await world.tend()
    assert await queue.bodies() == ["after"]


@row(111)
async def test_a_queue_is_purged_once_a_minute(world: World, client: Client) -> None:
    queue, other = await make(client, "orders"), await make(client, "other")
    await queue.do("PurgeQueue")
    message = "Only one PurgeQueue operation on orders is allowed every 60 seconds."
    await queue.refuses("PurgeQueueInProgress", message, "PurgeQueue")
    await other.do("PurgeQueue")
    world.advance(59.999)
    await queue.send()
    await queue.refuses("PurgeQueueInProgress", message, "PurgeQueue")
    assert await queue.counts() == (1, 0, 0)
    world.advance(0.001)
    await queue.do("PurgeQueue")
    assert await queue.counts() == (0, 0, 0)
