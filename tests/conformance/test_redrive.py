"""Dead letters: when a message dies, what it keeps, and where it is then."""

from penstock.core.message import Attribute
from penstock.core.store import Outcome

from .world import Line, World, key, new, redrive_policy


async def fail(queue: Line, times: int = 1) -> None:
    for _ in range(times):
        assert await queue.receive(1, visibility=0)
        queue.world.advance(0.001)


async def test_a_message_is_moved_when_it_would_be_received_once_too_often(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 2)
    await queue.send("a")
    for _ in range(2):
        assert await queue.bodies(visibility=10) == ["a"]
        world.advance(10)
    assert await queue.states() == (1, 0, 0)
    assert await dead.states() == (0, 0, 0)
    assert await queue.receive() == []
    assert await queue.states() == (0, 0, 0)
    assert await dead.states() == (1, 0, 0)
    assert await dead.bodies() == ["a"]


async def test_time_alone_never_moves_a_message(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    await queue.receive(visibility=1)
    world.advance(60)
    await world.sweep()
    assert await queue.states() == (1, 0, 0)
    assert await dead.states() == (0, 0, 0)


async def test_a_message_can_still_be_deleted_after_its_last_delivery(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await queue.send("a")
    message = await queue.receive_one(visibility=1)
    world.advance(1)
    assert await queue.delete(message) is Outcome.DONE
    assert await queue.receive() == []
    assert await dead.states() == (0, 0, 0)


async def test_a_dead_letter_keeps_what_it_is_and_records_where_it_died(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    message = new("a", attributes={"k": Attribute("String", "v")}, trace="Root=1", group="g", size=99)
    message.deduplication_id = "d" if queue.queue.fifo else None
    await queue.send_all(message)
    sent_at = world.now
    world.advance(5)
    received = await queue.receive_one(visibility=0)
    first_received = world.now
    world.advance(5)
    assert await queue.receive() == []
    assert (await dead.counts()).bytes == 99
    letter = await dead.receive_one()
    assert (letter.id, letter.body, letter.attributes) == (received.id, "a", {"k": Attribute("String", "v")})
    assert (letter.sender, letter.trace, letter.group) == ("AIDAUSER", "Root=1", "g")
    assert (letter.sent, letter.first_received) == (sent_at, first_received)
    assert letter.receive_count == 2
    assert letter.source_arn == queue.arn


async def test_a_dead_letter_on_a_fifo_queue_is_deduplicated_by_its_message_id(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    [sent] = await queue.send("a", deduplication_id="d")
    await fail(queue)
    await queue.receive()
    letter = await dead.receive_one()
    assert letter.deduplication_id == letter.id == sent.id
    assert (await queue.send("b", deduplication_id="d"))[0].duplicate, "the source still remembers the id"


async def test_the_next_message_is_handed_out_in_place_of_one_that_died(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    await fail(queue)
    await queue.send("b", "c")
    assert await queue.bodies(1) == ["b"]
    assert await dead.bodies() == ["a"]


async def test_the_next_group_is_handed_out_in_place_of_one_that_died(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    for group in ("one", "two"):
        await queue.send("dying", group=group)
    await queue.receive(visibility=0)
    world.advance(1)
    await queue.send("well", group="three")
    assert await queue.bodies(1) == ["well"]
    assert await dead.states() == (2, 0, 0)


async def test_only_messages_about_to_be_handed_out_die(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await queue.send("dying")
    await queue.receive(visibility=10)
    world.advance(5)
    await queue.send("well")
    world.advance(10)
    assert await queue.bodies(1) == ["well"]
    assert await dead.states() == (0, 0, 0)
    assert await queue.bodies(1) == []
    assert await dead.bodies() == ["dying"]


async def test_a_receive_for_nothing_more_than_dead_letters_hands_out_nothing(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a", "b", "c")
    await queue.receive(visibility=1)
    world.advance(1)
    assert await queue.receive(2) == []
    assert await dead.bodies() == ["a", "b", "c"]


async def test_claims_of_the_source_mean_nothing_once_the_message_died(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    message = await queue.receive_one(visibility=1)
    world.advance(1)
    await queue.receive()
    assert await queue.delete(message) is Outcome.GONE
    assert await queue.hide(message, 10) is Outcome.GONE
    assert await dead.delete(message) is Outcome.GONE
    assert await dead.states() == (1, 0, 0)


async def test_a_dead_letter_is_ready_at_once_whatever_the_delay_of_its_queue(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await dead.alter(DelaySeconds=60)
    await queue.send("a")
    await fail(queue)
    await queue.receive()
    assert await dead.bodies() == ["a"]


async def test_without_its_dead_letter_queue_a_message_is_handed_out_as_usual(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    await fail(queue)
    await dead.remove()
    assert (await queue.receive_one(visibility=0)).receive_count == 2
    world.advance(1)
    again = await world.queue(dead.queue.key.name)
    assert await queue.receive() == []
    assert await again.bodies() == ["a"]


async def test_a_policy_applies_to_messages_received_before_it_was_set(world: World, any_type: str) -> None:
    dead = await world.queue(f"dead-{any_type}")
    queue = await world.queue(any_type)
    await queue.send("a")
    await fail(queue, 3)
    await queue.alter(RedrivePolicy=redrive_policy(f"dead-{any_type}", 3))
    assert await queue.receive() == []
    assert await dead.bodies() == ["a"]


async def test_a_group_is_not_wedged_when_its_first_message_dies(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    await queue.send("a", "b")
    await queue.receive(1, visibility=1)
    world.advance(1)
    assert await queue.bodies() == ["b"]
    assert await dead.bodies() == ["a"]


async def test_an_emptied_group_can_be_sent_to_after_its_messages_died(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    await queue.send("a")
    await fail(queue)
    assert await queue.receive() == []
    await queue.send("b")
    assert await queue.bodies() == ["b"]
    assert await dead.states() == (1, 0, 0)


async def test_dead_letters_of_a_group_keep_their_order(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    await queue.send(*"abc")
    await queue.receive(visibility=1)
    world.advance(1)
    assert await queue.receive() == []
    letters = await dead.receive()
    assert [letter.body for letter in letters] == ["a", "b", "c"]
    assert sorted(letter.sequence for letter in letters) == [letter.sequence for letter in letters]


async def test_a_dead_letter_comes_behind_what_its_queue_held_before(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    world.advance(1)
    await dead.send("earlier")
    world.advance(1)
    await fail(queue)
    await queue.receive()
    assert await dead.bodies() == ["earlier", "a"]


async def test_a_dead_letter_on_a_standard_queue_keeps_its_enqueue_time(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    await dead.alter(MessageRetentionPeriod=60)
    await queue.send("a")
    sent = world.now
    world.advance(30)
    await queue.receive(visibility=0)
    await queue.receive()
    assert (await dead.counts()).oldest == sent
    world.advance(29.999)
    assert await dead.states() == (1, 0, 0)
    world.advance(0.001)
    assert await dead.states() == (0, 0, 0)
    assert await dead.receive() == []


async def test_a_dead_letter_on_a_fifo_queue_gets_a_new_enqueue_time(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    await dead.alter(MessageRetentionPeriod=60)
    await queue.send("a")
    world.advance(30)
    await queue.receive(visibility=0)
    await queue.receive()
    assert (await dead.counts()).oldest == world.now
    world.advance(59.999)
    assert await dead.states() == (1, 0, 0)
    world.advance(0.001)
    assert await dead.receive() == []


async def test_a_message_older_than_the_purge_of_its_dead_letter_queue_is_not_purged(
    world: World, any_type: str
) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    await queue.send("a")
    await fail(queue)
    await dead.purge()
    world.advance(1)
    await queue.receive()
    await world.sweep()
    assert await dead.bodies() == ["a"]


async def test_an_expired_message_does_not_become_a_dead_letter(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1, MessageRetentionPeriod=60)
    await queue.send("a")
    await fail(queue)
    world.advance(60)
    assert await queue.receive() == []
    assert await dead.states() == (0, 0, 0)


async def test_a_dead_letter_can_die_again(world: World) -> None:
    last = await world.queue("last")
    middle = await world.queue("middle", RedrivePolicy=redrive_policy("last", 3))
    queue = await world.queue("orders", RedrivePolicy=redrive_policy("middle", 1))
    await queue.send("a")
    await fail(queue)
    await queue.receive()
    await fail(middle, 2)
    assert await middle.receive() == []
    letter = await last.receive_one()
    assert (letter.receive_count, letter.source_arn) == (4, middle.arn)


async def test_a_namesake_in_another_region_gets_no_dead_letters(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders", 1)
    namesake = await world.store.create_queue(key("dead-orders", region="us-east-1"), {}, {}, world.now)
    await queue.send("a")
    await fail(queue)
    await queue.receive()
    assert (await dead.counts()).visible == 1
    assert (await world.store.counts(namesake.id, world.now)).visible == 0


async def test_receive_counts_survive_a_restart_so_the_threshold_is_exact(world: World, any_type: str, reopen) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 2)
    await queue.send("a")
    await fail(queue)
    await reopen()
    await fail(queue)
    await reopen()
    assert await queue.receive() == []
    await reopen()
    assert (await dead.receive_one()).receive_count == 3
