"""The judge of large runs: one byte a message, and every broken promise is found."""

from penstock.bench.scale.ledger import ScaleLedger


def ledger_with(count: int, queue: int = 0) -> ScaleLedger:
    """So many acknowledged messages in one queue, all of one group where it has groups."""
    ledger = ScaleLedger("run", 2, 64)
    for number in ledger.next(queue, count):
        ledger.acknowledge(queue, number)
    return ledger


def receive(ledger: ScaleLedger, number: int, queue: int = 0, *, fifo: bool = False, due_together: bool = False) -> int:
    body = ledger.body(queue, number).decode()
    return ledger.receive(queue, body, fifo=fifo, due_together=due_together)


def test_a_body_has_the_size_asked_for_and_tells_which_message_it_is() -> None:
    ledger = ledger_with(3)
    assert len(ledger.body(0, 2)) == 64
    assert [receive(ledger, number) for number in range(3)] == [0, 1, 2]
    assert (ledger.received, ledger.held[0], ledger.visible(0), ledger.damaged) == (3, 3, 0, 0)


def test_a_body_that_was_changed_or_belongs_elsewhere_is_damaged() -> None:
    ledger = ledger_with(1)
    body = ledger.body(0, 0).decode()
    foreign = ledger.body(1, 0).decode()
    unsent = ledger.body(0, 1).decode()
    assert [ledger.receive(0, wrong) for wrong in (body.replace("x", "y", 1), foreign, unsent, "")] == [-1] * 4
    assert (ledger.damaged, ledger.received) == (4, 0)


def test_a_message_that_comes_while_it_is_held_is_a_duplicate() -> None:
    ledger = ledger_with(1)
    receive(ledger, 0)
    receive(ledger, 0)
    assert (ledger.duplicates, ledger.held[0]) == (1, 1)


def test_a_message_that_was_given_back_may_come_again() -> None:
    ledger = ledger_with(1)
    receive(ledger, 0)
    ledger.release(0, 0)
    assert ledger.visible(0) == 1
    receive(ledger, 0)
    assert (ledger.duplicates, ledger.visible_again) == (0, 1)


def test_only_those_that_are_due_together_are_released_together() -> None:
    ledger = ledger_with(3)
    receive(ledger, 0)
    for number in (1, 2):
        receive(ledger, number, due_together=True)
    assert ledger.release_due() == 2
    assert (ledger.held[0], ledger.visible(0)) == (1, 2)
    for number in range(3):
        receive(ledger, number)
    assert ledger.duplicates == 1
    assert ledger.release_due() == 0


def test_a_message_that_comes_after_its_delete_came_back() -> None:
    ledger = ledger_with(1)
    receive(ledger, 0)
    ledger.delete(0, 0)
    ledger.delete(0, 0)
    receive(ledger, 0)
    assert (ledger.deleted, ledger.came_back, ledger.held[0], ledger.stored(0)) == (1, 1, 0, 0)


def test_in_a_group_none_may_overtake_another() -> None:
    ledger = ledger_with(3)
    receive(ledger, 0, fifo=True)
    receive(ledger, 2, fifo=True)
    assert ledger.out_of_order == 1


def test_in_a_group_one_follows_those_that_are_held_or_deleted_and_groups_are_apart() -> None:
    ledger = ledger_with(3)
    for number in ledger.next(0, 2):
        ledger.acknowledge(0, number)
    receive(ledger, 3, fifo=True)
    receive(ledger, 0, fifo=True)
    ledger.delete(0, 0)
    receive(ledger, 1, fifo=True)
    receive(ledger, 2, fifo=True)
    assert ledger.out_of_order == 0
    ledger.release(0, 1)
    ledger.release(0, 2)
    receive(ledger, 2, fifo=True)
    assert ledger.out_of_order == 1


def test_a_standard_queue_promises_no_order_so_it_is_only_noted() -> None:
    ledger = ledger_with(2)
    receive(ledger, 1)
    receive(ledger, 0)
    assert (ledger.out_of_order, ledger.standard_out_of_order) == (0, 1)


def test_a_send_without_a_reply_may_be_there_or_not() -> None:
    ledger = ledger_with(2)
    ledger.next(0, 1)
    assert (ledger.stored(0), ledger.uncertain(0)) == (2, 1)
    receive(ledger, 2)
    ledger.delete(0, 2)
    assert (ledger.stored(0), ledger.uncertain(0)) == (2, 0)
