"""FIFO queues: order within a group, groups among each other, sequence numbers, receive attempts."""

import pytest

from penstock.core.store import Outcome

from .world import World

QUEUE = "orders.fifo"


async def test_a_group_is_handed_out_in_the_order_in_which_it_was_sent(world: World) -> None:
    queue = await world.queue(QUEUE)
    for body in "abc":
        await queue.send(body)
        world.advance(1)
    assert await queue.bodies() == ["a", "b", "c"]


async def test_one_group_is_emptied_before_the_next_begins(world: World) -> None:
    queue = await world.queue(QUEUE)
    for body, group in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b"), ("c1", "c")]:
        await queue.send(body, group=group)
        world.advance(0.001)
    assert await queue.bodies(3) == ["a1", "a2", "b1"]


async def test_a_message_in_flight_hides_the_rest_of_its_group(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", "b")
    assert await queue.bodies(1) == ["a"]
    assert await queue.receive() == []
    await queue.send("c")
    assert await queue.receive() == [], "a new message does not free the group"


async def test_a_message_in_flight_does_not_hide_other_groups(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", "b", group="one")
    await queue.send("c", group="two")
    await queue.receive(1)
    assert await queue.bodies() == ["c"]


async def test_a_delayed_message_hides_what_follows_it(world: World) -> None:
    queue = await world.queue(QUEUE, DelaySeconds=10)
    await queue.send("a")
    world.advance(5)
    await queue.send("b")
    world.advance(5)
    assert await queue.bodies(visibility=0) == ["a"]
    world.advance(5)
    assert await queue.bodies() == ["a", "b"]


async def test_deleting_all_that_is_in_flight_frees_the_group_at_once(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    await queue.delete_all(*await queue.receive(2))
    assert await queue.bodies() == ["c"]


async def test_deleting_some_of_what_is_in_flight_does_not_free_the_group(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    a, b = await queue.receive(2)
    await queue.delete(a)
    assert await queue.receive() == []
    await queue.delete(b)
    assert await queue.bodies() == ["c"]


async def test_deleting_the_second_does_not_free_the_group_of_the_first(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    _, b = await queue.receive(2)
    await queue.delete(b)
    assert await queue.receive() == []


@pytest.mark.parametrize(("kept", "delivered"), [(0, []), (1, ["a"]), (2, ["a", "b"])])
async def test_a_group_is_handed_out_up_to_the_first_message_still_hidden(
    world: World, kept: int, delivered: list[str]
) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    messages = await queue.receive(visibility=10)
    assert await queue.hide(messages[kept], 60) is Outcome.DONE
    world.advance(10)
    assert await queue.bodies() == delivered


async def test_the_first_given_back_comes_again_while_the_second_is_in_flight(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    a, _ = await queue.receive(2)
    await queue.hide(a, 0)
    assert await queue.bodies() == ["a"]


async def test_the_second_given_back_stays_behind_the_first(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    a, b = await queue.receive(2)
    await queue.hide(b, 0)
    assert await queue.receive() == []
    await queue.delete(a)
    assert await queue.bodies() == ["b", "c"]


async def test_order_is_kept_when_windows_end(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    for visibility in (10, 5, 1):
        assert await queue.bodies(visibility=visibility) == ["a", "b", "c"]
        world.advance(visibility)


async def test_order_is_kept_by_windows_of_zero(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    assert await queue.bodies(2, visibility=0) == ["a", "b"]
    world.advance(1)
    assert await queue.bodies(visibility=0) == ["a", "b", "c"]


async def test_an_emptied_group_can_be_sent_to_again(world: World) -> None:
    queue = await world.queue(QUEUE)
    for body in "abc":
        await queue.send(body)
        assert await queue.delete(await queue.receive_one()) is Outcome.DONE
    assert await queue.states() == (0, 0, 0)


# Groups among each other


async def test_a_group_that_failed_waits_behind_groups_that_were_available_before(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", group="fails")
    await queue.receive(visibility=10)
    world.advance(5)
    await queue.send("b", group="new")
    world.advance(10)
    assert await queue.bodies() == ["b", "a"]


async def test_a_group_given_back_waits_behind_groups_that_were_available_before(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", group="fails")
    message = await queue.receive_one()
    world.advance(1)
    await queue.send("b", group="new")
    world.advance(1)
    await queue.hide(message, 0)
    assert await queue.bodies() == ["b", "a"]


async def test_a_group_freed_by_a_delete_comes_by_the_time_since_which_its_head_is_visible(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a1", "a2", group="long")
    a1 = await queue.receive_one()
    world.advance(1)
    await queue.send("b", group="new")
    world.advance(1)
    await queue.delete(a1)
    assert await queue.bodies() == ["a2", "b"]


async def test_a_new_message_does_not_put_its_group_behind_others(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a1", group="a")
    world.advance(1)
    await queue.send("b1", group="b")
    world.advance(1)
    await queue.send("a2", group="a")
    assert await queue.bodies() == ["a1", "a2", "b1"]


async def test_groups_on_other_queues_are_other_groups(world: World) -> None:
    queue, other = await world.queue(QUEUE), await world.queue("other.fifo")
    await queue.send("a", "b")
    await other.send("c")
    await queue.receive(1)
    assert await other.bodies() == ["c"]


# Sequence numbers


async def test_sequence_numbers_increase_with_every_message_of_a_queue(world: World) -> None:
    queue, other = await world.queue(QUEUE), await world.queue("other.fifo")
    sequences = []
    for round_ in range(3):
        for group in "ab":
            sequences += [sent.sequence for sent in await queue.send("x", "y", group=group)]
        await other.send("z")
        await queue.delete_all(*await queue.receive())
        world.advance(round_)
    assert sequences == sorted(set(sequences))


async def test_a_received_message_has_the_sequence_number_that_its_sender_was_told(world: World) -> None:
    queue = await world.queue(QUEUE)
    sent = await queue.send("a", "b")
    assert [m.sequence for m in await queue.receive()] == [s.sequence for s in sent]


async def test_messages_of_standard_queues_have_no_sequence_number(world: World) -> None:
    queue = await world.queue("orders")
    assert (await queue.send("a"))[0].sequence is None
    assert (await queue.receive_one()).sequence is None


async def test_sequence_numbers_go_on_after_a_restart(world: World, reopen) -> None:
    queue = await world.queue(QUEUE)
    [before] = await queue.send("a")
    await queue.delete(await queue.receive_one())
    await reopen()
    [after] = await queue.send("b")
    assert after.sequence > before.sequence


# Receive attempts


async def test_a_repeated_attempt_gets_the_same_messages_and_claims_hidden_anew(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send(*"abc")
    first = await queue.receive(2, visibility=30, attempt_id="try")
    world.advance(20)
    again = await queue.receive(2, visibility=30, attempt_id="try")
    assert again == first
    world.advance(29.999)
    assert await queue.receive() == []
    assert await queue.delete_all(*first) == [Outcome.DONE, Outcome.DONE]
    assert await queue.bodies() == ["c"]


async def test_another_attempt_gets_other_messages(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", group="one")
    await queue.send("b", group="two")
    assert [m.body for m in await queue.receive(1, attempt_id="try")] == ["a"]
    assert [m.body for m in await queue.receive(1, attempt_id="other")] == ["b"]


async def test_an_attempt_can_be_repeated_after_its_window_if_nobody_took_the_messages(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a")
    first = await queue.receive(visibility=10, attempt_id="try")
    world.advance(10)
    assert await queue.receive(visibility=10, attempt_id="try") == first
    assert await queue.states() == (0, 1, 0)


async def test_an_attempt_can_be_repeated_for_five_minutes(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a")
    first = await queue.receive(visibility=1, attempt_id="try")
    world.advance(299.999)
    assert await queue.receive(visibility=0, attempt_id="try") == first
    world.advance(0.001)
    [later] = await queue.receive(visibility=1, attempt_id="try")
    assert later.receive_count == 2
    assert later.claim != first[0].claim


@pytest.mark.parametrize("act", ["delete", "hide"])
async def test_an_attempt_is_void_once_one_of_its_messages_was_deleted_or_changed(world: World, act: str) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", "b", group="one")
    await queue.send("c", group="two")
    a, _ = await queue.receive(2, attempt_id="try")
    assert await (queue.delete(a) if act == "delete" else queue.hide(a, 100)) is Outcome.DONE
    assert [m.body for m in await queue.receive(2, attempt_id="try")] == ["c"]


async def test_an_attempt_is_void_once_one_of_its_messages_was_delivered_again(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", group="one")
    await queue.send("b", group="two")
    await queue.receive(1, visibility=5, attempt_id="try")
    await queue.receive(1, visibility=60)
    world.advance(5)
    await queue.receive(1, visibility=60)
    assert await queue.receive(1, attempt_id="try") == []


async def test_an_attempt_that_got_nothing_may_get_something_when_repeated(world: World) -> None:
    queue = await world.queue(QUEUE)
    assert await queue.receive(attempt_id="try") == []
    await queue.send("a")
    assert await queue.bodies(attempt_id="try") == ["a"]


async def test_a_repeated_attempt_is_not_held_back_by_the_in_flight_limit(world: World) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a")
    first = await queue.receive(attempt_id="try")
    assert await queue.receive(attempt_id="try", in_flight_limit=1) == first


async def test_standard_queues_know_no_attempts(world: World) -> None:
    queue = await world.queue("orders")
    await queue.send("a")
    await queue.receive(attempt_id="try")
    assert await queue.receive(attempt_id="try") == []


async def test_an_attempt_can_be_repeated_after_a_restart(world: World, reopen) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a")
    first = await queue.receive(attempt_id="try")
    await reopen()
    assert await queue.receive(attempt_id="try") == first


async def test_hidden_groups_stay_hidden_over_a_restart(world: World, reopen) -> None:
    queue = await world.queue(QUEUE)
    await queue.send("a", "b", group="one")
    await queue.send("c", group="two")
    a = await queue.receive_one()
    await reopen()
    assert await queue.bodies() == ["c"]
    assert await queue.delete(a) is Outcome.DONE
    assert await queue.bodies() == ["b"]
