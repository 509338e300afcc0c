"""The judge is judged: a good history passes, and for every invariant there is one that must fail it."""

import hashlib

import pytest

from .invariants import violations
from .tale import Tale


@pytest.fixture
def tale() -> Tale:
    return Tale()


def test_a_good_history_has_no_violation(tale: Tale) -> None:
    tale.tell("queue", 0, queue="q", retention=3600)
    tale.tell("queue", 0, queue="d", dead_letters="dead", max_receives=1)
    tale.whole(0, "a")
    tale.send(0, "b")
    tale.receive(1, "b")
    tale.receive(11.2, "b", count=2)
    tale.delete(12, "b", count=2)
    tale.send(3, "first", group="g", sequence=1, dedup="x")
    tale.send(4, "second", group="g", sequence=2, dedup="y")
    tale.receive(30, "first", sequence=1)
    tale.delete(31, "first")
    tale.receive(32, "second", sequence=2)
    tale.delete(33, "second")
    tale.send(5, "dies", queue="d")
    tale.receive(6, "dies", queue="d")
    tale.receive(17, queue="d")
    tale.receive(18, "dies", queue="dead", count=2)
    tale.delete(19, "dies", count=2, queue="dead")
    tale.receive(50)
    tale.fails()


def test_a_lost_message_is_missed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.whole(0, "b")
    tale.fails("I1")


def test_a_message_that_was_delivered_and_then_lost_is_missed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.fails("I1")


def test_a_message_that_may_have_been_deleted_is_not_missed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.delete(2, "a", outcome="info")
    tale.fails()


@pytest.mark.parametrize("op", ["purge", "queue"])
def test_a_message_that_was_purged_or_has_expired_is_not_missed(tale: Tale, op: str) -> None:
    tale.tell(op, 1, queue="q", retention=60)
    tale.send(0, "a")
    tale.receive(100)
    tale.fails()


def test_a_message_that_a_superseded_handle_deleted_is_missed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.receive(12, "a", count=2)
    tale.delete(13, "a", count=1)
    tale.fails("I6")


@pytest.mark.parametrize("handle", ["garbage", "b/other/1"])
def test_a_delete_with_a_handle_that_was_not_given_for_this_queue_is_noticed(tale: Tale, handle: str) -> None:
    tale.whole(0, "a")
    tale.send(0, "b", queue="other")
    tale.receive(1, "b", queue="other")
    tale.tell("delete", 2, {"results": ["ReceiptHandleIsInvalid"]}, queue="q", handles=["refused, as it must be"])
    tale.tell("delete", 3, {"results": [None]}, queue="q", handles=[handle])
    tale.delete(4, "b", queue="other")
    tale.fails("I6")


@pytest.mark.parametrize(("at", "faults"), [(10.9, []), (11.3, ["I6"])])
def test_a_delete_from_a_fifo_queue_when_the_window_is_over_is_noticed(
    tale: Tale, at: float, faults: list[str]
) -> None:
    tale.send(0, "a", queue="q.fifo", group="g", sequence=1)
    tale.receive(1, "a", queue="q.fifo", sequence=1)
    tale.delete(at, "a", queue="q.fifo")
    tale.fails(*faults)


def test_a_late_delete_of_what_is_gone_is_no_fault(tale: Tale) -> None:
    tale.send(0, "a", queue="q.fifo", group="g", sequence=1)
    tale.receive(1, "a", queue="q.fifo", sequence=1)
    tale.receive(12, "a", queue="q.fifo", sequence=1, count=2)
    tale.delete(13, "a", queue="q.fifo", count=2)
    tale.delete(14, "a", queue="q.fifo", count=1)
    tale.fails()


def test_a_message_from_nowhere_is_noticed(tale: Tale) -> None:
    tale.receive(1, "a")
    tale.delete(2, "a")
    tale.fails("I2")


def test_a_refused_send_that_is_delivered_is_noticed(tale: Tale) -> None:
    tale.send(0, "a", outcome="fail")
    tale.receive(1, "a")
    tale.fails("I2")


def test_an_unknown_send_may_be_delivered_or_not(tale: Tale) -> None:
    tale.send(0, "a", outcome="info")
    tale.send(0, "b", outcome="info")
    tale.receive(1, "a")
    tale.fails()


def test_an_altered_body_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.send(0, "b")
    tale.receive(1, "b", id="A", handle="a/q/1")
    tale.receive(1, "b")
    tale.delete(2, "a")
    tale.delete(2, "b")
    tale.fails("I2")


def test_another_body_s_digest_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a", md5=hashlib.md5(b"b").hexdigest())
    tale.delete(2, "a")
    tale.fails("I2")


def test_a_message_stored_twice_is_noticed(tale: Tale) -> None:
    tale.whole(0, "a")
    tale.receive(4, "a", id="OTHER", handle="other")
    tale.fails("I2")


def test_a_deleted_message_that_comes_back_is_noticed(tale: Tale) -> None:
    tale.whole(0, "a")
    tale.receive(20, "a", count=2)
    tale.fails("I3")


def test_a_delete_that_a_lost_reply_may_have_superseded_proves_nothing(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.tell("receive", 12, outcome="info", queue="q", visibility=10)
    tale.delete(13, "a")
    tale.receive(25, "a", count=3)
    tale.delete(26, "a", count=3)
    tale.fails()


@pytest.mark.parametrize(
    ("asked", "outcome", "faults"),
    [(12, "ok", []), (8, "info", []), (12, "fail", ["I3"]), (8, "ok", ["I3"]), (14, "ok", ["I3"])],
)
def test_a_delete_proves_nothing_of_a_message_that_whoever_asked_before_may_have_buried(
    tale: Tale, asked: float, outcome: str, faults: list[str]
) -> None:
    tale.tell("queue", 0, queue="d", dead_letters="dead", max_receives=1)
    tale.send(0, "a", queue="d")
    tale.receive(1, "a", queue="d")
    tale.tell("receive", asked, {}, outcome, queue="d", visibility=10)
    tale.delete(13, "a", queue="d")
    tale.receive(15, "a", queue="dead", count=2)
    tale.delete(16, "a", queue="dead", count=2)
    tale.fails(*faults)


def test_an_early_redelivery_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.receive(10.8, "a", count=2)
    tale.delete(12, "a", count=2)
    tale.fails("I4")


@pytest.mark.parametrize(("seconds", "again", "faults"), [(0, 3, []), (60, 12, ["I4"]), (60, 63, [])])
def test_a_changed_window_is_the_one_that_counts(tale: Tale, seconds: int, again: int, faults: list[str]) -> None:
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.change(2, "a", seconds)
    tale.receive(again, "a", count=2)
    tale.delete(again + 1, "a", count=2)
    tale.fails(*faults)


@pytest.mark.parametrize(
    ("queue", "at", "outcome", "faults"),
    [
        ("q", 13, "ok", []),
        ("q", 11, "info", []),
        ("q", 11, "ok", ["I4"]),
        ("q.fifo", 13, "ok", ["I4"]),
    ],
)
def test_the_handle_of_an_earlier_delivery_changes_the_window_of_a_standard_queue(
    tale: Tale, queue: str, at: float, outcome: str, faults: list[str]
) -> None:
    tale.send(0, "a", queue=queue)
    tale.receive(1, "a", queue=queue)
    tale.receive(12, "a", queue=queue, count=2)
    tale.change(at, "a", 0, outcome, queue=queue)
    tale.receive(14, "a", queue=queue, count=3)
    tale.delete(15, "a", queue=queue, count=3)
    tale.fails(*faults)


def test_an_empty_receive_beside_a_ready_message_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.receive(2)
    tale.receive(3, "a")
    tale.receive(14.5)
    tale.delete(15, "a")
    tale.fails("I5")
    assert len(next(iter(violations(tale.operations).values()))) == 2


@pytest.mark.parametrize("counts", [(1, 1), (1, 3), (2, 1)])
def test_a_receive_count_that_does_not_grow_by_one_is_noticed(tale: Tale, counts: tuple[int, int]) -> None:
    tale.send(0, "a")
    for number, count in enumerate(counts):
        tale.receive(1 + 20 * number, "a", count=count, handle=f"handle {number}")
    tale.tell("delete", 30, {"results": [None]}, queue="q", handles=["handle 0", "handle 1"])
    assert "I7" in tale.faults


def test_a_lost_reply_may_have_counted(tale: Tale) -> None:
    tale.send(0, "a")
    tale.tell("receive", 1, outcome="info", queue="q", visibility=10)
    tale.receive(12, "a", count=2)
    tale.delete(13, "a", count=2)
    tale.fails()


def test_overtaking_in_a_group_is_noticed(tale: Tale) -> None:
    tale.send(0, "a", group="g", sequence=1)
    tale.send(1, "b", group="g", sequence=2)
    tale.receive(2, "a", sequence=1)
    tale.receive(3, "b", sequence=2)
    tale.delete(4, "a")
    tale.delete(4, "b")
    tale.fails("I8")


def test_a_reply_in_the_wrong_order_is_noticed(tale: Tale) -> None:
    tale.send(0, "a", group="g", sequence=1)
    tale.send(1, "b", group="g", sequence=2)
    messages = [
        {"id": body.upper(), "body": body, "handle": f"{body}/q/1", "count": 1, "sequence": sequence}
        for body, sequence in (("b", 2), ("a", 1))
    ]
    tale.tell("receive", 2, {"messages": messages}, queue="q", visibility=10)
    tale.delete(4, "a")
    tale.delete(4, "b")
    tale.fails("I8")


def test_two_messages_of_one_deduplication_id_are_noticed(tale: Tale) -> None:
    tale.whole(0, "a", group="g", sequence=1, dedup="x")
    tale.whole(5, "b", group="g", sequence=2, dedup="x")
    tale.fails("I9")


@pytest.mark.parametrize("second", [1, 2])
def test_a_sequence_number_that_does_not_grow_is_noticed(tale: Tale, second: int) -> None:
    tale.whole(0, "a", group="g", sequence=2, dedup="x")
    tale.whole(5, "b", group="h", sequence=second, dedup="y")
    tale.fails("I10")


def test_an_unknown_send_that_was_repeated_keeps_its_older_number(tale: Tale) -> None:
    tale.send(0, "a", group="g", dedup="x", outcome="info")
    tale.whole(5, "b", group="h", sequence=2, dedup="y")
    tale.whole(10, "a", group="g", sequence=1, dedup="x")
    tale.fails()


def test_one_delivery_too_many_before_death_is_noticed(tale: Tale) -> None:
    tale.tell("queue", 0, queue="q", dead_letters="dead", max_receives=1)
    tale.send(0, "a")
    tale.receive(1, "a")
    tale.receive(12, "a", count=2)
    tale.delete(13, "a", count=2)
    tale.fails("I11")


def test_a_death_too_early_or_in_two_places_is_noticed(tale: Tale) -> None:
    tale.tell("queue", 0, queue="q", dead_letters="dead", max_receives=3)
    tale.send(0, "a")
    tale.receive(1, "a", queue="dead")
    tale.receive(12, "a", count=2)
    tale.delete(13, "a", count=2)
    tale.fails("I11")
    assert len(next(iter(violations(tale.operations).values()))) == 2


def test_a_count_that_is_not_what_is_there_is_noticed(tale: Tale) -> None:
    tale.send(0, "a")
    tale.tell("counts", 1, {"total": 2}, queues=["q"])
    tale.receive(2, "a")
    tale.delete(3, "a")
    tale.fails("I12")
