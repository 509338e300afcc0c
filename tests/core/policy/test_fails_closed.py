"""What cannot be told: an Allow does not hold then, a Deny does."""

import pytest
from policy_cast import allow, ask, callers, deny, policy

from penstock.core.policy import Context, Grants, Policy, Statement, Use, decide
from penstock.core.policy.conditions import Condition
from penstock.core.policy.statement import Choice

EVERYTHING = policy(Use.IDENTITY, allow())


def allowed(*policies: Policy, context: Context | None = None) -> bool:
    return decide(ask(callers()["user"], context=context), Grants(policies)).allowed


def with_an_unknown_operator(allows: bool, operator: str) -> Policy:
    """As a later version may have left it in a store: what reads documents refuses it."""
    conditions = (Condition(operator, "aws:X", ["1"], variables=True),)
    return Policy("later", Use.IDENTITY, (Statement("", allows, Choice(["sqs:sendmessage"]), conditions=conditions),))


@pytest.mark.parametrize("context", [{}, {"aws:x": "1"}, {"aws:x": ("1", "2")}], ids=["no key", "one value", "two"])
@pytest.mark.parametrize(
    "operator", ["Resembles", "ResemblesIfExists", "ForAllValues:Resembles", "ForAnyValue:ResemblesIfExists"]
)
def test_an_operator_that_is_not_known(operator: str, context: Context) -> None:
    assert not allowed(with_an_unknown_operator(True, operator), context=context)
    assert not allowed(EVERYTHING, with_an_unknown_operator(False, operator), context=context)


OF_ANOTHER_KIND = [
    ("NumericLessThan", "5", "many"),
    ("NumericNotEquals", "5", "many"),
    ("NumericEquals", "5", "NaN"),
    ("NumericEquals", "5", "٥"),
    ("DateGreaterThan", "2026-01-01", "tomorrow"),
    ("DateNotEquals", "2026-01-01", "2026-13-01"),
    ("Bool", "true", "yes"),
    ("BinaryEquals", "YQ==", "a"),
    ("BinaryEquals", "YQ==", "ä"),
    ("IpAddress", "10.0.0.0/8", "localhost"),
    ("NotIpAddress", "10.0.0.0/8", "010.1.2.3"),
    ("ForAnyValue:NumericLessThan", "5", "many"),
    ("ForAllValues:NumericLessThan", "5", "many"),
    ("NumericLessThanIfExists", "5", "many"),
]


@pytest.mark.parametrize(("operator", "value", "given"), OF_ANOTHER_KIND)
def test_a_request_s_value_of_another_kind_than_the_operator_compares(operator: str, value: str, given: str) -> None:
    condition = {operator: {"aws:X": value}}
    context = {"aws:x": given}
    assert not allowed(policy(Use.IDENTITY, allow(Condition=condition)), context=context)
    assert not allowed(EVERYTHING, policy(Use.IDENTITY, deny(Condition=condition)), context=context)


def test_a_deny_that_cannot_be_told_does_not_hold_where_something_else_of_it_does_not_match() -> None:
    condition = {"NumericLessThan": {"aws:X": "5"}, "StringEquals": {"aws:Y": "yes"}}
    elsewhere = policy(Use.IDENTITY, deny(Condition=condition))
    assert allowed(EVERYTHING, elsewhere, context={"aws:x": "many", "aws:y": "no"})
    assert not allowed(EVERYTHING, elsewhere, context={"aws:x": "many", "aws:y": "yes"})


def test_a_text_that_is_no_arn_is_like_no_arn() -> None:
    is_like = policy(Use.IDENTITY, allow(Condition={"ArnLike": {"aws:SourceArn": "*"}}))
    assert not allowed(is_like, context={"aws:sourcearn": "orders"})
    assert allowed(is_like, context={"aws:sourcearn": "arn:aws:sqs:::orders"})


@pytest.mark.parametrize("key", ["aws:MultiFactorAuthPresent", "aws:SecureTransport"])
def test_a_missing_key_meets_bool_only_if_it_need_not_exist(key: str) -> None:
    for value in ("true", "false"):
        assert not allowed(policy(Use.IDENTITY, allow(Condition={"Bool": {key: value}})))
        assert allowed(policy(Use.IDENTITY, allow(Condition={"BoolIfExists": {key: value}})))


def test_without_any_policy_nobody_but_a_root_may_do_anything() -> None:
    answers = {name: decide(ask(caller), Grants()).allowed for name, caller in callers().items()}
    assert answers == {"root": True, "user": False, "role": False, "federated": False, "anonymous": False}


def test_no_session_policy_is_no_limit_but_an_empty_set_of_them_allows_nothing() -> None:
    asked = ask(callers()["role"])
    assert decide(asked, Grants((EVERYTHING,), session=None)).allowed
    assert not decide(asked, Grants((EVERYTHING,), session=())).allowed
