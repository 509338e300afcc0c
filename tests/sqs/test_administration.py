"""What operators see of the queues and move tasks of every account, and do with them."""

from typing import Any

import pytest

from penstock.api.own import OPERATORS
from penstock.aws.penstock import SERVICE

from .clients import Client
from .harness import (
    ACCOUNT,
    OTHER_ACCOUNT,
    OTHER_REGION,
    REGION,
    STRANGER,
    Queue,
    World,
    make,
    make_with_dead_letters,
    soon,
)
from .operators import Operator

UNKNOWN = f"arn:aws:sqs:{REGION}:{OTHER_ACCOUNT}:never-made"


def arn(name: str, account: str = ACCOUNT, region: str = REGION) -> str:
    return f"arn:aws:sqs:{region}:{account}:{name}"


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"root_account": ACCOUNT}


@pytest.fixture
def operator(world: World) -> Operator:
    return Operator(world.client("json"))


@pytest.fixture
def stranger(world: World) -> Client:
    return world.client("json", STRANGER)


@pytest.fixture
async def orders(stranger: Client) -> Queue:
    """A queue of somebody else."""
    return await make(stranger, "orders")


ORDERS = arn("orders", OTHER_ACCOUNT)


async def test_a_queue_is_shown_with_what_it_holds_and_its_last_use(
    world: World, operator: Operator, orders: Queue
) -> None:
    begin = world.clock.now()
    await orders.send("four")
    await orders.send("sixsix")
    world.advance(10)
    await orders.send("late", DelaySeconds=300)
    await orders.receive(1)
    world.advance(90)
    (shown,) = (await operator.do("ListAllQueues"))["Queues"]
    assert shown == {
        "QueueArn": ORDERS,
        "Account": OTHER_ACCOUNT,
        "Region": REGION,
        "QueueName": "orders",
        "VisibleMessages": 2,
        "InFlightMessages": 0,
        "DelayedMessages": 1,
        "Bytes": 14,
        "AgeOfOldestMessage": 100,
        "CreatedTimestamp": begin,
        "LastSentTimestamp": begin + 10_000,
        "LastReceivedTimestamp": begin + 10_000,
    }


async def test_of_a_queue_that_nobody_used_nothing_is_said(operator: Operator, orders: Queue) -> None:
    (shown,) = (await operator.do("ListAllQueues"))["Queues"]
    assert not {"AgeOfOldestMessage", "LastSentTimestamp", "LastReceivedTimestamp"} & shown.keys()


async def test_a_receive_that_finds_nothing_is_a_use(world: World, operator: Operator, orders: Queue) -> None:
    world.advance(5)
    assert await orders.receive() == []
    (shown,) = (await operator.do("ListAllQueues"))["Queues"]
    assert shown["LastReceivedTimestamp"] == world.clock.now()


async def test_the_use_of_an_earlier_queue_of_the_name_is_not_this_one_s(
    world: World, operator: Operator, orders: Queue
) -> None:
    await orders.send("m")
    await orders.do("DeleteQueue")
    world.advance(61)
    await make(orders.client, "orders")
    (shown,) = (await operator.do("ListAllQueues"))["Queues"]
    assert "LastSentTimestamp" not in shown


@pytest.fixture
async def many(world: World, stranger: Client) -> list[str]:
    """Queues of two accounts in two regions, in the order in which they are listed."""
    for key, region in ((STRANGER, OTHER_REGION), (STRANGER, REGION)):
        for name in ("b", "a"):
            await make(world.client("json", key, region), name)
    await make(world.client("json"), "c")
    return [
        arn("c"),
        *(arn(name, OTHER_ACCOUNT, region) for region in (OTHER_REGION, REGION) for name in ("a", "b")),
    ]


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ({}, slice(None)),
        ({"Account": "*"}, slice(None)),
        ({"Account": ACCOUNT}, slice(1)),
        ({"Account": OTHER_ACCOUNT}, slice(1, 5)),
        ({"Account": OTHER_ACCOUNT, "Region": REGION}, slice(3, 5)),
        ({"Region": OTHER_REGION, "QueueNamePrefix": "b"}, slice(2, 3)),
        ({"Account": "999999999999"}, slice(0)),
        ({"QueueNamePrefix": "none"}, slice(0)),
    ],
)
async def test_queues_are_listed_by_account_region_and_prefix(
    operator: Operator, many: list[str], wanted: dict[str, str], shown: slice
) -> None:
    assert await operator.queues(**wanted) == many[shown]


@pytest.mark.parametrize("most", [1, 2, 4, 5])
async def test_pages_have_every_queue_once(operator: Operator, many: list[str], most: int) -> None:
    found: list[str] = []
    token, pages = None, 0
    while token or not pages:
        reply = await operator.do("ListAllQueues", MaxResults=most, **{"NextToken": token} if token else {})
        found += [one["QueueArn"] for one in reply["Queues"]]
        token, pages = reply.get("NextToken"), pages + 1
    assert (found, pages) == (many, -(-5 // most))


@pytest.mark.parametrize("action", ["ListAllQueues", "ListAllMoveTasks"])
async def test_an_account_that_cannot_be_is_refused(operator: Operator, action: str) -> None:
    assert "12 digits" in await operator.refused("InvalidParameterValue", action, Account="shop")


async def test_a_queue_of_anybody_is_deleted(world: World, operator: Operator, orders: Queue) -> None:
    await orders.send("m")
    told = await operator.do("AdminDeleteQueue", QueueArn=ORDERS, DryRun=True)
    assert (told["Deleted"], told["Queue"]["VisibleMessages"]) == (False, 1)
    assert await orders.counts() == (1, 0, 0)
    told = await operator.do("AdminDeleteQueue", QueueArn=ORDERS)
    assert (told["Deleted"], told["Queue"]["VisibleMessages"]) == (True, 1)
    assert await operator.queues() == []


async def test_whoever_waits_at_a_deleted_queue_is_told(world: World, operator: Operator, orders: Queue) -> None:
    waiting = await world.park(orders.call("ReceiveMessage", WaitTimeSeconds=20))
    await operator.do("AdminDeleteQueue", QueueArn=ORDERS)
    assert (await soon(waiting)).error_code == "AWS.SimpleQueueService.NonExistentQueue"


async def test_a_queue_of_anybody_is_purged_as_often_as_one_likes(operator: Operator, orders: Queue) -> None:
    for body in ("first", "second"):
        await orders.send(body)
        told = await operator.do("AdminPurgeQueue", QueueArn=ORDERS, DryRun=True)
        assert (told["Purged"], await orders.counts()) == (False, (1, 0, 0))
        told = await operator.do("AdminPurgeQueue", QueueArn=ORDERS)
        assert (told["Purged"], told["Queue"]["VisibleMessages"]) == (True, 1)
        assert await orders.counts() == (0, 0, 0)


async def test_messages_of_anybody_are_peeked_at_page_by_page(operator: Operator, orders: Queue) -> None:
    for body in ("one", "two", "three"):
        await orders.send(body)
    first = await operator.do("AdminPeekMessages", QueueArn=ORDERS, MaxNumberOfMessages=2)
    rest = await operator.do("AdminPeekMessages", QueueArn=ORDERS, NextToken=first["NextToken"])
    assert [message["Body"] for message in first["Messages"] + rest["Messages"]] == ["one", "two", "three"]
    assert await orders.counts() == (3, 0, 0)


@pytest.mark.parametrize("action", ["AdminDeleteQueue", "AdminPurgeQueue", "AdminPeekMessages"])
async def test_a_queue_that_is_not_there_or_cannot_be_is_told(operator: Operator, action: str) -> None:
    await operator.refused("AWS.SimpleQueueService.NonExistentQueue", action, QueueArn=UNKNOWN)
    for wrong in ("orders", f"{ACCOUNT}/orders", "arn:aws:sns:us-east-1:1:orders", ""):
        assert "QueueArn" in await operator.refused("InvalidParameterValue", action, QueueArn=wrong)
    await operator.refused("MissingParameter", action)


@pytest.fixture
async def moving(world: World, stranger: Client) -> tuple[Queue, Queue]:
    """Somebody else's queue, and its dead-letter queue with three messages that go back one a second."""
    queue, dead = await make_with_dead_letters(stranger, "jobs", 1)
    for body in ("one", "two", "three"):
        await queue.send(body)
    await queue.receive(VisibilityTimeout=0)
    assert await queue.receive() == []
    source = arn("dead-jobs", OTHER_ACCOUNT)
    await stranger.call("StartMessageMoveTask", SourceArn=source, MaxNumberOfMessagesPerSecond=1)
    return queue, dead


async def test_running_moves_of_anybody_are_seen_and_ended(
    world: World, operator: Operator, moving: tuple[Queue, Queue]
) -> None:
    started = world.clock.now()
    await world.move()
    (task,) = (await operator.do("ListAllMoveTasks"))["MoveTasks"]
    assert task == {
        "TaskId": task["TaskId"],
        "Status": "RUNNING",
        "SourceArn": arn("dead-jobs", OTHER_ACCOUNT),
        "MaxNumberOfMessagesPerSecond": 1,
        "MessagesMoved": 1,
        "MessagesToMove": 3,
        "StartedTimestamp": started,
    }
    ended = await operator.do("AdminCancelMoveTask", TaskId=task["TaskId"])
    assert ended == task | {"Status": "CANCELLING"}
    said = await operator.refused("InvalidParameterValue", "AdminCancelMoveTask", TaskId=task["TaskId"])
    assert said == "Only active tasks can be cancelled."
    await world.move(3)
    assert (await operator.do("ListAllMoveTasks"))["MoveTasks"] == []
    (last,) = (await operator.do("ListAllMoveTasks", QueueArn=task["SourceArn"]))["MoveTasks"]
    assert last == task | {"Status": "CANCELLED"}
    assert await moving[1].counts() == (2, 0, 0)


async def test_moves_are_listed_by_account(operator: Operator, moving: tuple[Queue, Queue]) -> None:
    for account, number in ((OTHER_ACCOUNT, 1), (ACCOUNT, 0), ("*", 1)):
        assert len((await operator.do("ListAllMoveTasks", Account=account))["MoveTasks"]) == number


async def test_a_move_that_is_not_there_is_told(operator: Operator) -> None:
    await operator.refused("ResourceNotFoundException", "AdminCancelMoveTask", TaskId="none")
    assert "QueueArn" in await operator.refused("InvalidParameterValue", "ListAllMoveTasks", QueueArn="orders")


VALUES = {"AccountId": ACCOUNT, "QueueArn": arn("mine"), "TaskId": "none", "ReaderName": "r", "Seq": 1, "Windows": []}


@pytest.mark.parametrize("action", sorted(OPERATORS))
async def test_operators_are_of_the_root_account_alone(
    world: World, operator: Operator, stranger: Client, action: str
) -> None:
    await make(operator.client, "mine")
    required = SERVICE.shape(SERVICE.operations[action].input_shape).get("required", [])
    said = await Operator(stranger).refused("AccessDenied", action, **{name: VALUES[name] for name in required})
    assert f"arn:aws:iam::{OTHER_ACCOUNT}:root is not authorized to perform: penstock:{action} " in said
    assert await operator.queues() == [arn("mine")]
