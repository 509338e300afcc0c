"""Deleting: which claim deletes, and which has been superseded or has expired."""

import pytest

from penstock.core.store import Outcome

from .world import World

GARBAGE = [b"", b"garbage", b"\xff" * 12, b"\xff" * 16, b"\xff" * 200]


async def test_a_delete_with_the_current_claim_removes_the_message_for_good(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one(visibility=30)
    world.advance(29.999)
    assert await queue.delete(message) is Outcome.DONE
    world.advance(1)
    assert await queue.receive() == []
    assert await queue.states() == (0, 0, 0)


async def test_deleting_again_finds_nothing(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one()
    assert await queue.delete_all(message, message) == [Outcome.DONE, Outcome.GONE]
    assert await queue.delete(message) is Outcome.GONE


async def test_a_batch_of_deletes_gets_one_outcome_for_each_claim_in_order(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send(*"abc")
    a, b, c = await queue.receive()
    outcomes = await queue.delete_all(a, b"garbage", c, a)
    assert outcomes == [Outcome.DONE, Outcome.GONE, Outcome.DONE, Outcome.GONE]
    world.advance(30)
    assert [message.id for message in await queue.receive()] == [b.id]


async def test_of_claims_on_one_message_in_one_batch_each_is_judged_after_those_before_it(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    older = await queue.receive_one(visibility=0)
    world.advance(1)
    latest = await queue.receive_one()
    outcomes = await queue.delete_all(older, latest, latest, older)
    assert outcomes == [Outcome.SUPERSEDED, Outcome.DONE, Outcome.GONE, Outcome.GONE]
    assert await queue.states() == (0, 0, 0)


async def test_a_batch_of_deletes_on_a_fifo_queue_frees_every_group_in_it(world: World) -> None:
    queue = await world.queue("orders.fifo")
    for group in ("one", "two"):
        await queue.send("a", "b", "c", group=group)
    await queue.delete_all(*await queue.receive(4))
    world.advance(1)
    assert sorted(await queue.bodies()) == ["b", "c"]
    assert await queue.states() == (0, 2, 0)


async def test_on_a_standard_queue_the_latest_claim_deletes_even_after_its_window(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    message = await queue.receive_one(visibility=30)
    world.advance(31)
    assert await queue.delete(message) is Outcome.DONE
    assert await queue.receive() == []


async def test_on_a_standard_queue_a_claim_for_zero_seconds_deletes(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    assert await queue.delete(await queue.receive_one(visibility=0)) is Outcome.DONE
    assert await queue.states() == (0, 0, 0)


@pytest.mark.parametrize("still_in_flight", [True, False])
async def test_a_superseded_claim_never_deletes(world: World, still_in_flight: bool) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    old = await queue.receive_one(visibility=10)
    world.advance(10)
    latest = await queue.receive_one(visibility=10)
    if not still_in_flight:
        world.advance(10)
    assert await queue.delete(old) is Outcome.SUPERSEDED
    assert (await queue.counts()).bytes == 1
    assert await queue.delete(latest) is Outcome.DONE


async def test_a_delivery_for_zero_seconds_supersedes_too(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    old = await queue.receive_one(visibility=0)
    latest = await queue.receive_one(visibility=0)
    assert await queue.delete_all(old, latest) == [Outcome.SUPERSEDED, Outcome.DONE]


async def test_on_a_fifo_queue_a_claim_deletes_until_the_last_millisecond_of_its_window(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b")
    a, b = await queue.receive(visibility=30)
    world.advance(29.999)
    assert await queue.delete(a) is Outcome.DONE
    world.advance(0.001)
    assert await queue.delete(b) is Outcome.EXPIRED
    assert await queue.bodies() == ["b"]


async def test_on_a_fifo_queue_a_superseded_claim_has_expired(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a")
    old = await queue.receive_one(visibility=10)
    world.advance(10)
    latest = await queue.receive_one(visibility=10)
    assert await queue.delete(old) is Outcome.EXPIRED
    assert await queue.delete(latest) is Outcome.DONE


async def test_on_a_fifo_queue_a_longer_window_keeps_the_claim_good(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a")
    message = await queue.receive_one(visibility=10)
    world.advance(9)
    assert await queue.hide(message, 60) is Outcome.DONE
    world.advance(59.999)
    assert await queue.delete(message) is Outcome.DONE


@pytest.mark.parametrize("claim", GARBAGE)
async def test_a_claim_that_is_garbage_finds_nothing(world: World, any_type: str, claim: bytes) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    await queue.receive()
    assert await queue.delete(claim) is Outcome.GONE
    assert await queue.hide(claim, 0) is Outcome.GONE
    assert await queue.states() == (0, 1, 0)


async def test_a_claim_of_another_queue_finds_nothing(world: World, any_type: str) -> None:
    queue, other = await world.queue(any_type), await world.queue(f"other-{any_type}")
    await queue.send("a")
    await other.send("b")
    mine, theirs = await queue.receive_one(), await other.receive_one()
    assert await queue.delete(theirs) is Outcome.GONE
    assert await other.hide(mine, 0) is Outcome.GONE
    assert await queue.states() == await other.states() == (0, 1, 0)
