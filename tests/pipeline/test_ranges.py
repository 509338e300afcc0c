"""Ranges of numbers: joined, with what lies between."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.ranges import Range, gaps, joined, reached, total

RANGES = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))), max_size=8)


def numbers(ranges: list[Range]) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


@given(RANGES)
def test_joined_ranges_have_the_same_numbers_and_do_not_touch(ranges: list[Range]) -> None:
    whole = joined(ranges)
    assert numbers(whole) == numbers(ranges)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(whole))
    assert total(whole) == len(numbers(ranges))


@given(RANGES)
def test_gaps_are_what_is_missing_between_the_first_and_the_last(ranges: list[Range]) -> None:
    there = numbers(ranges)
    assert numbers(gaps(ranges)) == {n for n in range(min(there, default=0), max(there, default=0)) if n not in there}


def test_a_reader_has_reached_the_end_of_what_has_no_gap() -> None:
    assert reached(joined([(5, 9), (1, 4), (11, 12)])) == 9
    assert reached([]) == 0
