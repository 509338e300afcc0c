"""Stars and question marks, against a matcher that tries everything, and how much work a match may be."""

import sys
import tracemalloc
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.policy.matching import match_of
from penstock.core.policy.template import Template, tokens_of


def matches(pattern: str, text: str) -> bool:
    return Template(tokens_of(pattern, wild=True, variables=False)).matches(text, {}) is True


def slowly(pattern: str, text: str) -> bool:
    """Whether the pattern matches: which of its beginnings match which beginnings of the text, one after the other."""
    reached = {0}
    for letter in pattern:
        if letter == "*":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(text) and letter in ("?", text[at])}
    return len(text) in reached


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=14))
@settings(max_examples=1000, derandomize=True)
def test_a_pattern_matches_what_trying_everything_finds(pattern: str, text: str) -> None:
    assert matches(pattern, text) == slowly(pattern, text)


@given(st.lists(st.sampled_from(["ab", "ba", "a?", "?b", "*", "aab", "b?a"]), max_size=8), st.text("ab", max_size=40))
@settings(max_examples=1000, derandomize=True)
def test_pieces_that_overlap_are_found(pieces: list[str], text: str) -> None:
    assert matches("".join(pieces), text) == slowly("".join(pieces), text)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("", "", True),
        ("", "a", False),
        ("?", "", False),
        ("a*a", "a", False),
        ("*ab*b", "aab", False),
        ("*a?*b", "aab", True),
        ("*?ab*bb", "xaabb", False),
        ("a*a", "aa", True),
        ("arn:aws:sqs:us-east-1:*:orders", "arn:aws:sqs:us-east-1:111122223333:orders", True),
        ("arn:aws:sqs:us-east-1:*:orders", "arn:aws:sqs:us-east-1:111122223333:orders2", False),
        ("arn:aws:sqs:*", "arn:aws:sqs:us-east-1:111122223333:orders", True),
        ("*.fifo", "orders.fifo", True),
        ("[a-z]*", "b", False),
        ("a.c", "abc", False),
        ("Orders", "orders", False),
        ("?", "\U0001f600", True),
    ],
)
def test_a_pattern_and_a_text(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


def steps_of(pattern: str, text: str) -> int:
    """How many lines of Python a match runs."""
    match, count = Template(tokens_of(pattern, wild=True, variables=False)).fixed, 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    assert match is not None
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert not match(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "pattern",
    [
        "a*" * 5000 + "b",
        "a?*" * 3000 + "b",
        "*" + "a?" * 2000 + "b*",
        "*a?" * 500 + "*b*",
        "?*" * 4000 + "b",
        "*" * 20000 + "b",
    ],
    ids=["stars", "stars and question marks", "a long piece", "many pieces", "question marks", "only stars"],
)
def test_no_pattern_makes_a_match_more_than_a_walk_over_the_text(pattern: str) -> None:
    text = "a" * 16_000
    assert steps_of(pattern, text) < 6 * (len(pattern) + len(text))


def test_a_piece_of_many_different_characters_does_not_fill_the_memory() -> None:
    many = "".join(map(chr, range(0x4E00, 0x9E00)))
    tracemalloc.start()
    try:
        assert not matches(f"*?{many}*", "x" * 30_000)
        assert tracemalloc.get_traced_memory()[1] < 12 * 1024**2
    finally:
        tracemalloc.stop()


def test_a_star_that_stands_for_itself_is_no_wildcard() -> None:
    assert match_of(("a*",))("a*")
    assert not match_of(("a*",))("ab")
