"""Documents that are taken, so that what is refused is no more than what must be."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_cast import OWNER, QUEUE, document

from penstock.core.policy import PolicyError, Use, read_policy
from penstock.core.policy.conditions import OPERATORS

IDENTITY: dict[str, Any] = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}
RESOURCE = IDENTITY | {"Principal": "*"}


@pytest.mark.parametrize(
    "change",
    [
        {"Sid": ""},
        {"Sid": "Statement1"},
        {"Effect": "Deny"},
        {"Action": ["sqs:SendMessage", "SQS:Receive*", "*", "penstock:PeekMessages", "execute-api:Invoke"]},
        {"Resource": [QUEUE, "arn:aws:sqs:*", "arn:aws:sqs:::*", "arn:*", "arn:aws:sqs:*:*:${aws:username}-${*}"]},
        {"Condition": {}},
        {"Condition": {"Bool": {"aws:SecureTransport": True}, "NumericLessThan": {"aws:x": [1, 2.5, "-3", 1e3]}}},
        {"Condition": {"StringEquals": {"aws:PrincipalTag/cost center": "", "aws:ResourceTag/équipe/a:b=+-@_.": ""}}},
        {"Condition": {"DateGreaterThan": {"aws:CurrentTime": ["2026", 1700000000, "2026-02-28T23:59:59.999+14:00"]}}},
        {"Condition": {"IpAddress": {"aws:SourceIp": ["0.0.0.0/0", "::/0", "203.0.113.7", "2001:db8::1/64"]}}},
        {"Condition": {"Null": {"aws:TokenIssueTime": "true"}}},
    ],
)
def test_a_statement_of_an_identity_s_policy(change: dict[str, Any]) -> None:
    assert len(read_policy(document(IDENTITY | change), Use.IDENTITY).statements) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"Sid": "ü with spaces_and-dashes"},
        {"Principal": {"AWS": "*"}},
        {"Principal": {"AWS": [OWNER, f"arn:aws:iam::{OWNER}:root", f"arn:aws:iam::{OWNER}:user/a/b/c@d.e"]}},
        {"Principal": {"AWS": f"arn:aws:sts::{OWNER}:assumed-role/Clerk/me@example.com"}},
        {"Principal": {"Service": ["sns.amazonaws.com", "s3.us-east-1.amazonaws.com"], "AWS": OWNER}},
    ],
)
def test_a_statement_of_a_queue_s_policy(change: dict[str, Any]) -> None:
    assert len(read_policy(document(RESOURCE | change), Use.RESOURCE).statements) == 1


@pytest.mark.parametrize("operator", [*sorted(OPERATORS), "Null"])
def test_every_operator_in_every_form(operator: str) -> None:
    values = {"Numeric": 1, "Date": "2026", "Bool": "true", "Null": "true", "Ip": "::1", "Arn": QUEUE, "Bin": "YQ=="}
    value = next((value for part, value in values.items() if part in operator), "text")
    forms = [operator]
    if operator != "Null":
        ends = ("", "IfExists")
        forms = [begin + operator + end for begin in ("", "ForAllValues:", "ForAnyValue:") for end in ends]
    for form in forms:
        read_policy(document(IDENTITY | {"Condition": {form: {"aws:x": value}}}), Use.IDENTITY)


def test_one_statement_need_not_be_a_list_and_a_version_need_not_be_there() -> None:
    assert len(read_policy(json.dumps({"Statement": IDENTITY}), Use.IDENTITY).statements) == 1


def test_what_add_permission_writes_is_a_good_policy() -> None:
    statement = {
        "Sid": "a-label_1",
        "Effect": "Allow",
        "Principal": {"AWS": [f"arn:aws:iam::{OWNER}:root"]},
        "Action": ["SQS:SendMessage", "SQS:*"],
        "Resource": QUEUE,
    }
    written = {"Version": "2008-10-17", "Id": f"{QUEUE}/SQSDefaultPolicy", "Statement": [statement]}
    assert read_policy(json.dumps(written), Use.RESOURCE, "queue").name == "queue"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=5), parts, max_size=3),
)
LIKE_POLICIES = st.fixed_dictionaries(
    {"Statement": st.fixed_dictionaries({}, optional=dict.fromkeys(RESOURCE | {"Condition": 0, "NotAction": 0}, JSON))}
)


def problem(text: str, use: Use) -> PolicyError | None:
    try:
        read_policy(text, use)
    except PolicyError as refusal:
        return refusal
    return None


@given(JSON.map(json.dumps) | LIKE_POLICIES.map(json.dumps) | st.text(max_size=40), st.sampled_from(Use))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_whatever_the_text_it_is_read_or_refused_with_a_reason_and_a_place(text: str, use: Use) -> None:
    refusal = problem(text, use)
    assert refusal is None or (refusal.reason and refusal.place and str(refusal).isprintable())


@given(st.sampled_from(["Condition", "Principal", "Action", "Resource", "Sid", "Effect"]), JSON, st.sampled_from(Use))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_whatever_an_element_is_it_is_read_or_refused(element: str, value: Any, use: Use) -> None:
    whole = RESOURCE if use is Use.RESOURCE else IDENTITY
    refusal = problem(document(whole | {element: value}), use)
    assert refusal is None or (refusal.reason and refusal.place and str(refusal).isprintable())
