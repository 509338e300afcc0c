"""Move tasks are carried out at the rate they ask for, and go on after a restart of the mover."""

import uuid

from penstock.core.message import NewMessage
from penstock.core.move import MoveStatus, MoveTask
from penstock.core.queue import Queue, QueueKey
from penstock.loops.mover import MOVED_AT_ONCE, Mover
from penstock.stores.memory import MemoryStore

NOW = 1_700_000_000_000


async def filled(store: MemoryStore, messages: int) -> tuple[Queue, Queue]:
    dead = await store.create_queue(QueueKey("r", "a", "dead"), {}, {}, NOW)
    target = await store.create_queue(QueueKey("r", "a", "target"), {}, {}, NOW)
    bodies = [NewMessage(str(uuid.uuid4()), "body", 4, "me") for _ in range(messages)]
    await store.send(dead.id, bodies, NOW)
    return dead, target


async def started(store: MemoryStore, dead: Queue, target: Queue, rate: int | None = None) -> MoveTask:
    task = MoveTask(str(uuid.uuid4()), dead.arn, target.arn, rate, 0, NOW)
    assert await store.add_move(task)
    return task


async def moved(store: MemoryStore, queue: Queue, now: int) -> int:
    return (await store.counts(queue.id, now)).visible


async def test_a_task_without_a_rate_goes_as_fast_as_it_can_in_small_steps() -> None:
    store = MemoryStore()
    dead, target = await filled(store, MOVED_AT_ONCE + 1)
    await started(store, dead, target)
    mover = Mover(store)
    assert await mover.run_once(NOW) == NOW
    assert await moved(store, target, NOW) == MOVED_AT_ONCE
    assert await mover.run_once(NOW) is None
    assert await moved(store, target, NOW) == MOVED_AT_ONCE + 1


async def test_a_rate_is_kept() -> None:
    store = MemoryStore()
    dead, target = await filled(store, 100)
    await started(store, dead, target, rate=20)
    mover, now = Mover(store), NOW
    while now < NOW + 2000:
        now = await mover.run_once(now) or now + 1000
    assert await moved(store, target, now) == 40


async def test_one_message_a_second_takes_as_many_seconds() -> None:
    store = MemoryStore()
    dead, target = await filled(store, 4)
    task = await started(store, dead, target, rate=1)
    mover, now, times = Mover(store), NOW, []
    while (later := await mover.run_once(now)) is not None:
        times.append(now)
        now = later
    assert times == [NOW, NOW + 1000, NOW + 2000]
    finished = await store.find_move(task.id)
    assert finished
    assert finished.status is MoveStatus.COMPLETED


async def test_a_task_is_cancelled_without_waiting_for_its_turn() -> None:
    store = MemoryStore()
    dead, target = await filled(store, 4)
    task = await started(store, dead, target, rate=1)
    mover = Mover(store)
    await mover.run_once(NOW)
    running = await store.find_move(task.id)
    assert running
    await store.save_move(MoveTask(**{**running.__dict__, "status": MoveStatus.CANCELLING}))
    assert await mover.run_once(NOW + 1) is None
    cancelled = await store.find_move(task.id)
    assert cancelled
    assert (cancelled.status, cancelled.moved) == (MoveStatus.CANCELLED, 1)


async def test_another_mover_goes_on_where_one_stopped() -> None:
    store = MemoryStore()
    dead, target = await filled(store, 3)
    await started(store, dead, target, rate=1)
    await Mover(store).run_once(NOW)
    await Mover(store).run_once(NOW + 1000)
    assert await moved(store, target, NOW + 1000) == 2


async def test_a_task_ends_when_it_has_moved_what_was_there_when_it_began() -> None:
    store = MemoryStore()
    dead, target = await filled(store, 3)
    task = MoveTask(str(uuid.uuid4()), dead.arn, target.arn, None, 2, NOW)
    assert await store.add_move(task)
    assert await Mover(store).run_once(NOW) is None
    ended = await store.find_move(task.id)
    assert ended
    assert (ended.status, ended.moved) == (MoveStatus.COMPLETED, 2)
    assert await moved(store, dead, NOW) == 1
