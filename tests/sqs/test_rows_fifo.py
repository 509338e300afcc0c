"""Rows 79–85 and 92–98: order within groups, receive attempts, names."""

from typing import Any

import pytest

from .clients import Client
from .harness import Queue, World, make, make_with_dead_letters, refused, row

STANDARD_NAME = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
FIFO_NAME = (
    "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, "
    "must end with .fifo suffix and be 1 to 80 in length."
)
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


async def three_in_flight(client: Client) -> tuple[Queue, list[dict[str, Any]]]:
    queue = await make(client, "orders.fifo")
    await queue.send_group("g", "m1", "m2", "m3")
    messages = await queue.receive(VisibilityTimeout=10)
    assert [m["Body"] for m in messages] == ["m1", "m2", "m3"]
    return queue, messages


@row(79)
async def test_a_group_waits_for_its_first_message(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send_group("g", "m1", "m2")
    head = await queue.take()
    assert await queue.receive() == []
    await queue.send_group("g", "m3")
    assert await queue.receive() == []
    await queue.send_group("h", "n1")
    assert await queue.bodies() == ["n1"], "another group does not wait"
    await queue.delete(head)
    assert await queue.bodies() == ["m2", "m3"]


@row(80)
async def test_a_receive_takes_all_it_can_of_one_group_then_of_the_next(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    for group, body in (("g1", "g1-m1"), ("g2", "g2-m1"), ("g1", "g1-m2"), ("g1", "g1-m3")):
        await queue.send_group(group, body)
    assert await queue.bodies() == ["g1-m1", "g1-m2", "g1-m3", "g2-m1"]


@row(80)
async def test_a_receive_may_be_full_of_one_group(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send_group("g", *(f"{number:02}" for number in range(12)))
    await queue.send_group("h", "other")
    assert await queue.bodies(10) == [f"{number:02}" for number in range(10)]
    assert await queue.bodies(10) == ["other"]


@row(81)
async def test_a_group_waits_for_all_its_messages_in_flight(client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send_group("g", "m1", "m2", "m3")
    first, second = await queue.receive(2)
    await queue.delete(first)
    assert await queue.receive() == []
    await queue.delete(second)
    assert await queue.bodies() == ["m3"]


@row(81)
async def test_a_group_goes_on_when_its_last_message_in_flight_is_visible_again(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    await queue.send_group("g", "m1", "m2", "m3")
    first, _ = await queue.receive(2, VisibilityTimeout=10)
    await queue.delete(first)
    world.advance(10)
    assert await queue.bodies() == ["m2", "m3"]


@row(82, 83)
@pytest.mark.parametrize(("extended", "delivered"), [(0, []), (1, ["m1"]), (2, ["m1", "m2"])])
async def test_a_message_hidden_for_longer_hides_those_behind_it(
    world: World, client: Client, extended: int, delivered: list[str]
) -> None:
    queue, messages = await three_in_flight(client)
    await queue.hide(messages[extended], 100)
    world.advance(10)
    assert await queue.bodies() == delivered


@row(84)
async def test_a_message_given_back_is_delivered_again_but_not_those_in_flight_behind_it(client: Client) -> None:
    queue, messages = await three_in_flight(client)
    await queue.hide(messages[0], 0)
    assert await queue.bodies() == ["m1"]


@row(85)
async def test_messages_come_again_in_their_order(world: World, client: Client) -> None:
    queue, _ = await three_in_flight(client)
    world.advance(10)
    assert await queue.bodies() == ["m1", "m2", "m3"]


@row(92)
async def test_a_fifo_message_has_no_delay_of_its_own(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo", DelaySeconds=5)
    message = (
        "Value 2 for parameter DelaySeconds is invalid. "
        "Reason: The request include parameter that is not valid for this queue type."
    )
    given = {"MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
    await queue.refuses("InvalidParameterValue", message, "SendMessage", DelaySeconds=2, **given)
    await queue.do("SendMessage", DelaySeconds=0, **given)
    assert await queue.counts() == (0, 0, 1), "the queue's delay holds"
    world.advance(5)
    assert await queue.counts() == (1, 0, 0)


@row(93)
async def test_a_receive_attempt_may_be_repeated(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo", VisibilityTimeout=30)
    await queue.send_group("g", "m1", "m2", "m3")
    attempt = {"ReceiveRequestAttemptId": "attempt-1", "AttributeNames": ["All"]}
    first = await queue.receive(2, **attempt)
    world.advance(20)
    assert await queue.receive(2, ReceiveRequestAttemptId="attempt-2") == []
    assert await queue.receive(2, **attempt) == first, "the same messages with the same handles"
    world.advance(29.999)
    assert await queue.counts() == (1, 2, 0), "hidden anew"
    world.advance(0.001)
    assert await queue.counts() == (3, 0, 0)


@row(93, differs=True)
@pytest.mark.parametrize("change", ["delete", "hide", "forget"])
async def test_a_receive_attempt_is_void_once_a_message_was_changed_or_five_minutes_passed(
    world: World, client: Client, change: str
) -> None:
    queue = await make(client, "orders.fifo", VisibilityTimeout=600)
    await queue.send_group("g", "m1", "m2")
    await queue.send_group("h", "n1")
    attempt = {"ReceiveRequestAttemptId": "attempt-1"}
    first = await queue.receive(2, **attempt)
    assert [m["Body"] for m in first] == ["m1", "m2"]
    if change == "delete":
        await queue.delete(first[0])
    elif change == "hide":
        await queue.hide(first[0], 700)
    else:
        world.advance(299.999)
        assert await queue.receive(2, **attempt) == first
        world.advance(0.001)
    assert await queue.bodies(2, **attempt) == ["n1"], "as any other receive"


@row(94)
@pytest.mark.parametrize("parameter", ["MessageGroupId", "MessageDeduplicationId"])
async def test_ids_are_letters_digits_and_punctuation(client: Client, parameter: str) -> None:
    queue = await make(client, "orders.fifo")
    for value in (PUNCTUATION, "a" * 128, "0"):
        await queue.send(**{parameter: value})
    for value in ("", "a" * 129, "a b", "ä", "a\t"):
        message = (
            f"Value {value} for parameter {parameter} is invalid. Reason: {parameter} can only include "
            "alphanumeric and punctuation characters. 1 to 128 in length."
        )
        given = {"MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "d"} | {parameter: value}
        await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)


@row(95)
async def test_messages_behind_one_in_flight_count_as_visible(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    for group in "gh":
        await queue.send_group(group, "1", "2", "3")
    for _ in range(2):
        await queue.take(VisibilityTimeout=10)
    assert await queue.counts() == (4, 2, 0)
    world.advance(10)
    assert await queue.counts() == (6, 0, 0)


@row(96)
@pytest.mark.parametrize("name", ["orders", "orders.fifo.old", "a" * 76 + ".fifo", ".fifo", "a.b.fifo", "orders.FIFO"])
async def test_the_name_of_a_fifo_queue_ends_in_fifo(client: Client, name: str) -> None:
    attributes = {"FifoQueue": "true"}
    await refused(
        client, "InvalidParameterValue", FIFO_NAME, "CreateQueue", QueueName=name, Attributes=attributes
    )  # fmt: skip


@row(96)
@pytest.mark.parametrize("name", ["orders.fifo", "orders.fifo.old", ".fifo"])
async def test_the_name_of_a_standard_queue_does_not(client: Client, name: str) -> None:
    await refused(client, "InvalidParameterValue", STANDARD_NAME, "CreateQueue", QueueName=name)


@row(96)
async def test_the_suffix_counts_in_the_eighty_characters(client: Client) -> None:
    await make(client, "a" * 75 + ".fifo")


@row(97)
async def test_a_group_whose_messages_are_all_gone_takes_new_ones(world: World, client: Client) -> None:
    queue, dead = await make_with_dead_letters(client, "orders.fifo", 1, VisibilityTimeout=1)
    await queue.send_group("g", "deleted")
    await queue.delete(await queue.take())
    await queue.send_group("g", "dies")
    await queue.take()
    world.advance(1)
    assert await queue.receive() == []
    assert await dead.bodies() == ["dies"]
    await queue.send_group("g", "lives")
    assert await queue.bodies() == ["lives"]


@row(98)
@pytest.mark.parametrize("scope", [{}, {"DeduplicationScope": "queue"}])
async def test_throughput_by_group_needs_deduplication_by_group(client: Client, scope: dict[str, str]) -> None:
    message = "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup"
    wanted = {"FifoThroughputLimit": "perMessageGroupId"} | scope
    creation = {"QueueName": "orders.fifo", "Attributes": {"FifoQueue": "true"} | wanted}
    await refused(client, "InvalidAttributeValue", message, "CreateQueue", **creation)
    queue = await make(client, "orders.fifo")
    await queue.refuses("InvalidAttributeValue", message, "SetQueueAttributes", Attributes=wanted)
    await queue.set(**wanted | {"DeduplicationScope": "messageGroup"})
    assert await queue.attributes("FifoThroughputLimit") == {"FifoThroughputLimit": "perMessageGroupId"}
