"""How a question of any period is answered from windows that were put, and from minutes that were counted."""

from penstock.core.metrics import Statistics
from penstock.core.series import DAY_MS, Cells, joined, kept_from, points

SENT = "NumberOfMessagesSent"


def sent(**at: int) -> Cells:
    """Cells in which so many were sent, by their minute: m7=3."""
    return {int(name[1:]) * 60_000: {SENT: Statistics(number, number, 1, 1)} for name, number in at.items()}


def counts(cells: Cells, minutes: int) -> dict[int, int]:
    return {start // 60_000: one.sum for start, one in points(cells, SENT, minutes * 60_000).items()}


def test_what_was_put_takes_the_place_of_what_was_counted() -> None:
    cells = joined(sent(m0=1, m1=1, m2=1), sent(m1=10), {})
    assert counts(cells, 1) == {0: 1, 1: 10, 2: 1}


def test_five_minutes_take_the_place_of_their_minutes_put_or_counted() -> None:
    cells = joined(sent(m1=1, m6=1), sent(m2=10, m7=10), sent(m0=100))
    assert counts(cells, 5) == {0: 100, 5: 11}


def test_longer_periods_are_added_up_from_all_of_them() -> None:
    cells = joined(sent(m1=1, m6=1, m59=1, m60=1), sent(m7=10), sent(m0=100))
    assert counts(cells, 60) == {0: 112, 60: 1}


def test_a_minute_that_was_put_without_a_metric_has_none() -> None:
    cells = joined(sent(m0=1), {0: {"NumberOfEmptyReceives": Statistics(1, 1, 1, 1)}}, {})
    assert counts(cells, 1) == {}


def test_samples_and_sums_add_up_and_bounds_are_the_widest() -> None:
    cells = {0: {SENT: Statistics(2, 30, 10, 20)}, 60_000: {SENT: Statistics(3, 25, 5, 15)}, 120_000: {}}
    assert points(cells, SENT, 300_000) == {0: Statistics(5, 55, 5, 20)}


def test_minutes_are_kept_for_a_shorter_time() -> None:
    now = 100 * DAY_MS
    assert kept_from(300, 63, now) == 37 * DAY_MS
    assert kept_from(60, 63, now) == 85 * DAY_MS
    assert kept_from(60, 2, now) == kept_from(300, 2, now) == 98 * DAY_MS
    assert kept_from(60, 0, now) == kept_from(300, 0, now) == 0
