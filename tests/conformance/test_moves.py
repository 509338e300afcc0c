"""Move tasks: the record of a task, and the moving of messages."""

from dataclasses import replace

import pytest

from penstock.core.message import Attribute
from penstock.core.move import MoveStatus, MoveTask
from penstock.core.store import Outcome

from .world import ACCOUNT, Line, World, new

NO_QUEUE = "AWS.SimpleQueueService.NonExistentQueue"
NO_SOURCE = "CouldNotDetermineMessageSource"


async def queue_with_letters(world: World, name: str, *bodies: str) -> tuple[Line, Line]:
    """A queue, and its dead-letter queue in which these messages are."""
    queue, dead = await world.queue_with_dead_letters(name, 1)
    await queue.send(*bodies)
    await queue.receive(visibility=0)
    assert await queue.receive() == []
    assert await dead.states() == (len(bodies), 0, 0)
    world.advance(1)
    return queue, dead


async def move(world: World, task: MoveTask, limit: int = 100) -> MoveTask:
    return await world.store.move(task, limit, world.now)


async def test_a_task_without_a_destination_moves_messages_back_to_where_they_died(world: World, any_type: str) -> None:
    queue, dead = await queue_with_letters(world, any_type, *"abc")
    task = await move(world, await dead.start_move())
    assert (task.status, task.moved, task.to_move, task.failure) == (MoveStatus.COMPLETED, 3, 3, None)
    assert await dead.counts() == (0, 0, 0, 0, None)
    assert await queue.counts() == (3, 0, 0, 3, world.now)
    assert await queue.bodies() == ["a", "b", "c"]


async def test_a_task_with_a_destination_moves_messages_there(world: World, any_type: str) -> None:
    queue, dead = await queue_with_letters(world, any_type, *"abc")
    target = await world.queue(f"target-{any_type}")
    task = await move(world, await dead.start_move(target))
    assert (task.status, task.moved) == (MoveStatus.COMPLETED, 3)
    assert await queue.states() == (0, 0, 0)
    assert await target.bodies() == ["a", "b", "c"]


async def test_messages_without_a_source_can_be_moved_to_a_destination(world: World, any_type: str) -> None:
    dead, target = await world.queue(any_type), await world.queue(f"target-{any_type}")
    await dead.send("a")
    assert (await move(world, await dead.start_move(target))).status is MoveStatus.COMPLETED
    assert await target.bodies() == ["a"]


async def test_messages_of_several_sources_each_go_home(world: World) -> None:
    from .world import redrive_policy

    dead = await world.queue("dead")
    homes = [await world.queue(name, RedrivePolicy=redrive_policy("dead", 1)) for name in ("one", "two")]
    for home in homes:
        await home.send(home.queue.key.name)
        await home.receive(visibility=0)
        await home.receive()
    assert (await move(world, await dead.start_move())).moved == 2
    assert [await home.bodies() for home in homes] == [["one"], ["two"]]


async def test_a_moved_message_is_a_new_message_with_the_old_content(world: World, any_type: str) -> None:
    queue, dead = await world.queue_with_dead_letters(any_type, 1)
    message = new("a", attributes={"k": Attribute("Binary", b"\x00")}, trace="Root=1", group="g", size=99)
    message.deduplication_id = "d" if queue.queue.fifo else None
    await queue.send_all(message)
    await queue.receive(visibility=0)
    await queue.receive()
    world.advance(1)
    await move(world, await dead.start_move())
    assert await queue.counts() == (1, 0, 0, 99, world.now)
    moved_at = world.now
    world.advance(1)
    moved = await queue.receive_one()
    assert (moved.body, moved.attributes) == ("a", {"k": Attribute("Binary", b"\x00")})
    assert (moved.sender, moved.trace, moved.group) == ("AIDAUSER", "Root=1", "g")
    assert moved.id != message.id
    assert (moved.sent, moved.receive_count, moved.first_received) == (moved_at, 1, world.now)
    assert moved.source_arn is None
    assert moved.deduplication_id == (message.id if queue.queue.fifo else None)


async def test_a_message_is_moved_even_if_its_deduplication_id_is_remembered(world: World) -> None:
    queue, dead = await world.queue_with_dead_letters("orders.fifo", 1)
    for _ in range(2):
        [sent] = await queue.send("a", deduplication_id="d")
    assert sent.duplicate
    for _ in range(2):
        await queue.receive(visibility=0)
        assert await queue.receive() == []
        await move(world, await dead.start_move())
        world.advance(1)
    assert await queue.states() == (1, 0, 0)


async def test_a_moved_message_is_kept_for_a_whole_retention_period(world: World, any_type: str) -> None:
    queue, dead = await queue_with_letters(world, any_type, "a")
    await queue.alter(MessageRetentionPeriod=60)
    world.advance(600)
    await move(world, await dead.start_move())
    world.advance(59.999)
    assert await queue.states() == (1, 0, 0)
    world.advance(0.001)
    assert await queue.states() == (0, 0, 0)


async def test_a_moved_message_can_fail_again_as_often_as_a_new_one(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    await move(world, await dead.start_move())
    assert await queue.bodies(visibility=0) == ["a"]
    assert await queue.receive() == []
    assert await dead.bodies() == ["a"]


async def test_a_moved_message_waits_out_the_delay_of_its_new_queue(world: World, any_type: str) -> None:
    queue, dead = await queue_with_letters(world, any_type, "a")
    await queue.alter(DelaySeconds=10)
    await move(world, await dead.start_move())
    assert await queue.states() == (0, 0, 1)
    world.advance(10)
    assert await queue.bodies() == ["a"]


async def test_claims_from_before_the_move_find_nothing(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    letter = await dead.receive_one(visibility=0)
    await move(world, await dead.start_move())
    assert await dead.delete(letter) is Outcome.GONE
    assert await queue.delete(letter) is Outcome.GONE
    assert await queue.states() == (1, 0, 0)


async def test_no_more_is_moved_at_once_than_was_asked_for(world: World, any_type: str) -> None:
    queue, dead = await queue_with_letters(world, any_type, *"abcde")
    task = await dead.start_move()
    for moved, status in ((2, MoveStatus.RUNNING), (4, MoveStatus.RUNNING), (5, MoveStatus.COMPLETED)):
        task = await move(world, task, limit=2)
        assert (task.moved, task.status) == (moved, status)
        assert await queue.states() == (moved, 0, 0)
    assert await queue.bodies() == ["a", "b", "c", "d", "e"]


async def test_a_task_is_completed_by_the_call_that_moves_the_last_ready_message(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", *"ab")
    assert (await move(world, await dead.start_move(), limit=2)).status is MoveStatus.COMPLETED


async def test_a_task_with_nothing_to_move_is_completed(world: World) -> None:
    dead = await world.queue("dead")
    task = await move(world, await dead.start_move())
    assert (task.status, task.moved) == (MoveStatus.COMPLETED, 0)


async def test_hidden_messages_are_not_moved(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", *"ab")
    await dead.receive(1, visibility=60)
    await dead.send("late", delay_seconds=60)
    task = await move(world, await dead.start_move(queue))
    assert (task.status, task.moved) == (MoveStatus.COMPLETED, 1)
    assert await dead.states() == (0, 1, 1)
    assert await queue.bodies() == ["b"]


async def test_a_message_whose_window_is_over_is_moved(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", "a")
    await dead.receive(visibility=10)
    world.advance(10)
    assert (await move(world, await dead.start_move())).moved == 1


async def test_an_expired_message_is_not_moved(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    await dead.alter(MessageRetentionPeriod=60)
    world.advance(60)
    assert (await move(world, await dead.start_move())).moved == 0
    assert await queue.states() == (0, 0, 0)


async def test_a_move_does_not_overtake_a_hidden_message_of_the_same_group(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders.fifo", *"ab")
    a = await dead.receive_one(visibility=60)
    assert (await move(world, await dead.start_move())).moved == 0
    assert await dead.delete(a) is Outcome.DONE
    assert (await move(world, await dead.start_move())).moved == 1
    assert await queue.bodies() == ["b"]


async def test_a_task_fails_at_a_message_whose_source_is_not_known(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    await dead.send("stray")
    world.advance(1)
    task = await move(world, await dead.start_move())
    assert (task.status, task.failure, task.moved) == (MoveStatus.FAILED, NO_SOURCE, 1)
    assert await queue.bodies() == ["a"]
    assert await dead.bodies() == ["stray"]


async def test_a_task_fails_when_the_source_of_a_message_is_gone(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    await queue.remove()
    task = await move(world, await dead.start_move())
    assert (task.status, task.failure, task.moved) == (MoveStatus.FAILED, NO_QUEUE, 0)
    assert await dead.states() == (1, 0, 0)


async def test_a_task_fails_when_its_destination_is_gone(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", *"abc")
    target = await world.queue("target")
    task = await move(world, await dead.start_move(target), limit=1)
    await target.remove()
    task = await move(world, task)
    assert (task.status, task.failure, task.moved) == (MoveStatus.FAILED, NO_QUEUE, 1)
    assert await dead.states() == (2, 0, 0)


async def test_a_task_fails_when_the_queue_it_empties_is_gone(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", "a")
    task = await dead.start_move()
    await dead.remove()
    task = await move(world, task)
    assert (task.status, task.failure) == (MoveStatus.FAILED, NO_QUEUE)


async def test_a_task_being_cancelled_moves_nothing_and_is_cancelled(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", *"ab")
    task = await move(world, await dead.start_move(), limit=1)
    await world.store.save_move(replace(task, status=MoveStatus.CANCELLING))
    task = await move(world, await world.store.find_move(task.id))
    assert (task.status, task.moved) == (MoveStatus.CANCELLED, 1)
    assert await queue.states() == (1, 0, 0)
    assert await dead.states() == (1, 0, 0)


async def test_a_cancellation_that_came_after_the_task_was_read_is_not_overlooked(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    read_before = await dead.start_move()
    await world.store.save_move(replace(read_before, status=MoveStatus.CANCELLING))
    assert (await move(world, read_before)).status is MoveStatus.CANCELLED
    assert await queue.states() == (0, 0, 0)


async def test_a_task_that_has_ended_moves_nothing_more(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", "a")
    task = await move(world, await dead.start_move())
    await dead.send("b")
    assert await move(world, task) == task
    assert await dead.states() == (1, 0, 0)


# Records


async def test_the_progress_of_a_task_is_saved_with_the_move(world: World) -> None:
    _, dead = await queue_with_letters(world, "orders", *"ab")
    task = await dead.start_move()
    assert await world.store.find_move(task.id) == task
    task = await move(world, task, limit=1)
    assert await world.store.find_move(task.id) == task
    assert await world.store.find_move("no such task") is None


async def test_a_task_of_an_account_that_was_forgotten_moves_nothing_and_does_not_come_back(world: World) -> None:
    queue, dead = await queue_with_letters(world, "orders", "a")
    read_before = await dead.start_move()
    await world.store.forget_account("000000000002")
    assert await world.store.find_move(read_before.id) == read_before
    await world.store.forget_account(ACCOUNT)
    assert (await move(world, read_before)).status is MoveStatus.FAILED
    assert await world.store.find_move(read_before.id) is None
    assert await world.store.list_moves(dead.arn, 10) == []
    assert await queue.states() == (0, 0, 0)


@pytest.mark.parametrize("status", [MoveStatus.RUNNING, MoveStatus.CANCELLING])
async def test_there_is_one_active_task_for_a_source(world: World, status: MoveStatus) -> None:
    dead, other = await world.queue("dead"), await world.queue("other")
    task = await dead.start_move()
    await world.store.save_move(replace(task, status=status))
    second = replace(task, id="second")
    assert await world.store.add_move(second) is False
    assert await world.store.find_move("second") is None
    assert await world.store.add_move(replace(second, source_arn=other.arn)) is True


@pytest.mark.parametrize("status", [MoveStatus.COMPLETED, MoveStatus.CANCELLED, MoveStatus.FAILED])
async def test_a_task_that_has_ended_makes_way_for_another(world: World, status: MoveStatus) -> None:
    dead = await world.queue("dead")
    task = await dead.start_move()
    await world.store.save_move(replace(task, status=status, failure="why"))
    assert (await world.store.find_move(task.id)).failure == "why"
    assert await world.store.add_move(replace(task, id="second")) is True
    assert [t.id for t in await world.store.active_moves()] == ["second"]


async def test_tasks_of_a_source_are_listed_newest_first(world: World) -> None:
    dead, other = await world.queue("dead"), await world.queue("other")
    for number in range(4):
        await move(world, await dead.start_move(id=str(number)))
        world.advance(1)
    await other.start_move(id="other")
    assert [task.id for task in await world.store.list_moves(dead.arn, 10)] == ["3", "2", "1", "0"]
    assert [task.id for task in await world.store.list_moves(dead.arn, 2)] == ["3", "2"]
    assert [task.id for task in await world.store.active_moves()] == ["other"]


async def test_tasks_and_their_progress_survive_a_restart(world: World, any_type: str, reopen) -> None:
    queue, dead = await queue_with_letters(world, any_type, *"abc")
    task = await move(world, await dead.start_move(), limit=1)
    await reopen()
    assert await world.store.find_move(task.id) == task
    assert list(await world.store.active_moves()) == [task]
    assert (await queue.states(), await dead.states()) == ((1, 0, 0), (2, 0, 0))
    task = await move(world, task)
    assert (task.moved, task.status) == (3, MoveStatus.COMPLETED)
    assert await queue.bodies() == ["a", "b", "c"]
