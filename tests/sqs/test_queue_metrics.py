"""GetQueueMetrics: what it answers, to whom, and page by page."""

from typing import Any

import pytest

from penstock.core.metrics import NAMES
from penstock.loops.gauges import Gauges

from .clients import JsonClient, Reply
from .harness import ACCOUNT, OTHER_ACCOUNT, OTHER_REGION, STRANGER, World, done, make

TARGET = {"X-Amz-Target": "Penstock.GetQueueMetrics"}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"root_account": ACCOUNT}


@pytest.fixture
def root(world: World) -> JsonClient:
    """At the beginning of five minutes, of a server that was started an hour before."""
    world.clock.advance(300 - world.clock.now() / 1000 % 300)
    world.store.traffic.since = world.clock.now() - 3_600_000
    return world.client("json")


@pytest.fixture
def stranger(world: World) -> JsonClient:
    return world.client("json", STRANGER)


async def ask(client: JsonClient, **request: Any) -> Reply:
    return await client.call("GetQueueMetrics", headers=TARGET, **request)


async def told(client: JsonClient, **request: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(await ask(client, **request)).get("Windows", [])
    return found


async def names(client: JsonClient, **request: Any) -> list[tuple[str, str]]:
    return [(window["Account"], window["QueueName"]) for window in await told(client, **request)]


async def fill(world: World, client: JsonClient, *queues: str) -> None:
    """An empty receive of each."""
    for name in queues:
        assert await (await make(client, name)).receive() == []


async def test_the_nine_metrics_of_a_queue_s_minute(world: World, root: JsonClient) -> None:
    queue, start = await make(root, "orders"), world.clock.now()
    await queue.send("four")
    await queue.send("sixsix")
    await queue.send("late", DelaySeconds=300)
    (first,) = await queue.receive(1)
    world.advance(20)
    await Gauges(world.store).run_once(world.clock.now())
    await queue.delete(first)
    await queue.receive()
    assert await queue.receive() == []
    (window,) = await told(root, QueueName="orders")
    assert (window["Account"], window["QueueName"], window["StartTime"]) == (ACCOUNT, "orders", start)
    assert {
        name: (each["SampleCount"], each["Sum"], each["Minimum"], each["Maximum"])
        for name, each in window["Metrics"].items()
    } == {
        "NumberOfMessagesSent": (3, 3, 1, 1),
        "SentMessageSize": (3, 14, 4, 6),
        "NumberOfMessagesReceived": (2, 2, 1, 1),
        "NumberOfMessagesDeleted": (1, 1, 1, 1),
        "NumberOfEmptyReceives": (1, 1, 1, 1),
        "ApproximateNumberOfMessagesVisible": (1, 1, 1, 1),
        "ApproximateNumberOfMessagesNotVisible": (1, 1, 1, 1),
        "ApproximateNumberOfMessagesDelayed": (1, 1, 1, 1),
        "ApproximateAgeOfOldestMessage": (1, 20, 20, 20),
    }
    assert window["Metrics"].keys() == set(NAMES)


async def test_windows_are_as_long_as_asked_for_and_partial_until_they_are_over(world: World, root: JsonClient) -> None:
    queue, start = await make(root, "orders"), world.clock.now()
    for _ in range(6):
        await queue.send()
        world.advance(60)
    minutes = await told(root, QueueUrl=queue.url)
    assert [(window["StartTime"] - start) // 60_000 for window in minutes] == list(range(6))
    assert not any(window["Partial"] for window in minutes)
    fives = await told(root, QueueUrl=queue.url, Period=300)
    assert [window["Metrics"]["NumberOfMessagesSent"]["Sum"] for window in fives] == [5, 1]
    assert [window["Partial"] for window in fives] == [False, True]


async def test_the_window_in_which_the_server_was_started_is_partial(world: World, root: JsonClient) -> None:
    await fill(world, root, "orders")
    world.store.traffic.since = world.clock.now() + 1
    world.advance(60)
    await fill(world, root, "orders")
    world.advance(60)
    reply = done(await ask(root))
    assert reply["CountingSince"] == world.store.traffic.since
    assert [window["Partial"] for window in reply["Windows"]] == [True, False]


async def test_a_start_is_rounded_down_to_a_window_and_an_end_is_not_included(world: World, root: JsonClient) -> None:
    start = world.clock.now()
    for _ in range(5):
        await fill(world, root, "orders")
        world.advance(60)
    found = await told(root, StartTime=start + 90_000, EndTime=start + 180_000)
    assert [(window["StartTime"] - start) // 60_000 for window in found] == [1, 2]


async def test_an_account_sees_its_own_queues(world: World, root: JsonClient, stranger: JsonClient) -> None:
    await fill(world, root, "b", "a")
    await fill(world, stranger, "theirs")
    assert await names(root) == [(ACCOUNT, "a"), (ACCOUNT, "b")]
    assert await names(stranger) == [(OTHER_ACCOUNT, "theirs")]
    assert await names(stranger, Account=OTHER_ACCOUNT) == [(OTHER_ACCOUNT, "theirs")]


async def test_the_root_account_may_name_another_or_all(world: World, root: JsonClient, stranger: JsonClient) -> None:
    await fill(world, root, "same", "mine")
    await fill(world, stranger, "same")
    assert await names(root, Account=OTHER_ACCOUNT) == [(OTHER_ACCOUNT, "same")]
    assert await names(root, Account=OTHER_ACCOUNT, QueueName="same") == [(OTHER_ACCOUNT, "same")]
    assert await names(root, Account="*") == [(ACCOUNT, "mine"), (ACCOUNT, "same"), (OTHER_ACCOUNT, "same")]


@pytest.mark.parametrize("request_", [{"Account": ACCOUNT}, {"Account": "*"}, {"QueueUrl": f"/{ACCOUNT}/mine"}])
async def test_others_may_not(world: World, root: JsonClient, stranger: JsonClient, request_: dict[str, str]) -> None:
    await fill(world, root, "mine")
    assert (await ask(stranger, **request_)).error_code == "AccessDenied"


async def test_a_region_is_a_world_of_its_own(world: World, root: JsonClient) -> None:
    await fill(world, root, "orders")
    await fill(world, world.client("json", region=OTHER_REGION), "elsewhere")
    assert await names(root, Account="*") == [(ACCOUNT, "orders")]


async def test_a_deleted_queue_is_remembered_and_one_that_never_was_is_an_error(world: World, root: JsonClient) -> None:
    queue = await make(root, "orders")
    await queue.send()
    await queue.do("DeleteQueue")
    assert await names(root, QueueName="orders") == [(ACCOUNT, "orders")]
    assert (await ask(root, QueueName="never")).error_code == "AWS.SimpleQueueService.NonExistentQueue"
    await make(root, "unused")
    assert await told(root, QueueName="unused") == []


async def test_pages_add_up_to_the_whole(world: World, root: JsonClient, stranger: JsonClient) -> None:
    for _ in range(3):
        await fill(world, root, "a", "b", "c")
        await fill(world, stranger, "a")
        world.advance(60)
    whole = await told(root, Account="*")
    assert len(whole) == 12
    for size in (1, 5, 11, 12):
        pages, token = [], None
        while token or not pages:
            more = {"NextToken": token} if token else {}
            reply = done(await ask(root, Account="*", MaxResults=size, **more))
            pages.append(reply["Windows"])
            token = reply.get("NextToken")
        assert [window for page in pages for window in page] == whole
        assert len(pages) == -(-12 // size)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"Period": 90}, "multiple of 60"),
        ({"Period": 0}, "multiple of 60"),
        ({"Period": 86_460}, "86400"),
        ({"MaxResults": 0}, "between 1 and 1000"),
        ({"MaxResults": 1001}, "between 1 and 1000"),
        ({"StartTime": 5, "EndTime": 5}, "before EndTime"),
        ({"StartTime": -5}, "before EndTime"),
        ({"NextToken": "nonsense"}, "NextToken"),
        ({"NextToken": "WzEsMl0="}, "NextToken"),
        ({"Account": "everyone"}, "12 digits"),
        ({"Account": "*", "QueueName": "orders"}, "one account"),
    ],
)
async def test_a_wrong_request_is_told_what_is_right(
    world: World, root: JsonClient, request_: dict[str, Any], said: str
) -> None:
    reply = await ask(root, **request_)
    assert reply.status == 400
    assert said in reply.message
