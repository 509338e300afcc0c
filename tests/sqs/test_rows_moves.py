"""Rows 106–109: message move tasks."""

import base64
import json
from typing import Any

import pytest

from .clients import Client
from .harness import ACCOUNT, REGION, Queue, World, done, make, make_with_dead_letters, redrive, refused, row

NO_SOURCE = "The resource that you specified for the SourceArn parameter doesn't exist."
NO_DESTINATION = "The resource that you specified for the DestinationArn parameter doesn't exist."
IN_USE = "There is already a task running. Only one active task is allowed for a source queue arn at a given time."
NOWHERE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:nowhere"


async def let_die(world: World, queue: Queue, *bodies: str) -> None:
    """Messages go to the dead-letter queue of a queue that allows one receive."""
    for body in bodies:
        await queue.send(body)
        await queue.take(VisibilityTimeout=1)
        world.advance(1)
        assert await queue.receive() == []


async def dead_letters(world: World, client: Client, number: int, name: str = "orders") -> tuple[Queue, Queue]:
    queue, dead = await make_with_dead_letters(client, name, 1)
    await let_die(world, queue, *(f"m{n}" for n in range(number)))
    assert await dead.counts() == (number, 0, 0)
    return queue, dead


async def tasks(queue: Queue, most: int | None = None) -> list[dict[str, Any]]:
    more = {} if most is None else {"MaxResults": most}
    reply = await queue.client.call("ListMessageMoveTasks", SourceArn=queue.arn, **more)
    listed: list[dict[str, Any]] = done(reply).get("Results", [])
    return listed


async def start(source: Queue, **params: Any) -> str:
    started = done(await source.client.call("StartMessageMoveTask", SourceArn=source.arn, **params))
    assert started.keys() == {"TaskHandle"}
    handle: str = started["TaskHandle"]
    return handle


@row(106)
async def test_only_a_dead_letter_queue_is_moved_from(client: Client) -> None:
    queue = await make(client, "orders")
    message = "Source queue must be configured as a Dead Letter Queue."
    await refused(client, "InvalidParameterValue", message, "StartMessageMoveTask", SourceArn=queue.arn)


@row(106)
async def test_both_ends_of_a_move_must_exist(client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    await refused(client, "ResourceNotFoundException", NO_SOURCE, "StartMessageMoveTask", SourceArn=NOWHERE)
    ends = {"SourceArn": dead.arn, "DestinationArn": NOWHERE}
    await refused(client, "ResourceNotFoundException", NO_DESTINATION, "StartMessageMoveTask", **ends)
    await refused(client, "ResourceNotFoundException", NO_SOURCE, "ListMessageMoveTasks", SourceArn=NOWHERE)
    assert await tasks(dead) == []


@row(106)
async def test_one_task_at_a_time_moves_from_a_queue(world: World, client: Client) -> None:
    _, dead = await dead_letters(world, client, 3)
    await start(dead, MaxNumberOfMessagesPerSecond=1)
    await refused(client, "InvalidParameterValue", IN_USE, "StartMessageMoveTask", SourceArn=dead.arn)
    await world.move(4)
    assert [task["Status"] for task in await tasks(dead, 10)] == ["COMPLETED"]
    await start(dead)


@row(106)
@pytest.mark.parametrize("rate", [0, -1, 501])
async def test_a_rate_is_one_to_five_hundred(world: World, client: Client, rate: int) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    message = (
        "Value for parameter MaxNumberOfMessagesPerSecond is invalid. "
        "Reason: You must enter a number that's between 1 and 500."
    )
    given = {"SourceArn": dead.arn, "MaxNumberOfMessagesPerSecond": rate}
    await refused(client, "InvalidParameterValue", message, "StartMessageMoveTask", **given)
    await start(dead, MaxNumberOfMessagesPerSecond=500)
    await world.move()


@row(107)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_task_moves_everything_to_its_destination(world: World, client: Client, name: str) -> None:
    _, dead = await dead_letters(world, client, 2, name)
    target = await make(client, f"target-{name}")
    started = world.clock.now()
    handle = await start(dead, DestinationArn=target.arn)
    about = {"SourceArn": dead.arn, "DestinationArn": target.arn, "StartedTimestamp": started}
    running = {"ApproximateNumberOfMessagesMoved": 0, "ApproximateNumberOfMessagesToMove": 2}
    assert await tasks(dead) == [about | running | {"Status": "RUNNING", "TaskHandle": handle}]
    await world.move()
    finished = {"ApproximateNumberOfMessagesMoved": 2, "ApproximateNumberOfMessagesToMove": 2}
    assert await tasks(dead) == [about | finished | {"Status": "COMPLETED"}]
    assert (await dead.counts(), await target.counts()) == ((0, 0, 0), (2, 0, 0))
    assert sorted(await target.bodies()) == ["m0", "m1"]


@row(107)
async def test_without_a_destination_every_message_goes_back_where_it_died(world: World, client: Client) -> None:
    dead = await make(client, "dead")
    sources = [await make(client, name, RedrivePolicy=redrive(dead, 1)) for name in ("one", "two")]
    for source in sources:
        await let_die(world, source, f"of {source.name}")
    await start(dead)
    await world.move()
    (task,) = await tasks(dead)
    assert "DestinationArn" not in task
    assert (task["Status"], task["ApproximateNumberOfMessagesMoved"]) == ("COMPLETED", 2)
    assert [await source.bodies() for source in sources] == [["of one"], ["of two"]]


@row(107)
async def test_a_rate_is_kept(world: World, client: Client) -> None:
    queue, dead = await dead_letters(world, client, 4)
    handle = await start(dead, MaxNumberOfMessagesPerSecond=1)
    moved = []
    for _ in range(4):
        await world.move()
        moved.append((await queue.counts())[0])
        (task,) = await tasks(dead)
        assert (task["MaxNumberOfMessagesPerSecond"], task.get("TaskHandle", handle)) == (1, handle)
        world.advance(0.999)
        await world.move()
        assert (await queue.counts())[0] == moved[-1], "not before the second is over"
        world.advance(0.001)
    assert moved == [1, 2, 3, 4]


@row(107, 109)
async def test_a_task_is_cancelled(world: World, client: Client) -> None:
    queue, dead = await dead_letters(world, client, 10)
    handle = await start(dead, MaxNumberOfMessagesPerSecond=1)
    await world.move(1)
    reply = await client.call("CancelMessageMoveTask", TaskHandle=handle)
    assert done(reply) == {"ApproximateNumberOfMessagesMoved": 2}
    (task,) = await tasks(dead)
    assert task["Status"] == "CANCELLING"
    assert "TaskHandle" not in task
    await world.move(5)
    (task,) = await tasks(dead)
    assert task.keys() == {
        "ApproximateNumberOfMessagesMoved", "ApproximateNumberOfMessagesToMove", "MaxNumberOfMessagesPerSecond",
        "SourceArn", "StartedTimestamp", "Status",
    }  # fmt: skip
    assert (task["Status"], task["ApproximateNumberOfMessagesMoved"]) == ("CANCELLED", 2)
    assert task["ApproximateNumberOfMessagesToMove"] == 10
    assert (await queue.counts(), await dead.counts()) == ((2, 0, 0), (8, 0, 0))


@row(107)
async def test_a_task_fails_when_its_destination_is_gone(world: World, client: Client) -> None:
    _, dead = await dead_letters(world, client, 3)
    target = await make(client, "target")
    await start(dead, DestinationArn=target.arn, MaxNumberOfMessagesPerSecond=1)
    await world.move()
    await target.do("DeleteQueue")
    await world.move(2)
    (task,) = await tasks(dead)
    assert (task["Status"], task["FailureReason"]) == ("FAILED", "AWS.SimpleQueueService.NonExistentQueue")
    assert "TaskHandle" not in task
    assert await dead.counts() == (2, 0, 0)


@row(107)
async def test_the_ten_newest_tasks_are_listed_newest_first(world: World, client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    started = []
    for _ in range(12):
        started.append(world.advance(1))
        await start(dead)
        await world.move()
    newest_first = started[::-1]
    assert [task["StartedTimestamp"] for task in await tasks(dead, 10)] == newest_first[:10]
    assert [task["StartedTimestamp"] for task in await tasks(dead, 3)] == newest_first[:3]
    assert [task["StartedTimestamp"] for task in await tasks(dead)] == newest_first[:1]
    for most in (0, 11):
        given = {"SourceArn": dead.arn, "MaxResults": most}
        await refused(client, "InvalidParameterValue", None, "ListMessageMoveTasks", **given)


@row(108)
@pytest.mark.parametrize("name", ["orders", "orders.fifo"])
async def test_a_moved_message_is_a_new_one(world: World, client: Client, name: str) -> None:
    queue, dead = await dead_letters(world, client, 1, name)
    await queue.set(MessageRetentionPeriod=100)
    dead_id = (await dead.take(VisibilityTimeout=0))["MessageId"]
    world.advance(50)
    moved_at = world.clock.now()
    await start(dead)
    await world.move()
    world.advance(99.999)
    message = await queue.take(VisibilityTimeout=0, AttributeNames=["All"])
    assert message["MessageId"] != dead_id
    assert message["Body"] == "m0"
    about = message["Attributes"]
    assert (about["SentTimestamp"], about["ApproximateReceiveCount"]) == (str(moved_at), "1")
    assert "DeadLetterQueueSourceArn" not in about
    if queue.fifo:
        assert (about["MessageDeduplicationId"], about["MessageGroupId"]) == (dead_id, "g")
    world.advance(0.001)
    assert await queue.counts() == (0, 0, 0), "its retention counts from the move"


def forged(task_id: str, arn: str) -> str:
    return base64.b64encode(json.dumps({"taskId": task_id, "sourceArn": arn}).encode()).decode()


@row(109)
async def test_cancelling_what_is_not_there(world: World, client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    unknown = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
    for handle in ("foobared", "", "e30=", base64.b64encode(b"[1]").decode()):
        message = "Value for parameter TaskHandle is invalid."
        await refused(client, "InvalidParameterValue", message, "CancelMessageMoveTask", TaskHandle=handle)
    for arn, message in ((NOWHERE, NO_SOURCE), (dead.arn, "Task does not exist.")):
        handle = forged(unknown, arn)
        await refused(client, "ResourceNotFoundException", message, "CancelMessageMoveTask", TaskHandle=handle)


@row(109)
async def test_a_task_that_is_over_cannot_be_cancelled(world: World, client: Client) -> None:
    _, dead = await make_with_dead_letters(client, "orders", 1)
    handle = await start(dead)
    await world.move()
    reply = await client.call("CancelMessageMoveTask", TaskHandle=handle)
    assert reply.status == 400


@row(109)
async def test_a_task_of_one_queue_is_not_a_task_of_another(world: World, client: Client) -> None:
    _, dead = await dead_letters(world, client, 2)
    _, other = await make_with_dead_letters(client, "other", 1)
    handle = await start(dead, MaxNumberOfMessagesPerSecond=1)
    task_id = json.loads(base64.b64decode(handle))["taskId"]
    message, forgery = "Task does not exist.", forged(task_id, other.arn)
    await refused(client, "ResourceNotFoundException", message, "CancelMessageMoveTask", TaskHandle=forgery)
    assert (await tasks(dead))[0]["Status"] == "RUNNING"
