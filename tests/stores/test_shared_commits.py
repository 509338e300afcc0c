"""Who shares a commit: callers that come together, and a receiver with the sender who woke it; and who is told first.
Nobody waits long."""

import asyncio
from collections.abc import Awaitable

import pytest

from conformance.world import Line, World
from penstock.api.waiting import WaitingRoom

from .conftest import Open

ACCOUNT = "111122223333"


class Post:
    """A queue, the room in which its receivers wait, and how many changes each commit had."""

    def __init__(self, world: World, line: Line) -> None:
        self.line, self.store, self.room, self.commits = line, world.store, WaitingRoom(), list[int]()
        world.store.observe_commits(lambda changes, seconds: self.commits.append(changes))
        world.store.subscribe(lambda queue_id, at, messages: self.room.wake(queue_id, messages))

    async def receiver(self) -> str:
        """Waits for a message that is not there yet, as a long poll does."""
        await self.room.wait(self.line.id, ACCOUNT, self.room.ticket(), 10, self.room.signs(self.line.id))
        (body,) = await self.line.bodies(1, 30)
        return body

    async def send(self) -> None:
        self.store.expect(1)
        await self.line.send("a")

    async def send_together(self, bodies: str) -> None:
        self.store.expect(len(bodies))
        await asyncio.gather(*(self.line.send(body) for body in bodies))


async def post(opened: Open, queue: str = "orders") -> Post:
    world = await opened(None)
    return Post(world, await world.queue(queue))


async def test_a_lone_change_is_committed_before_the_loop_goes_on(opened: Open) -> None:
    here, turned = await post(opened), list[bool]()
    asyncio.get_running_loop().call_soon(turned.append, True)
    await here.send()
    assert (here.commits, turned) == ([1], [])


async def test_those_who_come_together_share_a_commit(opened: Open) -> None:
    here = await post(opened)
    await here.send_together("abc")
    assert here.commits == [3]


async def test_the_first_who_comes_again_shares_a_commit_with_those_who_come_next(opened: Open) -> None:
    here = await post(opened)
    await here.send_together("abc")
    others = list[asyncio.Task[object]]()

    def come() -> None:
        here.store.expect(2)
        others.extend(asyncio.create_task(here.line.send(body)) for body in "bc")

    asyncio.get_running_loop().call_soon(come)
    await here.send()
    await asyncio.gather(*others)
    assert here.commits == [3, 3]


async def test_who_was_in_company_and_is_not_any_more_waits_once_for_a_turn_of_the_loop(opened: Open) -> None:
    here = await post(opened)
    await here.send_together("abc")
    await asyncio.wait_for(here.send(), 10)
    turned = list[bool]()
    asyncio.get_running_loop().call_soon(turned.append, True)
    await here.send()
    assert (here.commits, turned) == ([3, 1, 1], [])


@pytest.mark.parametrize("queue", ["orders", "payments.fifo"])
async def test_a_parked_receiver_shares_the_commit_of_the_send_that_woke_it(opened: Open, queue: str) -> None:
    here = await post(opened, queue)
    receiver = asyncio.create_task(here.receiver())
    await asyncio.sleep(0)
    await here.send()
    assert await receiver == "a"
    assert here.commits == [2]


async def test_a_receiver_that_was_parked_is_told_before_the_sender_and_others_in_their_order(opened: Open) -> None:
    here, told = await post(opened), list[str]()

    async def told_as(name: str, work: Awaitable[object]) -> None:
        await work
        told.append(name)

    receiver = asyncio.create_task(told_as("receiver", here.receiver()))
    await asyncio.sleep(0)
    await asyncio.gather(receiver, told_as("sender", here.send()))
    assert (told, here.commits) == (["receiver", "sender"], [2])
    here.store.expect(2)
    await asyncio.gather(*(told_as(name, here.line.send(name)) for name in ("first", "second")))
    assert told[2:] == ["first", "second"]


async def test_a_receiver_that_was_woken_and_does_not_come_is_not_waited_for(opened: Open) -> None:
    here = await post(opened)
    receiver = asyncio.create_task(here.receiver())
    await asyncio.sleep(0)
    here.store.subscribe(lambda queue_id, at, messages: receiver.cancel())
    await asyncio.wait_for(here.send(), 10)
    assert here.commits == [1]
    assert await here.line.bodies(1) == ["a"]
