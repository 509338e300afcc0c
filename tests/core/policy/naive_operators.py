"""What each condition operator says of one value of a request and one of a policy, as simply as it can be written.

It takes only values that are of the operator's kind, and shares nothing with the evaluator.
"""

import fnmatch
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction


def like(given: str, wanted: str) -> bool:
    pattern = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in wanted)
    return re.fullmatch(pattern, given, re.DOTALL) is not None


def arn_like(given: str, wanted: str) -> bool:
    ours, theirs = given.split(":", 5), wanted.split(":", 5)
    return len(ours) == 6 and all(fnmatch.fnmatchcase(one, other) for one, other in zip(ours, theirs, strict=True))


def moment(text: str) -> Fraction:
    if text.isdigit() and len(text) > 4:
        return Fraction(text)
    return Fraction(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def bits(text: str) -> str:
    """An IPv4 address as 32 characters."""
    return "".join(f"{int(part):08b}" for part in text.split("."))


def in_range(given: str, wanted: str) -> bool:
    start, _, length = wanted.partition("/")
    return bits(given)[: int(length or 32)] == bits(start)[: int(length or 32)]


SAYS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda given, wanted: given == wanted,
    "StringEqualsIgnoreCase": lambda given, wanted: given.lower() == wanted.lower(),
    "StringLike": like,
    "NumericEquals": lambda given, wanted: Fraction(given) == Fraction(wanted),
    "NumericLessThan": lambda given, wanted: Fraction(given) < Fraction(wanted),
    "NumericLessThanEquals": lambda given, wanted: Fraction(given) <= Fraction(wanted),
    "NumericGreaterThan": lambda given, wanted: Fraction(given) > Fraction(wanted),
    "NumericGreaterThanEquals": lambda given, wanted: Fraction(given) >= Fraction(wanted),
    "DateEquals": lambda given, wanted: moment(given) == moment(wanted),
    "DateLessThan": lambda given, wanted: moment(given) < moment(wanted),
    "DateLessThanEquals": lambda given, wanted: moment(given) <= moment(wanted),
    "DateGreaterThan": lambda given, wanted: moment(given) > moment(wanted),
    "DateGreaterThanEquals": lambda given, wanted: moment(given) >= moment(wanted),
    "Bool": lambda given, wanted: given.lower() == wanted.lower(),
    "BinaryEquals": lambda given, wanted: b64decode(given) == b64decode(wanted),
    "IpAddress": in_range,
    "ArnEquals": arn_like,
    "ArnLike": arn_like,
}
DENY_THE_SAME = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "NumericNotEquals": "NumericEquals",
    "DateNotEquals": "DateEquals",
    "NotIpAddress": "IpAddress",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
}
"""Operators that are true of what others are false of."""


def met(quantifier: str, name: str, if_exists: bool, given: list[str], wanted: list[str]) -> bool:
    """Whether a condition on one key is met by the values that a request has for it."""
    negated = name in DENY_THE_SAME
    says = SAYS[DENY_THE_SAME.get(name, name)]

    def good(value: str) -> bool:
        return any(says(value, one) for one in wanted) is not negated

    if not given and if_exists:
        return True
    if quantifier == "ForAllValues":
        return all(good(value) for value in given)
    if quantifier == "ForAnyValue":
        return any(good(value) for value in given)
    if not given:
        return negated
    return all(good(value) for value in given) if negated else any(good(value) for value in given)
