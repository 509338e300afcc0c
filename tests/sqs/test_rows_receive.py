"""Rows 24–42: receive, long polls, and which attributes come with a message."""

import asyncio
import time
from typing import Any

import pytest

from .clients import Client
from .golden import GREETING, MD5_OF_GREETING
from .harness import ACCOUNT, ROLE, ROOT, USER, Queue, World, check_refusal, done, make, row, soon

PARKED = {"WaitTimeSeconds": 20}
DIGEST = "MD5OfMessageAttributes"


@row(24, 25)
@pytest.mark.parametrize("params", [{}, {"WaitTimeSeconds": 0}, {"MaxNumberOfMessages": 10, "AttributeNames": ["All"]}])
async def test_an_empty_queue_gives_an_empty_result(client: Client, params: dict[str, Any]) -> None:
    queue = await make(client, "orders")
    reply = await queue.call("ReceiveMessage", **params)
    assert (reply.status, reply.result) == (200, {})
    if client.protocol == "json":
        assert reply.body == b"{}"
    else:
        assert b"<ReceiveMessageResult/>" in reply.body


@row(26)
@pytest.mark.parametrize("number", [0, 11, -1, 2**31 - 1])
async def test_a_receive_asks_for_one_to_ten_messages(client: Client, number: int) -> None:
    queue = await make(client, "orders")
    message = (
        f"Value {number} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."
    )
    await queue.refuses("InvalidParameterValue", message, "ReceiveMessage", MaxNumberOfMessages=number)


@row(26)
async def test_a_receive_hands_out_one_message_unless_asked_for_more(client: Client) -> None:
    queue = await make(client, "orders")
    for _ in range(12):
        await queue.send()
    assert len((await queue.do("ReceiveMessage"))["Messages"]) == 1
    assert len(await queue.receive(1)) == 1
    assert len(await queue.receive(10)) == 10


@row(27)
@pytest.mark.parametrize("seconds", [-1, 21])
async def test_a_receive_waits_for_up_to_twenty_seconds(client: Client, seconds: int) -> None:
    queue = await make(client, "orders")
    message = f"Value {seconds} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."
    await queue.refuses("InvalidParameterValue", message, "ReceiveMessage", WaitTimeSeconds=seconds)


@row(28)
async def test_a_wait_of_nothing_overrides_the_queues_own(world: World, client: Client) -> None:
    queue = await make(client, "orders", ReceiveMessageWaitTimeSeconds=20)
    assert done(await soon(asyncio.create_task(queue.call("ReceiveMessage", WaitTimeSeconds=0)))) == {}
    parked = await world.park(queue.call("ReceiveMessage"))
    await queue.send("worth the wait")
    assert [m["Body"] for m in done(await soon(parked))["Messages"]] == ["worth the wait"]


@row(28)
async def test_a_long_poll_of_an_empty_queue_ends_empty_when_its_time_is_over(client: Client) -> None:
    queue = await make(client, "orders")
    started = time.monotonic()
    assert await queue.receive(WaitTimeSeconds=1) == []
    assert 0.95 < time.monotonic() - started < 3


@row(29)
async def test_a_long_poll_returns_at_once_with_what_is_there(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    receive = asyncio.create_task(queue.call("ReceiveMessage", MaxNumberOfMessages=10, **PARKED))
    assert len(done(await soon(receive))["Messages"]) == 1


@row(30)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_long_poll_returns_when_a_message_is_sent(world: World, client: Client, name: str) -> None:
    queue = await make(client, name)
    parked = await world.park(queue.call("ReceiveMessage", **PARKED))
    world.advance(1)
    await queue.send("at last")
    assert [m["Body"] for m in done(await soon(parked))["Messages"]] == ["at last"]


@row(30)
async def test_a_message_that_comes_while_a_receiver_looks_is_not_missed(client: Client) -> None:
    """The receiver has looked, and waits for the commit of those before it when the message is sent."""
    queue, other = await make(client, "orders"), await make(client, "other")
    before, looking, sending = (
        asyncio.create_task(work)
        for work in (other.send("first"), queue.call("ReceiveMessage", **PARKED), queue.send("now"))
    )
    assert [m["Body"] for m in done(await soon(looking))["Messages"]] == ["now"]
    await asyncio.gather(before, sending)


@row(30)
async def test_a_batch_wakes_as_many_as_it_has_messages(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    parked = [await world.park(queue.call("ReceiveMessage", **PARKED)) for _ in range(2)]
    await queue.send_batch(*({"Id": body, "MessageBody": body} for body in "ab"))
    assert [done(await soon(task))["Messages"][0]["Body"] for task in parked] == ["a", "b"]


@row(31)
async def test_a_long_poll_returns_when_a_delay_ends(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send("late", DelaySeconds=5)
    parked = await world.park(queue.call("ReceiveMessage", **PARKED))
    world.advance(4.999)
    await world.tend()
    await asyncio.sleep(0.01)
    assert not parked.done()
    world.advance(0.001)
    await world.tend()
    assert [m["Body"] for m in done(await soon(parked))["Messages"]] == ["late"]


@row(31)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_long_poll_returns_when_a_visibility_ends(world: World, client: Client, name: str) -> None:
    queue = await make(client, name)
    await queue.send("again")
    await queue.take(VisibilityTimeout=5)
    parked = await world.park(queue.call("ReceiveMessage", **PARKED))
    world.advance(5)
    await world.tend()
    assert [m["Body"] for m in done(await soon(parked))["Messages"]] == ["again"]


async def leave(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@row(32)
async def test_a_client_that_left_while_it_waited_consumes_nothing(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await leave(await world.park(queue.call("ReceiveMessage", **PARKED)))
    await queue.send()
    await asyncio.sleep(0.01)
    assert await queue.counts() == (1, 0, 0)
    assert (await queue.take(AttributeNames=["All"]))["Attributes"]["ApproximateReceiveCount"] == "1"


@row(32)
async def test_the_message_a_leaving_client_was_woken_for_goes_to_the_next(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    leaving, staying = [await world.park(queue.call("ReceiveMessage", **PARKED)) for _ in range(2)]
    world.store.subscribe(lambda queue_id, at, messages: leaving.cancel() and None)  # just after it was woken
    await queue.send("m")
    assert [m["Body"] for m in done(await soon(staying))["Messages"]] == ["m"]
    assert leaving.cancelled()


@row(33)
async def test_those_who_wait_longest_are_served_first(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    parked = [await world.park(queue.call("ReceiveMessage", MaxNumberOfMessages=10, **PARKED)) for _ in range(3)]
    for number, task in enumerate(parked):
        await queue.send(str(number))
        assert [m["Body"] for m in done(await soon(task))["Messages"]] == [str(number)]
        assert [other.done() for other in parked[number + 1 :]] == [False] * (2 - number)


@row(33)
async def test_one_message_of_a_group_goes_to_one_waiter_and_the_next_waits_for_its_delete(
    world: World, client: Client
) -> None:
    queue = await make(client, "orders.fifo")
    first, second, third = [await world.park(queue.call("ReceiveMessage", **PARKED)) for _ in range(3)]
    await queue.send("one")
    message = done(await soon(first))["Messages"][0]
    await queue.send("two")
    await asyncio.sleep(0.05)
    assert (second.done(), third.done()) == (False, False)
    await queue.delete(message)
    assert [m["Body"] for m in done(await soon(second))["Messages"]] == ["two"]
    assert not third.done()
    await leave(third)


@row(34)
async def test_a_waiter_is_told_when_its_queue_is_deleted(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    parked = await world.park(queue.call("ReceiveMessage", **PARKED))
    await queue.do("DeleteQueue")
    check_refusal(client, await soon(parked), "QueueDoesNotExist", None)


async def greet(client: Client) -> Queue:
    queue = await make(client, "greetings", VisibilityTimeout=0)
    sent = await queue.send("m", MessageAttributes=GREETING)
    assert sent[DIGEST] == MD5_OF_GREETING["General", "Hello", "Help.Me"]
    return queue


@row(35)
@pytest.mark.parametrize("params", [{}, {"MessageAttributeNames": []}, {"MessageAttributeNames": ["Foo", "Help"]}])
async def test_without_a_name_that_fits_there_are_neither_attributes_nor_digest(
    client: Client, params: dict[str, Any]
) -> None:
    message = await (await greet(client)).take(**params)
    assert message.keys() == {"MessageId", "ReceiptHandle", "MD5OfBody", "Body"}


@row(36)
@pytest.mark.parametrize("names", [["All"], [".*"], ["*"], ["Foo", "All"], ["All", "Hello"]])
async def test_all_has_three_spellings(client: Client, names: list[str]) -> None:
    message = await (await greet(client)).take(MessageAttributeNames=names)
    assert message["MessageAttributes"] == GREETING
    assert message[DIGEST] == MD5_OF_GREETING["General", "Hello", "Help.Me"]


@row(37, 38)
@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["Hel.*"], ("Hello", "Help.Me")),
        (["Gen.*", "Hello.*"], ("General", "Hello")),
        (["Gen.*", "Hel.*"], ("General", "Hello", "Help.Me")),
        (["Hello"], ("Hello",)),
        (["Hello", "General", "Foo"], ("General", "Hello")),
        (["Help.Me", "Hello", "Hello"], ("Hello", "Help.Me")),
    ],
)
async def test_the_digest_is_of_the_attributes_that_come(client: Client, names: list[str], chosen: Any) -> None:
    message = await (await greet(client)).take(MessageAttributeNames=names)
    assert message["MessageAttributes"] == {name: GREETING[name] for name in chosen}
    assert message[DIGEST] == MD5_OF_GREETING[chosen]


@row(39)
@pytest.mark.parametrize("name", ["AWS.", "..foo", "not there", "ä!§", ".", "aws.*", ""])
async def test_a_name_that_no_attribute_can_have_is_ignored(client: Client, name: str) -> None:
    message = await (await greet(client)).take(MessageAttributeNames=["Hello", name])
    assert message["MessageAttributes"] == {"Hello": GREETING["Hello"]}


@row(40)
async def test_the_two_ways_to_ask_for_system_attributes_add_up(client: Client) -> None:
    queue = await greet(client)
    old = await queue.take(AttributeNames=["SenderId"])
    new = await queue.take(MessageSystemAttributeNames=["SentTimestamp"])
    both = await queue.take(AttributeNames=["SenderId"], MessageSystemAttributeNames=["SentTimestamp"])
    everything = await queue.take(AttributeNames=["SenderId"], MessageSystemAttributeNames=["All"])
    assert old["Attributes"].keys() == {"SenderId"}
    assert new["Attributes"].keys() == {"SentTimestamp"}
    assert both["Attributes"].keys() == {"SenderId", "SentTimestamp"}
    assert everything["Attributes"].keys() == {
        "SenderId", "SentTimestamp", "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp",
    }  # fmt: skip


@row(41)
@pytest.mark.parametrize(
    "params", [{}, {"AttributeNames": []}, {"MessageSystemAttributeNames": []}, {"AttributeNames": ["SequenceNumber"]}]
)
async def test_system_attributes_come_only_when_asked_for(client: Client, params: dict[str, Any]) -> None:
    assert "Attributes" not in await (await greet(client)).take(**params)


@row(42)
@pytest.mark.parametrize(
    ("key", "sender"), [(ROOT, ACCOUNT), (USER, "AIDAEXAMPLEOFAUSER12"), (ROLE, "AROAEXAMPLE:session")]
)
async def test_the_sender_is_the_user_the_session_or_the_account(
    world: World, client: Client, key: str, sender: str
) -> None:
    queue = await make(client, "orders")
    await Queue(world.client(client.protocol, key), queue.url).send()
    message = await queue.take(AttributeNames=["SenderId"])
    assert message["Attributes"] == {"SenderId": sender}
