"""Every condition operator against a naive reference, with every quantifier, with and without the key."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_operators import DENY_THE_SAME, SAYS, met

from penstock.core.policy.conditions import OPERATORS, condition_of

NUMBERS = st.one_of(
    st.integers(-3, 3).map(str), st.decimals(-2, 2, places=2).map(str), st.sampled_from(["1.0", "01", "+1", "1e1"])
)
DATES = st.one_of(
    st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds") + "Z"),
    st.sampled_from(
        ["2026-01-31", "2026-01-31T00:00:00Z", "2026-01-31T01:00:00+01:00", "2026-01-31T00:00Z", "1769817600"]
    ),
)
ADDRESSES = st.tuples(*[st.sampled_from([0, 1, 127, 128, 255])] * 4).map(lambda parts: ".".join(map(str, parts)))
RANGES = st.tuples(ADDRESSES, st.one_of(st.none(), st.integers(0, 32))).map(
    lambda pair: pair[0] if pair[1] is None else f"{pair[0]}/{pair[1]}"
)
ARNS = st.tuples(*[st.sampled_from(["arn", "a", "ab", "b:a"])] * 6).map(":".join)
ARN_PATTERNS = st.tuples(*[st.sampled_from(["arn", "a", "*", "a?", "?", "*b"])] * 6).map(":".join)
BYTES = st.sampled_from(["", "YQ==", "YWI=", "/+8="])
WORDS = st.text("aAb*? é", max_size=4)
TRUTHS = st.sampled_from(["true", "false", "True", "FALSE"])

VALUES = {
    "String": (WORDS, WORDS),
    "Numeric": (NUMBERS, NUMBERS),
    "Date": (DATES, DATES),
    "Bool": (TRUTHS, TRUTHS),
    "Binary": (BYTES, BYTES),
    "IpAddress": (ADDRESSES, RANGES),
    "Arn": (ARNS, ARN_PATTERNS),
}
"""Operators whose names have this → values that a request may have, and that a policy may have."""


def test_the_reference_knows_every_operator() -> None:
    assert set(OPERATORS) == SAYS.keys() | DENY_THE_SAME.keys()


@pytest.mark.parametrize("name", sorted(OPERATORS))
@given(data=st.data())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_an_operator_says_what_the_reference_says(name: str, data: st.DataObject) -> None:
    ours, theirs = next(pair for part, pair in VALUES.items() if part in name)
    values = data.draw(st.lists(ours, max_size=3), label="the request has")
    wanted = data.draw(st.lists(theirs, min_size=1, max_size=3), label="the policy has")
    quantifier = data.draw(st.sampled_from(["", "ForAllValues", "ForAnyValue"]))
    if_exists = data.draw(st.booleans())
    operator = f"{quantifier}:{name}".lstrip(":") + ("IfExists" if if_exists else "")
    condition = condition_of(operator, "aws:X", wanted, variables=True)
    context = {"aws:x": values[0] if len(values) == 1 else tuple(values)} if values else {}
    assert condition.met(context) is met(quantifier, name, if_exists, values, wanted)


@pytest.mark.parametrize(
    ("value", "context", "expected"),
    [
        ("true", {}, True),
        ("true", {"aws:x": ()}, True),
        ("true", {"aws:x": "y"}, False),
        ("false", {}, False),
        ("false", {"aws:x": "y"}, True),
        ("false", {"aws:x": ("y", "z")}, True),
    ],
)
def test_null_asks_whether_the_key_is_missing(value: str, context: dict[str, str], expected: bool) -> None:
    assert condition_of("Null", "aws:X", [value], variables=True).met(context) is expected


@pytest.mark.parametrize(
    ("given_address", "written", "expected"),
    [
        ("2001:db8::1", "2001:db8::/32", True),
        ("2001:db9::1", "2001:db8::/32", False),
        ("::ffff:10.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "::ffff:10.0.0.0/104", True),
        ("10.255.2.3", "::ffff:10.0.0.0/104", True),
        ("11.1.2.3", "::ffff:10.0.0.0/104", False),
        ("10.1.2.3", "::/0", False),
        ("2001:db8::1", "0.0.0.0/0", False),
        ("10.1.2.3", "10.9.9.9/8", True),
        ("fe80::1%eth0", "fe80::/10", True),
    ],
)
def test_an_address_of_either_version_in_a_range_of_either(given_address: str, written: str, expected: bool) -> None:
    context = {"aws:sourceip": given_address}
    assert condition_of("IpAddress", "aws:SourceIp", [written], variables=True).met(context) is expected
    assert condition_of("NotIpAddress", "aws:SourceIp", [written], variables=True).met(context) is not expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026", "2026-01-01T00:00:00Z"),
        ("2026-02", "2026-02-01"),
        ("2026-02-01T12:30+0230", "2026-02-01T10:00:00.000Z"),
        ("2026-02-01T10:00:00.5Z", "1769940000.5"),
        ("1970-01-01", "0"),
        ("2026-02-01T10:00:00-01:00", "2026-02-01T11:00:00Z"),
    ],
)
def test_the_same_moment_written_in_two_ways(one: str, other: str) -> None:
    assert condition_of("DateEquals", "aws:CurrentTime", [one], variables=True).met({"aws:currenttime": other}) is True


def test_a_key_is_the_same_in_any_case() -> None:
    assert condition_of("StringEquals", "AWS:sourceARN", ["x"], variables=True).met({"aws:sourcearn": "x"}) is True
