"""Peeking: a look at a queue that changes nothing and entitles to nothing."""

import pytest

from penstock.core.store import Outcome

from .world import World


async def test_messages_in_every_state_are_seen_oldest_first(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("in flight", group="one")
    await queue.receive(visibility=600)
    world.advance(1)
    await queue.send("ready", group="two")
    world.advance(1)
    await queue.alter(DelaySeconds=60)
    await queue.send("delayed", group="three")
    assert [m.body for m in await queue.peek()] == ["in flight", "ready", "delayed"]


async def test_the_order_is_by_age_not_by_visibility(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    world.advance(1)
    await queue.send("b")
    world.advance(1)
    await queue.receive(1, visibility=0)
    assert [m.body for m in await queue.peek()] == ["a", "b"]


async def test_a_dead_letter_is_as_old_as_its_enqueue_time_says(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await queue.send("older")
    world.advance(1)
    await dead.send("younger")
    await queue.receive(visibility=0)
    await queue.receive()
    seen = await dead.peek()
    assert [m.body for m in seen] == ["older", "younger"]
    assert (await dead.counts()).oldest == seen[0].sent


async def test_peeking_changes_nothing(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a", "b")
    message = await queue.receive_one(visibility=30)
    before = await queue.counts()
    for _ in range(3):
        seen = await queue.peek()
        assert [(m.body, m.receive_count, m.first_received) for m in seen] == [("a", 1, world.now), ("b", 0, None)]
    assert await queue.counts() == before
    assert await queue.delete(message) is Outcome.DONE
    assert (await queue.receive_one()).receive_count == 1


async def test_a_message_is_seen_with_all_that_a_receiver_would_see(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a", trace="Root=1")
    [seen] = await queue.peek()
    received = await queue.receive_one()
    received.claim = seen.claim
    received.receive_count, received.first_received = 0, None
    assert seen == received


@pytest.mark.parametrize("received", [True, False])
async def test_what_a_peek_returns_is_no_claim(world: World, any_type: str, received: bool) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    if received:
        await queue.receive(visibility=30)
    before = await queue.counts()
    [seen] = await queue.peek()
    assert await queue.delete(seen) is not Outcome.DONE
    assert await queue.hide(seen, 0) is not Outcome.DONE
    assert await queue.counts() == before


async def test_a_queue_can_be_read_in_pages(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    bodies = [str(number) for number in range(25)]
    for body in bodies:
        await queue.send(body, group=body)
        world.advance(0.001 if int(body) % 3 else 0)
    seen: list[str] = []
    after = b""
    while page := await queue.peek(limit=10, after=after):
        assert len(page) <= 10
        seen += [m.body for m in page]
        after = page[-1].claim
    assert seen == bodies


async def test_a_page_goes_on_after_a_message_that_is_gone(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    for body in "abcd":
        await queue.send(body, group=body)
        world.advance(0.001)
    page = await queue.peek(limit=2)
    await queue.delete_all(*await queue.receive(2))
    assert [m.body for m in await queue.peek(after=page[-1].claim)] == ["c", "d"]


async def test_a_page_goes_on_after_a_message_that_was_received_since(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send(*"abc")
    page = await queue.peek(limit=1)
    await queue.receive(1)
    assert [m.body for m in await queue.peek(after=page[-1].claim)] == ["b", "c"]


async def test_an_empty_queue_shows_nothing(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    assert await queue.peek() == []


async def test_pages_go_on_by_age_among_dead_letters_and_others(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    for number in range(4):
        await queue.send(f"dead {number}")
        world.advance(1)
        if number < 2:
            await dead.send(f"sent {number}")
        world.advance(1)
    await queue.receive(10, visibility=0)
    await queue.receive()
    await dead.send("sent last")
    ages = ["dead 0", "sent 0", "dead 1", "sent 1", "dead 2", "dead 3", "sent last"]
    for limit in (1, 2, 3, 10):
        seen, after = list[str](), b""
        while page := await dead.peek(limit=limit, after=after):
            seen += [message.body for message in page]
            after = page[-1].claim
        assert seen == ages
    first = await dead.peek(limit=1)
    for message in await dead.receive(10):
        if message.body.startswith("dead"):
            await dead.delete(message)
    assert [message.body for message in await dead.peek(after=first[0].claim)] == ["sent 0", "sent 1", "sent last"]
