"""The judge is judged: each fault that a server can have is planted once."""

import hashlib

from penstock.bench.ledger import GroupLedger, Ledger


def sent(ledger: Ledger, count: int = 1) -> list[str]:
    bodies = []
    for _ in range(count):
        number, body = ledger.next_body()
        ledger.acknowledge(number)
        bodies.append(body.decode())
    return bodies


def in_groups(*groups: int) -> tuple[GroupLedger, list[str]]:
    ledger, bodies = GroupLedger("run", 64, 10), []
    for group in groups:
        number, body = ledger.next_body_of(group)
        ledger.acknowledge(number)
        bodies.append(body.decode())
    return ledger, bodies


def take(ledger: Ledger, body: str) -> None:
    number = ledger.receive(body)
    ledger.release(number)
    ledger.delete(number)


def wrong(ledger: Ledger) -> dict[str, int]:
    return {name: count for name, count in ledger.verdict(ledger.outstanding).items() if count}


def test_a_run_in_which_all_comes_once_is_without_fault() -> None:
    ledger = Ledger("run", 64)
    for body in sent(ledger, 100):
        take(ledger, body)
    assert wrong(ledger) == {}
    assert (ledger.acknowledged, ledger.received, ledger.deleted) == (100, 100, 100)


def test_every_body_is_another_and_has_the_size_asked_for() -> None:
    bodies = sent(Ledger("run", 256), 50)
    assert len(set(bodies)) == 50
    assert {len(body) for body in bodies} == {256}
    assert len(sent(Ledger("run", 1))[0]) == len("run-") + 12


def test_the_md5_is_that_of_the_body() -> None:
    ledger = Ledger("run", 256)
    number, body = ledger.next_body()
    assert ledger.md5_of(number) == hashlib.md5(body, usedforsecurity=False).hexdigest()


def test_a_message_that_was_acknowledged_and_never_came_is_lost() -> None:
    ledger = Ledger("run", 64)
    first, _, third = sent(ledger, 3)
    take(ledger, first)
    take(ledger, third)
    assert wrong(ledger) == {"lost": 1}


def test_a_message_that_was_never_acknowledged_may_be_missing() -> None:
    ledger = Ledger("run", 64)
    ledger.next_body()
    assert wrong(ledger) == {}


def test_a_message_may_come_before_its_acknowledgement() -> None:
    ledger = Ledger("run", 64)
    number, body = ledger.next_body()
    take(ledger, body.decode())
    ledger.acknowledge(number)
    assert wrong(ledger) == {}


def test_a_second_delivery_is_a_duplicate() -> None:
    ledger = Ledger("run", 64)
    (body,) = sent(ledger)
    ledger.receive(body)
    ledger.receive(body)
    assert wrong(ledger) == {"duplicates": 1}


def test_a_deleted_message_that_comes_again_is_told_apart() -> None:
    ledger = Ledger("run", 64)
    (body,) = sent(ledger)
    take(ledger, body)
    ledger.receive(body)
    assert wrong(ledger) == {"came back after delete": 1}


def test_a_body_that_is_not_whole_or_of_another_run_is_none_of_ours() -> None:
    ledger = Ledger("run", 64)
    (body,) = sent(ledger)
    for other in (body[1:], body.replace("x", "y"), "elsewhere", "", body[:-1] + "9", body.replace("run", "ran")):
        assert ledger.receive(other) == -1
    assert ledger.damaged == 6
    assert wrong(ledger)["lost"] == 1


def test_groups_in_order_and_one_at_a_time_are_without_fault() -> None:
    ledger, bodies = in_groups(1, 2, 1, 2, 1)
    for place in (1, 0, 2, 3, 4):
        take(ledger, bodies[place])
    assert wrong(ledger) == {}


def test_a_message_before_its_predecessor_is_out_of_order() -> None:
    ledger, bodies = in_groups(1, 1)
    take(ledger, bodies[1])
    take(ledger, bodies[0])
    assert wrong(ledger) == {"out of order": 1}


def test_a_message_while_its_group_is_held_breaks_the_lock() -> None:
    ledger, bodies = in_groups(1, 1, 2)
    ledger.receive(bodies[0])
    ledger.receive(bodies[2])
    assert wrong(ledger) == {"lost": 1}
    ledger.receive(bodies[1])
    assert wrong(ledger) == {"group locks broken": 1}
