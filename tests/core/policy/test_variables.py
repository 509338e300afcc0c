"""Policy variables: what stands for them, where they are known, and what becomes of one without a value."""

from typing import Any

import pytest
from policy_cast import OWNER, allow, ask, callers, deny, policy

from penstock.core.policy import Context, Grants, Policy, Use, decide

ARN = f"arn:aws:sqs:us-east-1:{OWNER}:"
OWN = ARN + "${aws:username}-*"


def allows(given: Policy, resource: str, context: Context) -> bool:
    return decide(ask(callers()["user"], resource=resource, context=context), Grants((given,))).allowed


@pytest.mark.parametrize(
    ("written", "name", "context", "expected"),
    [
        ("${aws:username}-*", "anna-in", {"aws:username": "anna"}, True),
        ("${aws:username}-*", "bob-in", {"aws:username": "anna"}, False),
        ("${AWS:UserName}-*", "anna-in", {"aws:username": "anna"}, True),
        ("${aws:username}-*", "bob-in", {"aws:username": "*"}, False),
        ("${aws:username}-*", "*-in", {"aws:username": "*"}, True),
        ("${aws:username}-*", "x-in", {"aws:username": "?"}, False),
        ("${aws:username}-*", "anna-in", {}, False),
        ("${aws:username}-*", "-in", {}, False),
        ("${aws:username}-*", "${aws:username}-in", {}, False),
        ("${aws:username, 'guest'}-*", "guest-in", {}, True),
        ("${aws:username,'guest'}-*", "guest-in", {}, True),
        ("${aws:username, 'guest'}-*", "guest-in", {"aws:username": "anna"}, False),
        ("${aws:username, '*'}-*", "anna-in", {}, False),
        ("${aws:PrincipalTag/team}", "blue", {"aws:principaltag/team": "blue"}, True),
        ("${aws:PrincipalTag/team}", "blue", {"aws:principaltag/team": ("blue",)}, True),
        ("${aws:PrincipalTag/team}", "blue", {"aws:principaltag/team": ("blue", "red")}, False),
        ("${aws:PrincipalTag/cost center}", "blue", {"aws:principaltag/cost center": "blue"}, True),
        ("${aws:PrincipalTag/Équipe, 'x'}", "blue", {"aws:principaltag/équipe": "blue"}, True),
        ("${aws:PrincipalTag/Équipe 1, 'x'}", "x", {}, True),
        ("${aws:userid}-${aws:username}", "AIDA-anna", {"aws:userid": "AIDA", "aws:username": "anna"}, True),
        ("${aws:userid}-${aws:username}", "AIDA-anna", {"aws:username": "anna"}, False),
        ("a${*}b", "a*b", {}, True),
        ("a${*}b", "axb", {}, False),
        ("a${?}b", "a?b", {}, True),
        ("a${?}b", "axb", {}, False),
        ("a${$}b", "a$b", {}, True),
        ("${$}{aws:username}", "${aws:username}", {"aws:username": "anna"}, True),
        ("a$b", "a$b", {}, True),
    ],
)  # fmt: skip
def test_a_variable_in_a_resource(written: str, name: str, context: Context, expected: bool) -> None:
    assert allows(policy(Use.IDENTITY, allow(Resource=ARN + written)), ARN + name, context) is expected


def test_before_2012_a_variable_is_text_like_any_other() -> None:
    old = policy(Use.IDENTITY, allow(Resource=ARN + "${aws:username}"), version="2008-10-17")
    assert not allows(old, ARN + "anna", {"aws:username": "anna"})
    assert allows(old, ARN + "${aws:username}", {"aws:username": "anna"})


@pytest.mark.parametrize(
    ("operator", "value", "given", "expected"),
    [
        ("StringEquals", "${aws:username}", "anna", True),
        ("StringEquals", "${aws:username}*", "anna*", True),
        ("StringEquals", "${aws:username}*", "annab", False),
        ("StringLike", "${aws:username}*", "annab", True),
        ("StringEqualsIgnoreCase", "X-${aws:username}", "x-ANNA", True),
        ("StringNotEqualsIgnoreCase", "X-${aws:username}", "x-ANNA", False),
        ("StringNotEquals", "${aws:username}", "bob", True),
        ("StringNotLike", "${aws:username}*", "annab", False),
        ("ArnLike", "arn:aws:sqs:*:*:${aws:username}-*", "arn:aws:sqs:eu-west-1:1:anna-x", True),
        ("ArnLike", "arn:aws:sqs:*:*:${aws:username}-*", "arn:aws:sqs:eu-west-1:1:bob-x", False),
        ("ArnNotEquals", "arn:aws:sqs:*:*:${aws:username}", "arn:aws:sqs:eu-west-1:1:bob", True),
    ],
)
def test_a_variable_in_a_condition(operator: str, value: str, given: str, expected: bool) -> None:
    conditional = policy(Use.IDENTITY, allow(Condition={operator: {"aws:PrincipalTag/x": value}}))
    assert allows(conditional, ARN + "q", {"aws:username": "anna", "aws:principaltag/x": given}) is expected


def test_a_variable_s_value_does_not_reach_over_the_parts_of_an_arn() -> None:
    condition = {"ArnLike": {"aws:SourceArn": "arn:aws:sqs:${aws:username}:1:*"}}
    conditional = policy(Use.IDENTITY, allow(Condition=condition))
    source = {"aws:sourcearn": "arn:aws:sqs:eu:1:1:q"}
    assert not allows(conditional, ARN + "q", source | {"aws:username": "eu:1"})
    assert allows(conditional, ARN + "q", source | {"aws:username": "eu"})


@pytest.mark.parametrize(
    ("element", "value", "denies"),
    [
        ("Resource", OWN, False),
        ("NotResource", OWN, True),
        ("Condition", {"StringEquals": {"aws:PrincipalTag/x": "${aws:username}"}}, False),
        ("Condition", {"StringNotEquals": {"aws:PrincipalTag/x": "${aws:username}"}}, True),
        ("Condition", {"StringNotLike": {"aws:PrincipalTag/x": "${aws:username}*"}}, True),
        ("Condition", {"ArnNotLike": {"aws:PrincipalTag/x": "arn:aws:sqs:*:*:${aws:username}"}}, True),
    ],
)
def test_a_variable_without_a_value_never_widens(element: str, value: Any, denies: bool) -> None:
    """An Allow that needs it does not hold. A Deny of what does not match holds; one of what matches has no match."""
    context = {"aws:principaltag/x": "arn:aws:sqs:us-east-1:1:q"}
    narrow = policy(Use.IDENTITY, allow(**{element: value}))
    assert not allows(narrow, ARN + "q", context)
    wide = policy(Use.IDENTITY, allow(), deny(**{element: value}))
    assert allows(wide, ARN + "q", context) is not denies


def test_one_value_that_matches_is_enough_though_another_s_variable_has_no_value() -> None:
    condition = {"StringEquals": {"aws:PrincipalTag/x": ["${aws:username}", "blue"]}}
    assert allows(policy(Use.IDENTITY, allow(Condition=condition)), ARN + "q", {"aws:principaltag/x": "blue"})
    assert allows(policy(Use.IDENTITY, allow(Resource=[OWN, ARN + "q"])), ARN + "q", {})


def test_a_policy_tells_which_keys_it_asks_for() -> None:
    condition = {"StringEquals": {"aws:PrincipalTag/Team": "${aws:UserId}"}, "Null": {"aws:TokenIssueTime": "true"}}
    asking = policy(Use.IDENTITY, allow(), allow(Resource=OWN, Condition=condition))
    assert asking.keys == {"aws:username", "aws:principaltag/team", "aws:userid", "aws:tokenissuetime"}
    assert policy(Use.IDENTITY, allow(Resource=ARN + "q*")).keys == frozenset()
