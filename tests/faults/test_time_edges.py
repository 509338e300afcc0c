"""B10: every edge in time, a millisecond before it, at it and a millisecond after, by a clock that is moved.

An edge is something to arrange, a question with two answers, and the first millisecond, counted from the beginning of
the arrangement, at which the second one is right. Each is looked at three times, in a new world each, because to ask
may be to change.
"""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sqs.clients import Client
from sqs.conftest import STORES
from sqs.harness import Queue, World, make, make_with_dead_letters
from tally import count

HOURS, DAYS = 3600, 86_400
LONGEST = 12 * HOURS

Ask = Callable[[], Awaitable[object]]
Arrange = Callable[[World, Client], Awaitable[Ask]]


@dataclass(frozen=True)
class Edge:
    at_ms: int
    before: object
    after: object
    arrange: Arrange


EDGES: dict[str, Edge] = {}


def edge(name: str, *seconds: float, before: object, after: object) -> Callable[[Callable[..., Awaitable[Ask]]], None]:
    """One edge for each number of seconds, which is also given to what arranges it."""

    def enter(arrange: Callable[..., Awaitable[Ask]]) -> None:
        for at in seconds:

            async def arranged(world: World, client: Client, at: float = at) -> Ask:
                return await arrange(world, client, int(at))

            EDGES[f"{name} {at:g}"] = Edge(round(at * 1000), before, after, arranged)

    return enter


async def sent(client: Client, name: str = "q", **attributes: object) -> Queue:
    queue = await make(client, name, **attributes)
    await queue.send("m")
    return queue


def accepted(queue: Queue, action: str, **params: Any) -> Ask:
    async def ask() -> bool:
        return (await queue.call(action, **params)).status == 200

    return ask


# Visibility


@edge("a window ends after", 1, 30, LONGEST - 1, LONGEST, before=[], after=["m"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client)
    await queue.take(VisibilityTimeout=seconds)
    return queue.bodies


@edge("a queue's own window ends after", 1, 30, LONGEST, before=(0, 1, 0), after=(1, 0, 0))
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client, VisibilityTimeout=seconds)
    await queue.take()
    return queue.counts


@edge("a changed window ends after", 20, before=[], after=["m"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client)
    message = await queue.take(VisibilityTimeout=100)
    world.advance(13)
    await queue.hide(message, seconds - 13)
    return queue.bodies


@edge("ten seconds more are too many after", LONGEST - 10 + 0.001, before=True, after=False)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client)
    message = await queue.take(VisibilityTimeout=LONGEST)
    change = {"ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 10}
    return accepted(queue, "ChangeMessageVisibility", **change)


@edge("a FIFO handle is of no use after", 1, 30, before=True, after=False)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client, "q.fifo")
    message = await queue.take(VisibilityTimeout=seconds)
    return accepted(queue, "DeleteMessage", ReceiptHandle=message["ReceiptHandle"])


@edge("a group is free again after", 30, before=[], after=["m", "next"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client, "q.fifo")
    await queue.take(VisibilityTimeout=seconds)
    await queue.send("next")
    return queue.bodies


@edge("a message dies after", 30, before=[], after=["m"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue, dead = await make_with_dead_letters(client, "q", 1)
    await queue.send("m")
    await queue.take(VisibilityTimeout=seconds)

    async def ask() -> list[str]:
        assert await queue.bodies() == []
        return await dead.bodies()

    return ask


# Delay


@edge("a delay ends after", 1, 900, before=(0, 0, 1), after=(1, 0, 0))
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q", DelaySeconds=7)
    await queue.send("m", DelaySeconds=seconds)
    return queue.counts


@edge("a queue's own delay ends after", 1, 900, before=[], after=["m"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    return (await sent(client, DelaySeconds=seconds)).bodies


@edge("a FIFO queue's delay ends after", 900, before=[], after=["m"])
async def _(world: World, client: Client, seconds: int) -> Ask:
    return (await sent(client, "q.fifo", DelaySeconds=seconds)).bodies


# Retention


@edge("a message is kept for", 60, 4 * DAYS, 14 * DAYS, before=["m"], after=[])
async def _(world: World, client: Client, seconds: int) -> Ask:
    return (await sent(client, MessageRetentionPeriod=seconds)).bodies


@edge("a message in flight is kept for", 60, before=(0, 1, 0), after=(0, 0, 0))
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client, MessageRetentionPeriod=seconds)
    await queue.take(VisibilityTimeout=LONGEST)
    return queue.counts


@edge("a delay does not lengthen a life of", 60, before=(0, 0, 1), after=(0, 0, 0))
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q", MessageRetentionPeriod=seconds)
    await queue.send("m", DelaySeconds=900)
    return queue.counts


@edge("a dead letter is as old as before it died, and kept for", 100, before=["m"], after=[])
async def _(world: World, client: Client, seconds: int) -> Ask:
    return await dead_after_forty(world, client, "q", seconds)


@edge("a dead letter of a FIFO queue is as young as its death, and kept for", 140, before=["m"], after=[])
async def _(world: World, client: Client, seconds: int) -> Ask:
    return await dead_after_forty(world, client, "q.fifo", seconds - 40)


async def dead_after_forty(world: World, client: Client, name: str, retention: int) -> Ask:
    queue, dead = await make_with_dead_letters(client, name, 1)
    await dead.set(MessageRetentionPeriod=retention)
    await queue.send("m")
    await queue.take(VisibilityTimeout=40)
    world.advance(40)
    assert await queue.bodies() == []
    return dead.bodies


# Deduplication and attempts


@edge("a deduplication id is remembered for", 300, before=1, after=2)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q.fifo")
    await queue.send("m", MessageDeduplicationId="d")

    async def ask() -> int:
        await queue.send("m", MessageDeduplicationId="d")
        return (await queue.counts())[0]

    return ask


@edge("a deduplication id outlives its message and is remembered for", 300, before=0, after=1)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q.fifo")
    await queue.send("m", MessageDeduplicationId="d")
    await queue.delete(await queue.take())

    async def ask() -> int:
        await queue.send("m", MessageDeduplicationId="d")
        return (await queue.counts())[0]

    return ask


@edge("a receive attempt is repeated for", 300, before=["m"], after=[])
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await sent(client, "q.fifo")
    attempt = {"VisibilityTimeout": LONGEST, "ReceiveRequestAttemptId": "a"}
    assert await queue.bodies(**attempt) == ["m"]

    async def ask() -> list[str]:
        return await queue.bodies(**attempt)

    return ask


# Queues


@edge("a queue is purged again after", 60, before=False, after=True)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q")
    await queue.do("PurgeQueue")
    return accepted(queue, "PurgeQueue")


@edge("a name is free again after", 60, before=False, after=True)
async def _(world: World, client: Client, seconds: int) -> Ask:
    queue = await make(client, "q")
    await queue.do("DeleteQueue")

    async def ask() -> bool:
        return (await client.call("CreateQueue", QueueName="q")).status == 200

    return ask


@asynccontextmanager
async def new_world(store_name: str, folder: Path) -> AsyncIterator[World]:
    store = STORES[store_name](Path(tempfile.mkdtemp(dir=folder)))
    await store.open()
    yield World(store)
    await store.close()


@pytest.mark.parametrize("swept", [False, True], ids=["unswept", "swept"])
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("store", sorted(STORES))
async def test_an_edge_is_where_it_is_to_the_millisecond(folder: Path, store: str, name: str, swept: bool) -> None:
    """Time alone makes it so, whether or not the sweeper has been there."""
    edge = EDGES[name]
    for off_ms, expected in ((-1, edge.before), (0, edge.after), (1, edge.after)):
        async with new_world(store, folder) as world:
            moment = world.clock.now() + edge.at_ms + off_ms
            ask = await edge.arrange(world, world.client("json"))
            world.advance((moment - world.clock.now()) / 1000)
            if swept:
                await world.tend()
            assert await ask() == expected, f"{off_ms:+} ms"
            count(cycles=1)
