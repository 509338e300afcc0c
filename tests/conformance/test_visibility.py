"""For how long a message stays hidden, who may change that, and how many may be hidden."""

import pytest

from penstock.core.store import Outcome, TooManyInFlight

from .world import World, new

TWELVE_HOURS = 43_200


async def test_a_claimed_message_is_hidden_until_its_window_ends(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    await queue.receive(visibility=30)
    assert await queue.receive() == []
    world.advance(29.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_message_returns_without_a_sweep_and_with_one(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    for sweep in (False, True):
        await queue.receive(visibility=5)
        world.advance(5)
        if sweep:
            await world.sweep()
        assert await queue.bodies(visibility=0) == ["a"]


async def test_every_delivery_has_a_claim_of_its_own_and_counts_one_more(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    [sent] = await queue.send("a")
    claims = []
    for delivery in (1, 2, 3):
        message = await queue.receive_one(visibility=1)
        assert (message.id, message.receive_count) == (sent.id, delivery)
        claims.append(message.claim)
        world.advance(1)
    assert len(set(claims)) == 3


async def test_the_time_of_the_first_receive_never_changes(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    first = world.advance(7)
    for _ in range(3):
        assert (await queue.receive_one(visibility=1)).first_received == first
        world.advance(1)


async def test_a_window_of_zero_leaves_the_message_visible_but_counts_the_delivery(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    first = await queue.receive_one(visibility=0)
    assert await queue.states() == (1, 0, 0)
    second = await queue.receive_one(visibility=0)
    assert (first.receive_count, second.receive_count) == (1, 2)
    assert first.claim != second.claim


async def test_a_message_received_for_zero_seconds_goes_behind_what_was_visible_before_that(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    world.advance(1)
    await queue.send("b")
    world.advance(1)
    assert await queue.bodies(1, visibility=0) == ["a"]
    world.advance(1)
    assert await queue.bodies(2, visibility=0) == ["b", "a"]


async def test_standard_queues_hand_out_by_the_time_since_which_messages_are_visible(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("fails")
    await queue.receive(visibility=3)
    world.advance(1)
    await queue.send("late", delay_seconds=3)
    await queue.send("early")
    world.advance(10)
    assert await queue.bodies() == ["early", "fails", "late"]


async def test_messages_sent_in_one_call_come_in_their_order(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send(*"abcdef")
    assert await queue.bodies(4) == list("abcd")
    assert await queue.bodies(1) == ([] if queue.queue.fifo else ["e"])


async def test_no_more_is_handed_out_than_was_asked_for(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send(*"abc")
    assert len(await queue.receive(2)) == 2


# Change of visibility


async def test_a_change_of_visibility_counts_from_the_call(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one(visibility=30)
    world.advance(10)
    assert await queue.hide(message, 60) is Outcome.DONE
    world.advance(59.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_a_window_can_be_shortened(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    await queue.hide(await queue.receive_one(visibility=600), 1)
    world.advance(0.999)
    assert await queue.receive() == []
    world.advance(0.001)
    assert await queue.bodies() == ["a"]


async def test_hiding_for_zero_seconds_makes_the_message_visible_at_once(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    assert await queue.hide(await queue.receive_one(), 0) is Outcome.DONE
    assert await queue.states() == (1, 0, 0)
    assert await queue.bodies(visibility=30) == ["a"]
    world.advance(29.999)
    assert await queue.receive() == [], "the next window is the receiver's, not zero"


async def test_a_change_of_visibility_is_not_remembered_for_the_next_delivery(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    await queue.hide(await queue.receive_one(visibility=5), 600)
    world.advance(600)
    await queue.receive_one(visibility=5)
    world.advance(5)
    assert await queue.bodies() == ["a"]


async def test_a_message_given_back_goes_behind_what_was_visible_before_that(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    message = await queue.receive_one()
    world.advance(1)
    await queue.send("b")
    world.advance(1)
    await queue.hide(message, 0)
    assert await queue.bodies() == ["b", "a"]


async def test_a_deleted_message_cannot_be_hidden(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one()
    await queue.delete(message)
    assert await queue.hide(message, 10) is Outcome.GONE
    assert await queue.states() == (0, 0, 0)


async def test_a_visible_message_is_not_hidden_again(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one(visibility=30)
    world.advance(30)
    assert await queue.hide(message, 10) is Outcome.VISIBLE
    assert await queue.states() == (1, 0, 0)
    assert await queue.bodies() == ["a"]


async def test_a_batch_of_changes_is_done_in_order(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    claim = (await queue.receive_one()).claim
    changes = [(claim, 0), (claim, 10), (b"garbage", 10)]
    outcomes = await world.store.change_visibility(queue.id, changes, world.now)
    assert list(outcomes) == [Outcome.DONE, Outcome.VISIBLE, Outcome.GONE]


async def test_a_superseded_claim_of_a_standard_queue_still_hides_while_its_message_is_in_flight(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    old = await queue.receive_one(visibility=10)
    world.advance(10)
    await queue.receive_one(visibility=10)
    assert await queue.hide(old, 0) is Outcome.DONE
    assert await queue.states() == (1, 0, 0)


async def test_a_superseded_claim_of_a_fifo_queue_hides_nothing(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a")
    old = await queue.receive_one(visibility=10)
    world.advance(10)
    await queue.receive_one(visibility=10)
    assert await queue.hide(old, 0) is Outcome.EXPIRED
    assert await queue.states() == (0, 1, 0)
    world.advance(10)
    assert await queue.hide(old, 10) is Outcome.VISIBLE
    assert await queue.states() == (1, 0, 0)


async def test_no_message_is_hidden_for_more_than_twelve_hours_since_it_was_received(
    world: World, any_type: str
) -> None:
    queue = await world.queue(any_type)
    await queue.send("a")
    message = await queue.receive_one(visibility=TWELVE_HOURS)
    world.advance(0.001)
    assert await queue.hide(message, TWELVE_HOURS) is Outcome.TOO_LONG
    world.advance(0.999)
    assert await queue.hide(message, TWELVE_HOURS) is Outcome.TOO_LONG
    assert await queue.hide(message, TWELVE_HOURS - 1) is Outcome.DONE
    world.advance(TWELVE_HOURS - 1 - 0.001)
    assert await queue.states() == (0, 1, 0)
    world.advance(0.001)
    assert await queue.states() == (1, 0, 0)


async def test_twelve_hours_begin_anew_with_each_delivery(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    await queue.receive_one(visibility=TWELVE_HOURS)
    world.advance(TWELVE_HOURS)
    message = await queue.receive_one(visibility=1)
    assert await queue.hide(message, TWELVE_HOURS) is Outcome.DONE


# The in-flight limit


async def test_a_standard_queue_at_its_in_flight_limit_refuses_and_changes_nothing(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send(*"abc")
    await queue.receive(2)
    with pytest.raises(TooManyInFlight):
        await queue.receive(in_flight_limit=2)
    assert await queue.states() == (1, 2, 0)
    assert await queue.bodies(in_flight_limit=3) == ["c"]


async def test_a_fifo_queue_at_its_in_flight_limit_hands_out_nothing(world: World) -> None:
    queue = await world.queue("orders.fifo")
    await queue.send("a", "b", group="one")
    await queue.send("c", group="two")
    await queue.receive(2)
    assert await queue.receive(in_flight_limit=2) == []
    assert await queue.states() == (1, 2, 0)


async def test_a_receive_never_takes_a_queue_over_its_in_flight_limit(world: World, any_type: str) -> None:
    queue = await world.queue(any_type)
    await queue.send(*"abcd")
    assert await queue.bodies(10, in_flight_limit=3) == list("abc")


async def test_messages_that_came_back_leave_room_below_the_limit(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send(*"ab")
    await queue.receive(2, visibility=10)
    world.advance(10)
    assert await queue.bodies(in_flight_limit=2) == ["a", "b"]


async def test_messages_are_handed_out_as_they_were_sent(world: World, any_type: str) -> None:
    from penstock.core.message import Attribute

    queue = await world.queue(any_type)
    attributes = {
        "n": Attribute("Number", "007"),
        "b": Attribute("Binary.png", b"\x00\xff"),
        "s": Attribute("String", "ü"),
    }
    body = 'tab\t, cr\r, quote", \U0001f6b0 and \ud7ff'
    sent = new(body, attributes=attributes, trace="Root=1", group="g 1", deduplication_id=None)
    if queue.queue.fifo:
        sent.deduplication_id = "d1"
    await queue.send_all(sent)
    received = await queue.receive_one()
    assert (received.id, received.body, received.attributes) == (sent.id, body, attributes)
    assert (received.sender, received.trace, received.group) == ("AIDAUSER", "Root=1", "g 1")
    assert (received.sent, received.first_received) == (world.now, world.now)
    assert received.deduplication_id == sent.deduplication_id
    assert received.source_arn is None
    assert (received.sequence is not None) == queue.queue.fifo
