"""Rows 12–23: how long a message is hidden, and how often it came."""

from typing import Any

import pytest

from penstock.core.limits import Limits

from .clients import Client
from .harness import Queue, World, done, make, row, soon

TOO_MANY = (
    "Too many messages have been received without being deleted.\n"
    "Please delete your received messages or let them timeout before receiving more."
)


def about_seconds(seconds: int, reason: str) -> str:
    return f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: {reason}"


@row(12)
async def test_changing_the_visibility_of_a_visible_message_is_answered_and_does_nothing(
    world: World, client: Client
) -> None:
    queue = await make(client, "orders")
    await queue.send()
    message = await queue.take(VisibilityTimeout=5)
    world.advance(5)
    await queue.hide(message, 600)
    assert await queue.counts() == (1, 0, 0)
    assert await queue.bodies() == ["m"]


@row(13)
async def test_a_visibility_of_nothing_shows_a_message_at_once(world: World, client: Client) -> None:
    queue = await make(client, "orders", VisibilityTimeout=40)
    await queue.send()
    message = await queue.take(VisibilityTimeout=600)
    parked = await world.park(queue.call("ReceiveMessage", WaitTimeSeconds=20))
    await queue.hide(message, 0)
    assert [m["Body"] for m in done(await soon(parked))["Messages"]] == ["m"]
    world.advance(39.999)
    assert await queue.receive() == [], "the queue's visibility timeout counts, not the zero"
    world.advance(0.001)
    assert await queue.bodies() == ["m"]


@row(14)
async def test_a_changed_visibility_is_forgotten_with_the_delivery(world: World, client: Client) -> None:
    queue = await make(client, "orders", VisibilityTimeout=10)
    await queue.send()
    await queue.hide(await queue.take(), 100)
    world.advance(100)
    await queue.take()
    world.advance(9.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["m"]


@row(15)
async def test_a_changed_visibility_counts_from_the_change(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    message = await queue.take(VisibilityTimeout=30)
    world.advance(20)
    await queue.hide(message, 20)
    world.advance(19.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["m"]


@row(16)
async def test_a_message_is_hidden_for_twelve_hours_at_most(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    handle = (await queue.take(VisibilityTimeout=60))["ReceiptHandle"]
    world.advance(1)
    beyond = about_seconds(43200, "Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
    too_long = {"ReceiptHandle": handle, "VisibilityTimeout": 43200}
    await queue.refuses("InvalidParameterValue", beyond, "ChangeMessageVisibility", **too_long)
    world.advance(59)
    assert await queue.bodies(VisibilityTimeout=0) == ["m"], "a refused change changes nothing"


@row(16)
async def test_twelve_hours_to_the_second_are_allowed(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    message = await queue.take(VisibilityTimeout=60)
    world.advance(1)
    await queue.hide(message, 43199)
    world.advance(43198.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["m"]


@row(17)
@pytest.mark.parametrize("seconds", [-1, 43201, 2**31 - 1])
async def test_a_visibility_beyond_its_bounds_is_refused(client: Client, seconds: int) -> None:
    queue = await make(client, "orders")
    await queue.send()
    handle = (await queue.take())["ReceiptHandle"]
    change = about_seconds(seconds, "Must be between 0 and 43200.")
    given = {"ReceiptHandle": handle, "VisibilityTimeout": seconds}
    await queue.refuses("InvalidParameterValue", change, "ChangeMessageVisibility", **given)
    receive = about_seconds(seconds, "Must be >= 0 and <= 43200, if provided.")
    await queue.refuses("InvalidParameterValue", receive, "ReceiveMessage", VisibilityTimeout=seconds)


@row(17)
@pytest.mark.parametrize("seconds", [2**31, 2**63, -(10**30)])
async def test_a_visibility_beyond_all_numbers_is_refused_too(client: Client, seconds: int) -> None:
    queue = await make(client, "orders")
    for action, more in (("ReceiveMessage", {}), ("ChangeMessageVisibility", {"ReceiptHandle": "h"})):
        reply = await queue.call(action, VisibilityTimeout=seconds, **more)
        assert reply.status == 400


@row(18)
async def test_a_superseded_handle_may_still_change_the_visibility_of_a_message_in_flight(
    world: World, client: Client
) -> None:
    queue = await make(client, "orders")
    await queue.send()
    first = await queue.take(VisibilityTimeout=1)
    world.advance(1)
    await queue.take(VisibilityTimeout=600)
    await queue.hide(first, 0)
    assert await queue.bodies() == ["m"]


@row(19)
async def test_a_receive_with_no_visibility_leaves_the_message_visible(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    first = await queue.take(VisibilityTimeout=0, AttributeNames=["All"])
    assert await queue.counts() == (1, 0, 0)
    second = await queue.take(AttributeNames=["All"])
    assert first["ReceiptHandle"] != second["ReceiptHandle"]
    assert [m["Attributes"]["ApproximateReceiveCount"] for m in (first, second)] == ["1", "2"]
    assert await queue.receive() == []


async def hidden_for(world: World, queue: Queue, seconds: int, **params: Any) -> None:
    await queue.take(**params)
    world.advance(seconds - 0.001)
    assert await queue.counts() == (0, 1, 0)
    world.advance(0.001)
    assert await queue.counts() == (1, 0, 0)


@row(20)
async def test_the_request_says_for_how_long_then_the_queue_then_thirty_seconds(world: World, client: Client) -> None:
    plain, set_ = await make(client, "plain"), await make(client, "set", VisibilityTimeout=5)
    for queue in (plain, set_):
        await queue.send()
    await hidden_for(world, plain, 30)
    await hidden_for(world, set_, 5)
    await hidden_for(world, set_, 60, VisibilityTimeout=60)
    await set_.set(VisibilityTimeout=7)
    await hidden_for(world, set_, 7)


@row(21)
async def test_every_delivery_counts(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    counted = []
    for seconds in (0, 0, 10, 10):
        message = await queue.take(VisibilityTimeout=seconds, AttributeNames=["ApproximateReceiveCount"])
        counted.append(message["Attributes"])
        world.advance(seconds)
    assert counted == [{"ApproximateReceiveCount": str(number)} for number in (1, 2, 3, 4)]


@row(22)
async def test_the_time_of_the_first_receive_is_set_once(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    first = world.advance(7)
    for _ in range(3):
        message = await queue.take(VisibilityTimeout=1, AttributeNames=["ApproximateFirstReceiveTimestamp"])
        assert message["Attributes"] == {"ApproximateFirstReceiveTimestamp": str(first)}
        world.advance(1)


@row(23)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_in_flight=2, max_in_flight_fifo=2)}])
async def test_too_many_in_flight_is_an_error_for_a_short_poll_and_nothing_for_a_long_one(
    world: World, client: Client
) -> None:
    queue = await make(client, "orders")
    for _ in range(3):
        await queue.send()
    assert len(await queue.receive()) == 2
    await queue.refuses("OverLimit", TOO_MANY, "ReceiveMessage")
    parked = await world.park(queue.call("ReceiveMessage", WaitTimeSeconds=20))
    world.room.close()
    assert done(await soon(parked)) == {}


@row(23)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_in_flight=2, max_in_flight_fifo=2)}])
async def test_a_fifo_queue_with_too_many_in_flight_just_hands_out_nothing(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    for body in "abc":
        await queue.send(body, MessageGroupId=body)
    taken = await queue.receive()
    assert [m["Body"] for m in taken] == ["a", "b"]
    reply = await queue.call("ReceiveMessage")
    assert (reply.status, reply.result) == (200, {})
    await queue.delete(taken[0])
    assert await queue.bodies() == ["c"]


@row(16, 17)
async def test_an_entry_of_a_batch_is_held_to_the_same_bounds(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    handle = (await queue.take())["ReceiptHandle"]
    world.advance(1)
    entries = [
        {"Id": str(seconds).strip("-"), "ReceiptHandle": handle, "VisibilityTimeout": seconds}
        for seconds in (-1, 43201, 43200)
    ]
    reply = await queue.call("ChangeMessageVisibilityBatch", Entries=entries)
    assert reply.ok
    assert "Successful" not in reply.result
    assert [(entry["Id"], entry["Code"], entry["SenderFault"]) for entry in reply.result["Failed"]] == [
        (entry["Id"], "InvalidParameterValue", True) for entry in entries
    ]
