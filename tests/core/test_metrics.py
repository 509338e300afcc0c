"""The nine metrics of counted minutes."""

from penstock.core.metrics import NAMES, Statistics, statistics, windows
from penstock.core.traffic import Gauge, Minute

FIRST = 28_333_335
"""A number of a minute with which five begin."""


def test_there_are_nine() -> None:
    assert len(set(NAMES)) == 9


def test_a_counter_has_a_sample_of_one_for_each_message() -> None:
    found = statistics([Minute(FIRST, received=3), Minute(FIRST + 1, received=4, deleted=1, empty=2)])
    assert found == {
        "NumberOfMessagesReceived": Statistics(7, 7, 1, 1),
        "NumberOfMessagesDeleted": Statistics(1, 1, 1, 1),
        "NumberOfEmptyReceives": Statistics(2, 2, 1, 1),
    }


def test_sizes_are_those_of_the_minutes_in_which_something_was_sent() -> None:
    minutes = [Minute(FIRST, 2, 30, 10, 20), Minute(FIRST + 1, received=1), Minute(FIRST + 2, 1, 5, 5, 5)]
    found = statistics(minutes)
    assert found["SentMessageSize"] == Statistics(3, 35, 5, 20)
    assert found["NumberOfMessagesSent"] == Statistics(3, 3, 1, 1)


def test_a_gauge_has_a_sample_for_each_look_and_zero_is_one() -> None:
    found = statistics([Minute(FIRST, gauges=(Gauge(5, 0, 1, 60),)), Minute(FIRST + 1, gauges=(Gauge(0, 2, 0, 0),))])
    assert found == {
        "ApproximateNumberOfMessagesVisible": Statistics(2, 5, 0, 5),
        "ApproximateNumberOfMessagesNotVisible": Statistics(2, 2, 0, 2),
        "ApproximateNumberOfMessagesDelayed": Statistics(2, 1, 0, 1),
        "ApproximateAgeOfOldestMessage": Statistics(2, 60, 0, 60),
    }


def test_windows_begin_at_multiples_of_their_length_since_the_epoch() -> None:
    minutes = [Minute(FIRST + n, empty=1) for n in (6, -1, 0, 4)]
    found = windows(minutes, 300_000)
    assert [(start // 60_000 - FIRST, each["NumberOfEmptyReceives"].sum) for start, each in found.items()] == [
        (-5, 1),
        (0, 2),
        (5, 1),
    ]


def test_a_minute_that_is_there_twice_is_added_up() -> None:
    found = windows([Minute(FIRST, 1, 9, 9, 9), Minute(FIRST, 1, 4, 4, 4)], 60_000)
    assert found[FIRST * 60_000]["SentMessageSize"] == Statistics(2, 13, 4, 9)
