"""Conditions: a table of operators, and when a condition is met.

All operators and keys of a statement must be met; one of a key's values is enough, and with a negated operator none
may match. A key that the request does not have meets no operator but the negated ones, `…IfExists` and `Null`.

An answer is True, False, or None when it cannot be told: the operator is not known, the request's value is of another
kind than the operator compares, or a negated operator meets a variable without a value. The statement decides what
becomes of that: an Allow does not hold, a Deny does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Any

from penstock.core.policy import kinds
from penstock.core.policy.template import ArnTemplate, Context, Template, TemplateError, tokens_of

Answer = bool | None
Compare = Callable[[str, Context], Answer]
"""Whether one value of the request matches one value of the policy; None if its variable has no value. Raises
ValueError for a value of another kind."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A value of a policy, ready to be compared, and the variables in it."""

    with_: Compare
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Operator:
    """`read` makes one of a policy's values ready, and raises ValueError or TemplateError; its second argument is
    whether variables are known. `wants` says what values there may be."""

    read: Callable[[str, bool], Compared]
    wants: str
    negated: bool = False


def _text(wild: bool, any_case: bool = False) -> Callable[[str, bool], Compared]:
    def read(value: str, variables: bool) -> Compared:
        template = Template(tokens_of(value, wild=wild, variables=variables))
        return Compared(template.matches_in_any_case if any_case else template.matches, template.keys)

    return read


def _arn(value: str, variables: bool) -> Compared:
    template = ArnTemplate(tokens_of(value, wild=True, variables=variables))
    return Compared(template.matches, template.keys)


def _ordered(kind: Callable[[str], Any], compare: Callable[[Any, Any], bool]) -> Callable[[str, bool], Compared]:
    def read(value: str, variables: bool) -> Compared:
        limit = kind(value)
        return Compared(lambda given, context: compare(kind(given), limit))

    return read


def _within(value: str, variables: bool) -> Compared:
    network = kinds.network(value)
    return Compared(lambda given, context: kinds.address(given) in network)


_NUMBER, _DATE = "a number", "a date such as 2026-01-31T12:00:00Z or seconds since 1970"
_ANY_TEXT, _ARN, _ADDRESS = "a text", "an ARN", "an address or a range such as 203.0.113.0/24"

OPERATORS: dict[str, Operator] = {
    "StringEquals": Operator(_text(wild=False), _ANY_TEXT),
    "StringNotEquals": Operator(_text(wild=False), _ANY_TEXT, negated=True),
    "StringEqualsIgnoreCase": Operator(_text(wild=False, any_case=True), _ANY_TEXT),
    "StringNotEqualsIgnoreCase": Operator(_text(wild=False, any_case=True), _ANY_TEXT, negated=True),
    "StringLike": Operator(_text(wild=True), _ANY_TEXT),
    "StringNotLike": Operator(_text(wild=True), _ANY_TEXT, negated=True),
    "NumericEquals": Operator(_ordered(kinds.number, eq), _NUMBER),
    "NumericNotEquals": Operator(_ordered(kinds.number, eq), _NUMBER, negated=True),
    "NumericLessThan": Operator(_ordered(kinds.number, lt), _NUMBER),
    "NumericLessThanEquals": Operator(_ordered(kinds.number, le), _NUMBER),
    "NumericGreaterThan": Operator(_ordered(kinds.number, gt), _NUMBER),
    "NumericGreaterThanEquals": Operator(_ordered(kinds.number, ge), _NUMBER),
    "DateEquals": Operator(_ordered(kinds.date, eq), _DATE),
    "DateNotEquals": Operator(_ordered(kinds.date, eq), _DATE, negated=True),
    "DateLessThan": Operator(_ordered(kinds.date, lt), _DATE),
    "DateLessThanEquals": Operator(_ordered(kinds.date, le), _DATE),
    "DateGreaterThan": Operator(_ordered(kinds.date, gt), _DATE),
    "DateGreaterThanEquals": Operator(_ordered(kinds.date, ge), _DATE),
    "Bool": Operator(_ordered(kinds.truth, eq), "true or false"),
    "BinaryEquals": Operator(_ordered(kinds.octets, eq), "bytes in base64"),
    "IpAddress": Operator(_within, _ADDRESS),
    "NotIpAddress": Operator(_within, _ADDRESS, negated=True),
    "ArnEquals": Operator(_arn, _ARN),
    "ArnLike": Operator(_arn, _ARN),
    "ArnNotEquals": Operator(_arn, _ARN, negated=True),
    "ArnNotLike": Operator(_arn, _ARN, negated=True),
}
NULL = "Null"
IF_EXISTS = "IfExists"
QUANTIFIERS = ("ForAllValues", "ForAnyValue")


class Condition:
    """One operator on one key. The statement's conditions are all asked."""

    __slots__ = ("_compared", "_if_missing", "_negated", "_quantifier", "key", "keys")

    def __init__(self, operator: str, key: str, values: Sequence[str], variables: bool) -> None:
        self._quantifier, name, if_exists = taken_apart(operator)
        self.key = key.lower()
        known = OPERATORS.get(name)
        self._compared = [known.read(value, variables) for value in values] if known else None
        self._negated = known is not None and known.negated
        self._if_missing: Answer = if_exists or self._negated
        if self._quantifier and not if_exists:
            self._if_missing = self._quantifier == "ForAllValues"
        if known is None:
            self._if_missing = None
        self.keys = frozenset({self.key}).union(*(compared.keys for compared in self._compared or ()))

    def met(self, context: Context) -> Answer:
        given = context.get(self.key, ())
        values = (given,) if isinstance(given, str) else given
        if not values:
            return self._if_missing
        if self._compared is None:
            return None
        try:
            answers = [self._fits(value, context, self._compared) for value in values]
        except ValueError:
            return None
        every = self._quantifier == "ForAllValues" or (self._negated and not self._quantifier)
        return _all(answers) if every else _any(answers)

    def _fits(self, value: str, context: Context, compared: list[Compared]) -> Answer:
        """Whether one value of the request is as the operator wants it. A variable without a value matches nothing;
        that nothing matched because of it proves nothing."""
        answers = [one.with_(value, context) for one in compared]
        if not self._negated:
            return True in answers
        return False if True in answers else None if None in answers else True


class Absence:
    """`Null`: whether the request has the key at all; "true" asks that it has not."""

    __slots__ = ("_wanted", "key", "keys")

    def __init__(self, key: str, values: Sequence[str]) -> None:
        self.key = key.lower()
        self.keys = frozenset({self.key})
        self._wanted = {kinds.truth(value) for value in values}

    def met(self, context: Context) -> Answer:
        return (context.get(self.key, ()) == ()) in self._wanted


def condition_of(operator: str, key: str, values: Sequence[str], variables: bool) -> Condition | Absence:
    return Absence(key, values) if operator == NULL else Condition(operator, key, values, variables)


def taken_apart(operator: str) -> tuple[str, str, bool]:
    """`ForAnyValue:StringLikeIfExists` → quantifier, name, whether a missing key will do."""
    quantifier, _, name = operator.rpartition(":")
    return quantifier, name.removesuffix(IF_EXISTS), name.endswith(IF_EXISTS)


def is_known(operator: str) -> bool:
    quantifier, name, _ = taken_apart(operator)
    return operator == NULL or (name in OPERATORS and quantifier in ("", *QUANTIFIERS) and operator[0] != ":")


def problem_with(operator: str, value: str, variables: bool) -> str | None:
    """Why a known operator cannot take a value of a policy."""
    name = taken_apart(operator)[1]
    try:
        if operator == NULL:
            kinds.truth(value)
        else:
            OPERATORS[name].read(value, variables)
    except TemplateError as problem:
        return str(problem)
    except ValueError:
        wants = "true or false" if operator == NULL else OPERATORS[name].wants
        return f"{value!r} is not {wants}"
    return None


def _all(answers: list[Answer]) -> Answer:
    return False if False in answers else None if None in answers else True


def _any(answers: list[Answer]) -> Answer:
    return True if True in answers else None if None in answers else False
