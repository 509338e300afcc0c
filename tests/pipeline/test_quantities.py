"""Numbers as a page says them."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.pipeline.reporting import quantities
from penstock.pipeline.reporting.quantities import DAY, HOUR, MINUTE, SECOND, counted, landmarks, moments, ticks, timed

from .journals import START


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 ms"),
        (240, "240 ms"),
        (1500, "1.5 s"),
        (59_000, "59 s"),
        (200_000, "3 min 20 s"),
        (5 * HOUR, "5 h"),
        (2 * DAY + 6 * HOUR, "2 d 6 h"),
        (None, "–"),
    ],
)
def test_a_duration_has_two_units_at_most(ms: int | None, said: str) -> None:
    assert quantities.duration(ms) == said


def test_counts_and_bytes_keep_three_digits_once_they_are_shortened() -> None:
    assert [quantities.short(n) for n in (7, 9_999, 12_345, 4_567_000, 2e9)] == [
        "7",
        "9,999",
        "12.3 k",
        "4.57 M",
        "2 G",
    ]
    assert [quantities.size(n) for n in (12, 2048, 150 << 20, 3 << 40)] == ["12 B", "2 KiB", "150 MiB", "3 TiB"]


def test_a_headline_is_exact_below_a_million() -> None:
    assert [quantities.headline(n) for n in (999_999, 1_234_567)] == ["999,999", "1.23 M"]


def test_a_share_never_rounds_to_none_or_all() -> None:
    shares = [(0, 5), (1, 3), (1, 1_000_000), (999_999, 1_000_000), (5, 5), (0, 0)]
    assert [quantities.share(*one) for one in shares] == ["0 %", "33.3 %", "< 0.01 %", "> 99.99 %", "100 %", "–"]


@given(some.floats(0, 1e15), some.sampled_from([counted("messages"), timed("age")]))
def test_an_axis_covers_every_value_in_a_few_even_steps(highest: float, quantity: quantities.Quantity) -> None:
    marks = ticks(quantity, highest)
    assert marks[0] == 0
    assert marks[-1] >= highest
    assert 2 <= len(marks) <= 6


@given(some.floats(1, 30 * DAY), some.floats(1, 30 * DAY))
def test_a_logarithmic_axis_covers_every_value_too(one: float, other: float) -> None:
    marks = landmarks(min(one, other), max(one, other))
    assert marks[0] <= min(one, other) <= max(one, other) <= marks[-1]


@given(some.integers(0, 2 * START), some.integers(1, 3 * 365 * DAY))
def test_a_time_axis_has_a_few_round_moments_within_it(start: int, length: int) -> None:
    found = [at for at, _ in moments(start, start + length)]
    assert len(found) <= 10
    assert all(start <= at <= start + length and at % SECOND == 0 for at in found)


def test_the_first_moment_of_another_day_has_its_date() -> None:
    words = [said for _, said in moments(START - 2 * HOUR, START + 2 * HOUR)]
    assert words == ["22:00", "22:30", "23:00", "23:30", "Nov 16", "00:30", "01:00", "01:30", "02:00"]
    assert moments(START, START + 3 * MINUTE)[1][1] == "00:00:30"
