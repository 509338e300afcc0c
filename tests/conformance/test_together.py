"""Calls that arrive together are answered as if they had come one after the other."""

import asyncio
from uuid import UUID

from penstock.core.errors import QueueGone
from penstock.core.message import Message
from penstock.core.store import Outcome, TooManyInFlight

from .world import Line, World

CALLERS = 43
"""More than fit into one shared change of any store."""


async def one_each(line: Line, callers: int = CALLERS, visibility: int = 30) -> list[list[Message]]:
    return await asyncio.gather(*(line.receive(1, visibility) for _ in range(callers)))


async def test_each_sender_is_told_of_its_own_message(world: World, any_type: str) -> None:
    line = await world.queue(any_type)
    ids = [str(UUID(int=n)) for n in range(CALLERS)]
    told = await asyncio.gather(*(line.send(f"m{n}", id=message_id) for n, message_id in enumerate(ids)))
    assert [sent.id for (sent,) in told] == ids
    assert [message.body for message in await line.peek()] == [f"m{n}" for n in range(CALLERS)]


async def test_a_duplicate_is_recognised_beside_its_original(world: World) -> None:
    line = await world.queue("orders.fifo")
    told = await asyncio.gather(*(line.send("m", deduplication_id="x") for _ in range(3)))
    assert [(sent.id, sent.duplicate) for (sent,) in told] == [(told[0][0].id, n > 0) for n in range(3)]


async def test_each_message_goes_to_one_receiver_in_order(world: World) -> None:
    line = await world.queue("orders")
    await line.send("a", "b", "c")
    assert [[m.body for m in given] for given in await one_each(line, 5)] == [["a"], ["b"], ["c"], [], []]
    assert await line.states() == (0, 3, 0)


async def test_a_receiver_is_given_no_message_of_a_group_that_another_holds(world: World) -> None:
    line = await world.queue("orders.fifo")
    for group in "ab":
        await line.send(f"{group}1", f"{group}2", group=group)
    assert [[m.body for m in given] for given in await one_each(line, 4)] == [["a1"], ["b1"], [], []]


async def test_messages_that_stay_visible_are_handed_out_in_turn(world: World) -> None:
    line = await world.queue("orders")
    for body in "ab":
        await line.send(body)
        world.advance(1)
    given = await one_each(line, 3, visibility=0)
    assert sorted(message.receive_count for (message,) in given) == [1, 1, 2]


async def test_who_finds_too_many_in_flight_is_told_and_the_others_are_served(world: World) -> None:
    line = await world.queue("orders")
    await line.send(*"abc")
    calls = (line.receive(1, in_flight_limit=2) for _ in range(4))
    given = await asyncio.gather(*calls, return_exceptions=True)
    assert [[m.body for m in got] for got in given[:2] if isinstance(got, list)] == [["a"], ["b"]]
    assert [type(refusal) for refusal in given[2:]] == [TooManyInFlight, TooManyInFlight]


async def test_a_message_that_dies_makes_way_for_the_next(world: World) -> None:
    line, dead = await world.queue_with_dead_letters("orders", max_receives=1)
    await line.send("poison")
    await line.receive(1, 0)
    await line.send("a", "b")
    assert [[m.body for m in given] for given in await one_each(line, 3)] == [["a"], ["b"], []]
    assert [message.body for message in await dead.peek()] == ["poison"]


async def test_one_of_many_who_delete_the_same_message_does(world: World, any_type: str) -> None:
    line = await world.queue(any_type)
    await line.send("m")
    message = await line.receive_one()
    outcomes = await asyncio.gather(*(line.delete(message) for _ in range(CALLERS)))
    assert outcomes == [Outcome.DONE] + [Outcome.GONE] * (CALLERS - 1)


async def test_each_who_deletes_is_told_of_its_own_message(world: World) -> None:
    line = await world.queue("orders")
    await line.send("a", "b")
    superseded = await line.receive_one(visibility=1)
    world.advance(1)
    first, second = await line.receive(2)
    claims = (superseded, first, b"garbage", second)
    outcomes = await asyncio.gather(*(line.delete(claim) for claim in claims))
    again = superseded.id in (first.id, second.id)
    assert (again, outcomes) == (True, [Outcome.SUPERSEDED, Outcome.DONE, Outcome.GONE, Outcome.DONE])


async def test_what_arrives_together_is_counted_as_it_would_be_apart(world: World) -> None:
    line = await world.queue("orders")
    await asyncio.gather(*(line.send("four") for _ in range(CALLERS)))
    given = await one_each(line, CALLERS - 1)
    await asyncio.gather(*(line.delete(message) for (message,) in given[:5]))
    assert (await line.counts())[:4] == (1, CALLERS - 6, 0, 4 * (CALLERS - 5))
    (minute,) = world.store.traffic.minutes(line.queue.key, 0, world.now)
    assert (minute.sent, minute.received, minute.deleted) == (CALLERS, CALLERS - 1, 5)


async def test_a_queue_that_is_gone_is_told_to_each(world: World) -> None:
    line = await world.queue("orders")
    await line.remove()
    told = await asyncio.gather(*(line.send("m") for _ in range(3)), *one_refused_each(line), return_exceptions=True)
    assert [type(error) for error in told] == [QueueGone] * 6


def one_refused_each(line: Line) -> list[asyncio.Task[list[Message]]]:
    return [asyncio.create_task(line.receive(1)) for _ in range(3)]


async def test_nothing_is_received_twice_while_others_send_and_delete(world: World) -> None:
    line, bodies = await world.queue("orders"), set[str]()
    for turn in range(5):
        sends = [line.send(f"{turn}-{n}") for n in range(7)]
        await asyncio.gather(*sends)
        received = await asyncio.gather(*(line.receive(1, 30) for _ in range(7)), line.receive(10, 30))
        messages = [message for given in received for message in given]
        assert not bodies & {message.body for message in messages}
        bodies |= {message.body for message in messages}
        await asyncio.gather(*(line.delete(message) for message in messages))
    assert len(bodies) == 35
    assert await line.states() == (0, 0, 0)
