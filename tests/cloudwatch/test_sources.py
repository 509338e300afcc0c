"""Where numbers come from: windows that were put here, else the server's own counters, and none of them twice."""

from penstock.core.metrics import Statistics

from .watching import NOON, Watch

EMPTY = "NumberOfEmptyReceives"


def empty(number: int) -> dict[str, Statistics]:
    return {EMPTY: Statistics(number, number, 1, 1)}


def test_what_the_server_counted_is_told(either: Watch) -> None:
    either.count(NOON, 3)
    either.count(NOON + 299, 4)
    assert either.sums(EMPTY) == {0: 3, 240: 4}
    assert either.sums(EMPTY, Period=300) == {0: 7}


def test_a_minute_that_was_put_takes_the_place_of_the_counted(either: Watch) -> None:
    either.count(NOON, 3)
    either.count(NOON + 60, 3)
    either.put(60, NOON, empty(10))
    assert either.sums(EMPTY) == {0: 10, 60: 3}
    assert either.sums(EMPTY, Period=300) == {0: 13}


def test_five_minutes_that_were_put_are_all_that_counts_of_them(either: Watch) -> None:
    either.count(NOON, 3)
    either.put(60, NOON + 60, empty(10))
    either.put(300, NOON, empty(100))
    either.count(NOON + 300, 3)
    either.put(60, NOON + 360, empty(10))
    assert either.sums(EMPTY, Period=300) == {0: 100, 300: 13}
    assert either.sums(EMPTY, Period=600) == {0: 113}
    assert either.sums(EMPTY, Period=3600) == {0: 113}


def test_five_minutes_say_nothing_of_a_shorter_period(either: Watch) -> None:
    either.put(300, NOON, empty(100))
    either.count(NOON, 3)
    assert either.sums(EMPTY) == {0: 3}
    assert either.sums(EMPTY, Period=120) == {0: 3}
    assert either.sums(EMPTY, Period=240) == {0: 3}


def test_windows_outlive_the_counters(either: Watch) -> None:
    either.count(NOON, 3)
    either.put(60, NOON + 60, empty(10))
    either.put(300, NOON + 300, empty(100))
    either.world.clock.advance(86_400)
    assert either.sums(EMPTY) == {60: 10}
    assert either.sums(EMPTY, Period=300) == {0: 10, 300: 100}


def test_more_windows_than_are_read_at_once_are_all_there(either: Watch) -> None:
    for minute in range(1201):
        either.put(60, NOON + 60 * minute, empty(1))
    span = {"StartTime": NOON, "EndTime": NOON + 60 * 1201}
    assert len(either.sums(EMPTY, **span)) == 1201
    assert sum(either.sums(EMPTY, Period=3600, **span).values()) == 1201
