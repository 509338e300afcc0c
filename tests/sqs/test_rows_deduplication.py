"""Rows 86–91: a message that was sent before."""

import hashlib
from typing import Any

import pytest

from .clients import Client
from .golden import string
from .harness import Queue, World, make, row


@row(86)
@pytest.mark.parametrize("stage", ["waiting", "in flight", "deleted"])
async def test_a_duplicate_is_answered_as_the_first_was_and_not_delivered(client: Client, stage: str) -> None:
    queue = await make(client, "orders.fifo")
    first = await queue.send("foobar", MessageDeduplicationId="d")
    if stage != "waiting":
        message = await queue.take()
    if stage == "deleted":
        await queue.delete(message)
    before = await queue.counts()
    second = await queue.send("test", MessageDeduplicationId="d", MessageAttributes={"Foo": string("Bar")})
    assert {name: second[name] for name in ("MessageId", "SequenceNumber")} == {
        name: first[name] for name in ("MessageId", "SequenceNumber")
    }
    assert second["MD5OfMessageBody"] == "098f6bcd4621d373cade4e832627b4f6"
    assert second["MD5OfMessageAttributes"] == "ae7155c6026991b6d54b11589678bf9c"
    assert await queue.counts() == before


@row(86)
async def test_a_duplicate_within_one_batch_is_a_duplicate(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    same = {"MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
    first, second = (await queue.send_batch({"Id": "1"} | same, {"Id": "2"} | same))["Successful"]
    assert first["MessageId"] == second["MessageId"]
    assert first["SequenceNumber"] == second["SequenceNumber"]
    assert await queue.counts() == (1, 0, 0)


@row(87)
async def test_an_id_is_remembered_for_five_minutes_from_its_first_send(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    ids = {(await queue.send(MessageDeduplicationId="d"))["MessageId"]}
    for seconds in (2, 150, 147.999):
        world.advance(seconds)
        await world.tend()
        ids.add((await queue.send(MessageDeduplicationId="d"))["MessageId"])
    assert len(ids) == 1, "299.999 s after the first"
    world.advance(0.001)
    ids.add((await queue.send(MessageDeduplicationId="d"))["MessageId"])
    assert len(ids) == 2, "300 s after the first, whatever came since"
    assert await queue.counts() == (2, 0, 0)


@row(88)
@pytest.mark.parametrize(
    ("attributes", "delivered"),
    [({}, ["1"]), ({"DeduplicationScope": "queue"}, ["1"]), ({"DeduplicationScope": "messageGroup"}, ["1", "2"])],
)
async def test_an_id_counts_in_the_queue_or_in_the_group(
    client: Client, attributes: dict[str, str], delivered: list[str]
) -> None:
    queue = await make(client, "orders.fifo", **attributes)
    for body, group in (("1", "g"), ("2", "h"), ("3", "g"), ("4", "h")):
        await queue.send(body, MessageGroupId=group, MessageDeduplicationId="d")
    assert await queue.bodies() == delivered


async def send_as_is(queue: Queue, body: str, **params: Any) -> str:
    sent = await queue.do("SendMessage", MessageBody=body, MessageGroupId="g", **params)
    message_id: str = sent["MessageId"]
    return message_id


@row(89)
async def test_a_queue_may_tell_duplicates_by_their_body(client: Client) -> None:
    queue = await make(client, "orders.fifo", ContentBasedDeduplication="true")
    first = await send_as_is(queue, "same")
    assert await send_as_is(queue, "same", MessageAttributes={"k": string("other")}) == first
    assert await send_as_is(queue, "different") != first
    assert await send_as_is(queue, "same", MessageDeduplicationId="explicit") != first
    digest = hashlib.sha256(b"same").hexdigest()
    assert await send_as_is(queue, "something else", MessageDeduplicationId=digest) == first
    received = await queue.receive(AttributeNames=["MessageDeduplicationId"])
    assert [m["Attributes"]["MessageDeduplicationId"] for m in received] == [
        digest, hashlib.sha256(b"different").hexdigest(), "explicit",
    ]  # fmt: skip


@row(90)
async def test_a_queue_that_does_not_needs_an_id(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    message = (
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
    )
    given = {"MessageBody": "m", "MessageGroupId": "g"}
    await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)
    await queue.set(ContentBasedDeduplication="true")
    await queue.do("SendMessage", **given)
    await queue.set(ContentBasedDeduplication="false")
    await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)


@row(91)
async def test_a_purge_forgets_deduplication_ids(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    before = await queue.send("before", MessageDeduplicationId="d")
    await queue.do("PurgeQueue")
    after = await queue.send("after", MessageDeduplicationId="d")
    assert before["MessageId"] != after["MessageId"]
    assert await queue.bodies() == ["after"]
