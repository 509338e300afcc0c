"""What the real service was recorded to deliver, and in which order, where no numbered row says it (LocalStack's
validated suite; the rule behind it: groups come in the order in which their heads became available)."""

import base64
import json

import pytest

from .clients import Client
from .golden import string
from .harness import Queue, World, make, make_with_dead_letters, refused
from .test_rows_moves import start, tasks


async def sent(world: World, client: Client, *messages: str) -> Queue:
    """A FIFO queue with these messages; what stands before the dash is the group. Time passes between them."""
    queue = await make(client, "orders.fifo", VisibilityTimeout=30)
    for message in messages:
        await queue.send(message, MessageGroupId=message.partition("-")[0])
        world.advance(0.01)
    return queue


async def test_a_group_that_was_served_goes_behind_those_that_were_not(world: World, client: Client) -> None:
    queue = await sent(world, client, "g1-m1", "g1-m2", "g1-m3", "g1-m4", "g2-m1", "g3-m1")
    assert await queue.bodies(2, VisibilityTimeout=1) == ["g1-m1", "g1-m2"]
    world.advance(0.01)
    assert await queue.bodies(1, VisibilityTimeout=1) == ["g2-m1"]
    world.advance(1)
    assert await queue.bodies() == ["g3-m1", "g1-m1", "g1-m2", "g1-m3", "g1-m4", "g2-m1"]


async def test_also_if_it_was_served_without_hiding(world: World, client: Client) -> None:
    queue = await sent(world, client, "g1-m1", "g2-m1", "g2-m2", "g3-m1", "g1-m2")
    assert await queue.bodies(3, VisibilityTimeout=0) == ["g1-m1", "g1-m2", "g2-m1"]
    world.advance(0.01)
    assert await queue.bodies(VisibilityTimeout=0) == ["g3-m1", "g1-m1", "g1-m2", "g2-m1", "g2-m2"]


@pytest.mark.parametrize("seconds", [0, 1])
async def test_a_group_given_back_goes_behind_one_that_waits(world: World, client: Client, seconds: int) -> None:
    queue = await sent(world, client, "g1-m1", "g2-m1", "g1-m2")
    first, second = await queue.receive(2)
    assert (first["Body"], second["Body"]) == ("g1-m1", "g1-m2")
    world.advance(0.01)
    await queue.hide(first, seconds)
    world.advance(seconds)
    assert await queue.bodies(3) == ["g2-m1", "g1-m1"]


@pytest.mark.parametrize(
    ("deleted", "delivered"),
    [(2, ["g2-m1", "g2-m2", "g1-m3", "g1-m4", "g3-m1"]), (1, ["g2-m1", "g2-m2", "g3-m1"])],
)
async def test_a_group_goes_on_in_the_place_of_its_next_message(
    world: World, client: Client, deleted: int, delivered: list[str]
) -> None:
    queue = await sent(world, client, "g1-m1", "g2-m1", "g1-m2", "g2-m2", "g1-m3", "g1-m4", "g3-m1")
    taken = await queue.receive(2)
    world.advance(0.01)
    await queue.delete(*taken[:deleted])
    assert await queue.bodies() == delivered


async def test_single_receives_with_deletes_between_keep_the_order(world: World, client: Client) -> None:
    queue = await sent(world, client, *(f"g-{number}" for number in range(5)))
    for number in range(5):
        message = await queue.take()
        assert message["Body"] == f"g-{number}"
        await queue.delete(message)


async def test_an_older_message_that_is_visible_again_comes_before_a_newer_one(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send("test1")
    await queue.take(VisibilityTimeout=1)
    world.advance(1)
    await queue.send("test2")
    assert await queue.bodies() == ["test1", "test2"]


async def test_the_message_of_a_group_extended_is_deleted_after_its_first_window(world: World, client: Client) -> None:
    queue = await sent(world, client, "g-1", "g-2")
    _, second = await queue.receive(VisibilityTimeout=2)
    await queue.hide(second, 30)
    world.advance(3)
    await queue.delete(second)
    assert await queue.bodies() == ["g-1"]


# Deduplication


async def same_id_in(queue: Queue, name: str, *groups: str) -> int:
    """How many messages an id makes that is sent to each of these groups."""
    return len({(await queue.send(MessageGroupId=g, MessageDeduplicationId=name))["MessageId"] for g in groups})


GROUPWISE = {"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}
QUEUEWIDE = {"DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"}


@pytest.mark.parametrize(("before", "after", "at_first"), [(QUEUEWIDE, GROUPWISE, 1), (GROUPWISE, QUEUEWIDE, 2)])
async def test_a_new_scope_is_told_at_once_and_in_force_after_a_minute(
    world: World, client: Client, before: dict[str, str], after: dict[str, str], at_first: int
) -> None:
    queue = await make(client, "orders.fifo", **before)
    assert await same_id_in(queue, "d1", "g", "h") == at_first
    await queue.set(**after)
    assert await queue.attributes(*after) == after
    assert await same_id_in(queue, "d2", "g", "h") == at_first
    world.advance(59.999)
    assert await same_id_in(queue, "d3", "g", "h") == at_first
    world.advance(0.001)
    assert await same_id_in(queue, "d4", "g", "h") == 3 - at_first


async def test_a_scope_set_and_set_back_never_was_in_force(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo", **QUEUEWIDE)
    await queue.set(**GROUPWISE)
    world.advance(1)
    await queue.set(**QUEUEWIDE)
    for seconds in (0, 1, 58, 1, 60):
        world.advance(seconds)
        assert await same_id_in(queue, f"d{world.clock.now()}", "g", "h") == 1


async def test_setting_something_else_does_not_hold_up_a_new_scope(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo", **QUEUEWIDE)
    await queue.set(**GROUPWISE)
    world.advance(59)
    await queue.set(VisibilityTimeout=5)
    world.advance(1)
    assert await same_id_in(queue, "d", "g", "h") == 2
    assert set(await queue.attributes("All")) == {
        "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible",
        "ContentBasedDeduplication", "CreatedTimestamp", "DeduplicationScope", "DelaySeconds", "FifoQueue",
        "FifoThroughputLimit", "LastModifiedTimestamp", "MaximumMessageSize", "MessageRetentionPeriod", "QueueArn",
        "ReceiveMessageWaitTimeSeconds", "SqsManagedSseEnabled", "VisibilityTimeout",
    }  # fmt: skip


async def test_a_group_scope_needs_no_throughput_setting(client: Client) -> None:
    attributes = {"DeduplicationScope": "messageGroup", "ContentBasedDeduplication": "true"}
    queue = await make(client, "orders.fifo", **attributes)
    for group in "gh":
        await queue.do("SendMessage", MessageBody="same", MessageGroupId=group)
    assert await queue.bodies() == ["same", "same"]


# What comes with a message


async def test_all_that_a_fifo_message_says_of_itself(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo", ContentBasedDeduplication="true")
    await queue.send(MessageDeduplicationId="explicit")
    everything = (await queue.take(AttributeNames=["All"]))["Attributes"]
    assert everything.keys() == {
        "SenderId", "ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SentTimestamp",
        "MessageDeduplicationId", "MessageGroupId", "SequenceNumber",
    }  # fmt: skip
    assert everything["MessageDeduplicationId"] == "explicit"
    assert everything["SentTimestamp"] == str(world.clock.now())


async def test_a_system_attribute_that_nobody_knows_is_ignored(client: Client) -> None:
    queue = await make(client, "orders", VisibilityTimeout=0)
    await queue.send()
    assert "Attributes" not in await queue.take(MessageSystemAttributeNames=["not-a-real-name"])
    only = await queue.take(AttributeNames=["SenderId", "SequenceNumber", "nonsense"])
    assert only["Attributes"].keys() == {"SenderId"}


async def test_a_receive_attempt_means_nothing_to_a_standard_queue(client: Client) -> None:
    queue = await make(client, "orders")
    for _ in range(2):
        await queue.send()
    attempt = {"ReceiveRequestAttemptId": "attempt"}
    first, second = await queue.take(**attempt), await queue.take(**attempt)
    assert first["MessageId"] != second["MessageId"]


async def test_an_attribute_without_entries_is_none(client: Client) -> None:
    queue = await make(client, "orders")
    assert "MD5OfMessageAttributes" not in await queue.send(MessageAttributes={})


async def test_a_trace_header_is_not_looked_into(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send(MessageSystemAttributes={"AWSTraceHeader": string("Root=1-abc-def")})
    assert (await queue.take(AttributeNames=["All"]))["Attributes"]["AWSTraceHeader"] == "Root=1-abc-def"


# Move tasks


async def test_a_task_handle_names_the_task_and_its_source(client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    named = json.loads(base64.b64decode(await start(dead)))
    assert named.keys() == {"taskId", "sourceArn"}
    assert named["sourceArn"] == dead.arn


async def test_a_message_that_never_died_has_nowhere_to_go_back_to(world: World, client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    await dead.send()
    await start(dead)
    await world.move()
    (task,) = await tasks(dead)
    assert (task["Status"], task["FailureReason"]) == ("FAILED", "CouldNotDetermineMessageSource")
    assert task["ApproximateNumberOfMessagesMoved"] == 0
    assert await dead.counts() == (1, 0, 0)


@pytest.mark.parametrize("arn", ["", "dead", "arn:aws:sqs:us-east-1:111122223333"])
async def test_a_source_is_named_by_its_arn(client: Client, arn: str) -> None:
    form = "arn:<partition>:<service>:<region>:<account-id>:<resource-id>"
    message = f"You must use this format to specify the SourceArn: {form}"
    await refused(client, "InvalidParameterValue", message, "StartMessageMoveTask", SourceArn=arn)


async def test_a_task_needs_a_source_and_another_queue_of_its_type(client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    fifo = await make(client, "a.fifo")
    message = "The request must contain the parameter SourceArn."
    await refused(client, "MissingParameter", message, "StartMessageMoveTask")
    for target, message in (
        (dead, "Source queue arn and destination queue arn cannot be the same."),
        (fifo, "The source queue and destination queue must be of the same queue type."),
    ):
        ends = {"SourceArn": dead.arn, "DestinationArn": target.arn}
        await refused(client, "InvalidParameterValue", message, "StartMessageMoveTask", **ends)
