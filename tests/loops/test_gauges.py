"""When queues are sampled, and which of them."""

import pytest

from penstock.core.clock import ManualClock
from penstock.core.message import NewMessage
from penstock.core.queue import QueueKey
from penstock.core.store import Receive
from penstock.core.traffic import MINUTE_MS
from penstock.loops.gauges import Gauges
from penstock.stores.memory import MemoryStore

ORDERS = QueueKey("eu-west-1", "000000000001", "orders")


class Watched(MemoryStore):
    """Notes how often its counts are asked for."""

    looked = 0

    async def counts(self, queue_id: int, now: int):
        self.looked += 1
        return await super().counts(queue_id, now)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(28_333_333 * MINUTE_MS)


@pytest.fixture
def store() -> Watched:
    return Watched()


async def send(store: Watched, now: int) -> int:
    queue = await store.create_queue(ORDERS, {}, {}, now)
    await store.send(queue.id, [NewMessage("id", "body", 4, "AIDA")], now)
    return queue.id


def visible(store: Watched, clock: ManualClock) -> list[int]:
    minutes = store.traffic.minutes(ORDERS, 0, clock.now())
    return [gauge.visible for minute in minutes for gauge in minute.gauges]


async def test_samples_are_taken_when_a_minute_begins(store: Watched, clock: ManualClock) -> None:
    clock.advance(1.5)
    assert await Gauges(store).run_once(clock.now()) == 28_333_334 * MINUTE_MS
    clock.advance(58.5)
    assert await Gauges(store).run_once(clock.now()) == 28_333_335 * MINUTE_MS


async def test_a_queue_is_sampled_while_it_holds_something_and_once_more(store: Watched, clock: ManualClock) -> None:
    gauges = Gauges(store)
    queue = await send(store, clock.now())
    for _ in range(2):
        await gauges.run_once(clock.now())
        clock.advance(60)
    (message,) = await store.receive(queue, Receive(1, 30), clock.now())
    await store.delete(queue, [message.claim], clock.now())
    for _ in range(3):
        await gauges.run_once(clock.now())
        clock.advance(60)
    assert visible(store, clock) == [1, 1, 0]


async def test_nothing_is_looked_at_while_nothing_happens(store: Watched, clock: ManualClock) -> None:
    gauges = Gauges(store)
    await store.create_queue(ORDERS, {}, {}, clock.now())
    await gauges.run_once(clock.now())
    looked = store.looked
    await gauges.run_once(clock.advance(60))
    assert store.looked == looked
    await send(store, clock.now())
    await gauges.run_once(clock.advance(60))
    assert store.looked > looked


async def test_what_is_too_old_is_let_go(store: Watched, clock: ManualClock) -> None:
    store.traffic.empty_receive(ORDERS, clock.now())
    await Gauges(store).run_once(clock.advance(181 * 60))
    assert list(store.traffic.queues()) == []
