"""What an operation costs does not depend on how much is stored: counted, not timed, in a small crowd and a large one.

The statements of the operations are also asked for their plans: none may look at all of a table, or sort.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from conformance.stores import new_folder
from conformance.world import key
from penstock.core.move import MoveStatus

from .counting import Cost, cheapest, scans
from .crowd import Crowd, crowd
from .run import size

FEW, MANY = 100, size(gate=20_000, night=100_000)
GROWTH = 1.5
"""A tree that is deeper, a page that is fuller: more than this is a law of growth."""


@dataclass
class Crowds:
    few: Crowd
    many: Crowd


@pytest.fixture(scope="module")
def crowds() -> Iterator[Crowds]:
    folder = new_folder()

    async def both() -> Crowds:
        return Crowds(await crowd(folder, FEW), await crowd(folder, MANY))

    crowds = asyncio.run(both())
    yield crowds
    asyncio.run(crowds.few.store.close())
    asyncio.run(crowds.many.store.close())
    shutil.rmtree(folder)


Operation = Callable[[Crowd], Awaitable[object]]
OPERATIONS: dict[str, Operation] = {}


def operation(name: str, *arguments: str) -> Callable[[Callable[..., Awaitable[object]]], None]:
    """An operation, on each of these queues."""

    def enter(run: Callable[..., Awaitable[object]]) -> None:
        for argument in arguments or ("",):
            OPERATIONS[f"{name} {argument}".strip()] = (
                (lambda crowd, argument=argument: run(crowd, argument)) if argument else run
            )

    return enter


STANDARD = "ready", "flight", "delayed", "fair", "dead", "dying", "purged"
FIFO = "one.fifo", "many.fifo", "busy.fifo"


@operation("send", *STANDARD)
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].send("new", **({"group": "new"} if name == "fair" else {}))


@operation("send to a group of", *FIFO, "fair")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].send("new", group="g0")


@operation("send a duplicate to", *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].send("new", group="g0", deduplication_id="the same")


@operation("send a batch to", "ready", "one.fifo", "many.fifo")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].send(*(f"new {number}" for number in range(10)))


@operation("receive", *STANDARD, *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    crowd.held.setdefault(name, [])[:0] = await crowd.lines[name].receive(10, 36_000)


@operation("receive one from", *STANDARD, *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    crowd.held.setdefault(name, [])[:0] = await crowd.lines[name].receive(1, 36_000)


@operation("receive an attempt from", *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].receive(10, 36_000, attempt_id="attempt")


@operation("change the visibility in", "ready", "flight", "fair", "busy.fifo", "many.fifo")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].hide(crowd.held[name][-1], 30_000)


@operation("show again in", "ready", "flight", "fair", "busy.fifo", "many.fifo")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].hide(crowd.held[name].pop(), 0)


@operation("delete from", "ready", "flight", "fair", "busy.fifo", "many.fifo", "one.fifo")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].delete(crowd.held[name].pop())


@operation("count", *STANDARD, *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].counts()


@operation("peek into", *STANDARD, *FIFO)
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].peek(10)


@operation("alter", "ready", "many.fifo")
async def _(crowd: Crowd, name: str) -> None:
    await crowd.lines[name].alter(VisibilityTimeout=31)


@operation("find a queue")
async def _(crowd: Crowd) -> None:
    assert await crowd.store.find_queue(key("many-000003"))


@operation("list ten queues")
async def _(crowd: Crowd) -> None:
    queue = crowd.lines["ready"].queue.key
    assert len(await crowd.store.list_queues(queue.region, queue.account, "many-", "many-000001", 8)) == 8


@operation("create, purge and delete a queue")
async def _(crowd: Crowd) -> None:
    line = await crowd.world.queue("passing")
    await line.purge()
    await line.remove()


@operation("look at the tasks of a queue")
async def _(crowd: Crowd) -> None:
    assert len(await crowd.store.list_moves(crowd.lines["dead"].arn, 10)) == 10


@operation("move ten messages")
async def _(crowd: Crowd) -> None:
    task = await crowd.lines["dead"].start_move(crowd.lines["ready"])
    task = await crowd.store.move(task, 10, crowd.world.now)
    assert task.moved == 10
    await crowd.store.save_move(replace(task, status=MoveStatus.CANCELLED))


@operation("sweep when nothing is due")
async def _(crowd: Crowd) -> None:
    await crowd.store.sweep(crowd.world.now)


@pytest.fixture(scope="module")
def costs(crowds: Crowds) -> dict[str, tuple[Cost, Cost]]:
    """Of each operation, on the few and on the many. Litter is cleared first: how is the subject of another test."""

    async def measure(crowd: Crowd) -> dict[str, Cost]:
        await crowd.world.sweep()
        return {name: await cheapest(crowd.store, lambda run=run: run(crowd)) for name, run in OPERATIONS.items()}

    few, many = asyncio.run(measure(crowds.few)), asyncio.run(measure(crowds.many))
    return {name: (few[name], many[name]) for name in OPERATIONS}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_costs_the_same_among_many(costs: dict[str, tuple[Cost, Cost]], name: str) -> None:
    few, many = costs[name]
    assert not many.exceeds(few, GROWTH), f"{many} among {MANY}, {few} among {FEW}"


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_looks_at_no_table_as_a_whole(
    crowds: Crowds, costs: dict[str, tuple[Cost, Cost]], name: str
) -> None:
    assert scans(crowds.many.store, costs[name][1]) == []
