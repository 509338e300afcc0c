"""Counters by queue and minute: what is added when, for how long it is kept, and what it weighs."""

import tracemalloc

from penstock.core.message import NewMessage, Sent
from penstock.core.queue import Counts, QueueKey
from penstock.core.traffic import KEPT_MINUTES, MINUTE_MS, Gauge, Minute, Traffic

ORDERS = QueueKey("eu-west-1", "000000000001", "orders")
GONE = ORDERS._replace(name="gone")
FIRST = 28_333_333
NOW = FIRST * MINUTE_MS


def new(size: int) -> NewMessage:
    return NewMessage("id", "body", size, "AIDA")


def send(traffic: Traffic, now: int, *sizes: int, queue: QueueKey = ORDERS) -> None:
    traffic.sent(queue, [new(size) for size in sizes], [Sent("id", None)] * len(sizes), now)
    traffic.committed()


def test_a_minute_has_what_was_committed_in_it() -> None:
    traffic = Traffic()
    send(traffic, NOW, 5, 3)
    send(traffic, NOW + 59_999, 9)
    traffic.received(ORDERS, 2, NOW)
    traffic.deleted(ORDERS, 1, NOW)
    traffic.gauge(ORDERS, Counts(1, 2, 3, 99), NOW - 2999, NOW)
    traffic.committed()
    traffic.empty_receive(ORDERS, NOW)
    assert traffic.minutes(ORDERS, 0, NOW) == [Minute(FIRST, 3, 17, 3, 9, 2, 1, 1, (Gauge(1, 2, 3, 2),))]


def test_last_use_is_when_something_was_sent_and_when_somebody_asked_for_it() -> None:
    traffic = Traffic()
    send(traffic, NOW, 5)
    send(traffic, NOW + 7, 5)
    assert (traffic.last_sent, traffic.last_received) == ({ORDERS: NOW + 7}, {})
    traffic.received(ORDERS, 1, NOW + 8)
    traffic.deleted(ORDERS, 1, NOW + 9)
    traffic.committed()
    assert traffic.last_received == {ORDERS: NOW + 8}
    traffic.empty_receive(ORDERS, NOW + 10)
    assert (traffic.last_sent, traffic.last_received) == ({ORDERS: NOW + 7}, {ORDERS: NOW + 10})


def test_last_use_outlives_the_minutes_and_not_the_queue() -> None:
    traffic = Traffic()
    send(traffic, NOW, 5)
    send(traffic, NOW, 5, queue=GONE)
    traffic.empty_receive(GONE, NOW)
    traffic.forget(NOW + (KEPT_MINUTES + 1) * MINUTE_MS)
    traffic.forget_use_but_of({ORDERS})
    assert (list(traffic.queues()), traffic.last_sent, traffic.last_received) == ([], {ORDERS: NOW}, {})


def test_what_was_rolled_back_was_never_there() -> None:
    traffic = Traffic()
    traffic.sent(ORDERS, [new(5)], [Sent("id", None)], NOW)
    traffic.rolled_back()
    traffic.committed()
    assert (list(traffic.queues()), traffic.sends) == ([], 0)


def test_what_changed_nothing_leaves_nothing() -> None:
    traffic = Traffic()
    traffic.sent(ORDERS, [new(5)], [Sent("id", 1, duplicate=True)], NOW)
    traffic.received(ORDERS, 0, NOW)
    traffic.deleted(ORDERS, 0, NOW)
    traffic.committed()
    assert list(traffic.queues()) == []


def test_every_minute_is_given_back_as_it_was() -> None:
    traffic = Traffic()
    for number in range(10):
        send(traffic, NOW + number * MINUTE_MS, number, 1_000_000)
    found = traffic.minutes(ORDERS, FIRST + 3, NOW + 9 * MINUTE_MS)
    assert found == [Minute(FIRST + n, 2, n + 1_000_000, n, 1_000_000) for n in range(3, 10)]


def test_a_change_that_is_committed_late_is_counted_in_its_own_minute() -> None:
    traffic = Traffic()
    traffic.received(ORDERS, 4, NOW + 59_999)
    traffic.empty_receive(ORDERS, NOW + MINUTE_MS)
    traffic.committed()
    traffic.empty_receive(ORDERS, NOW + MINUTE_MS)
    found = traffic.minutes(ORDERS, 0, NOW + MINUTE_MS)
    assert sum(minute.received for minute in found if minute.number == FIRST) == 4
    assert sum(minute.empty for minute in found if minute.number == FIRST + 1) == 2


def test_time_is_complete_from_the_start_to_the_last_change_that_is_not_committed() -> None:
    traffic = Traffic()
    traffic.since = NOW + 1
    later = NOW + 3 * MINUTE_MS
    minutes = [(NOW + n * MINUTE_MS, NOW + (n + 1) * MINUTE_MS) for n in range(4)]
    assert [traffic.complete(*minute, later) for minute in minutes] == [False, True, True, False]
    traffic.received(ORDERS, 1, NOW + 2 * MINUTE_MS + 5)
    assert [traffic.complete(*minute, later) for minute in minutes] == [False, True, False, False]


def test_minutes_that_are_too_old_are_not_given_and_not_complete() -> None:
    traffic = Traffic()
    traffic.kept_minutes = 2
    for number in range(5):
        send(traffic, NOW + number * MINUTE_MS, 1)
    now = NOW + 4 * MINUTE_MS
    assert [minute.number - FIRST for minute in traffic.minutes(ORDERS, 0, now)] == [2, 3, 4]
    assert not traffic.complete(NOW + MINUTE_MS, NOW + 2 * MINUTE_MS, now)
    assert traffic.complete(NOW + 2 * MINUTE_MS, NOW + 3 * MINUTE_MS, now)


def test_a_busy_queue_stops_growing_and_one_that_nobody_uses_is_forgotten() -> None:
    traffic = Traffic()
    for number in range(1000):
        send(traffic, NOW + number * MINUTE_MS, 1)
    now = NOW + 999 * MINUTE_MS
    assert traffic._queues[ORDERS].length <= KEPT_MINUTES + 60
    assert len(traffic.minutes(ORDERS, 0, now)) == KEPT_MINUTES + 1
    traffic.forget(now + KEPT_MINUTES * MINUTE_MS)
    assert list(traffic.queues()) == [ORDERS]
    traffic.forget(now + (KEPT_MINUTES + 1) * MINUTE_MS)
    assert list(traffic.queues()) == []


def test_three_hours_of_ten_thousand_busy_queues_are_less_than_a_hundred_megabytes() -> None:
    """Measured on two hundred of them, with numbers as large as they get: 8 KB a queue."""
    queues = [QueueKey("eu-west-1", "000000000001", f"queue-{number}") for number in range(200)]
    traffic = Traffic()
    tracemalloc.start()
    try:
        for number in range(KEPT_MINUTES):
            now = NOW + number * MINUTE_MS
            for queue in queues:
                send(traffic, now, 200, 70_000, queue=queue)
                traffic.received(queue, 1000, now)
                traffic.deleted(queue, 900, now)
                traffic.gauge(queue, Counts(5000, 300, 20, 10**9), now - 7_200_000, now)
                traffic.committed()
        weight = tracemalloc.get_traced_memory()[0] / len(queues)
    finally:
        tracemalloc.stop()
    assert weight * 10_000 < 100_000_000
