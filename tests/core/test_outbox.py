"""Events that wait for their commit."""

from penstock.core.journal import EMPTY_RECEIVE, LEVELS, Event
from penstock.core.outbox import MOST_WAITING, Outbox


def test_notes_that_nothing_commits_do_not_pile_up_and_leave_no_gap() -> None:
    outbox = Outbox()
    outbox.attach("node", LEVELS["events"], 7)
    for _ in range(MOST_WAITING + 10):
        outbox.note(Event("", 0, 0, EMPTY_RECEIVE, "us-east-1", "000000000000", "q"))
    batch = outbox.take()
    assert batch is not None
    assert batch[:2] == (8, 7 + MOST_WAITING)
    assert batch[2].count(b"\n") == MOST_WAITING
    outbox.note(later := Event("", 0, 0, EMPTY_RECEIVE, "us-east-1", "000000000000", "q"))
    assert later.seq == 8 + MOST_WAITING
