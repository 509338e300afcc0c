"""When a statement speaks of a request: actions, resources, complements, and all of it together."""

from typing import Any

import pytest
from policy_cast import OWNER, QUEUE, allow, ask, callers, deny, policy

from penstock.core.policy import Grants, Match, Reason, Source, Use, decide


def allowed(*statements: dict[str, Any], action: str = "sqs:SendMessage", resource: str = QUEUE) -> bool:
    asked = ask(callers()["user"], action, resource, {"aws:sourceip": "10.0.0.1", "aws:securetransport": "true"})
    return decide(asked, Grants((policy(Use.IDENTITY, *statements),))).allowed


@pytest.mark.parametrize(
    ("written", "action", "expected"),
    [
        ("sqs:SendMessage", "sqs:SendMessage", True),
        ("SQS:sendmessage", "sqs:SendMessage", True),
        ("sqs:SendMessage", "sqs:sendmessage", True),
        ("sqs:Send*", "sqs:SendMessage", True),
        ("SQS:SEND*", "sqs:SendMessage", True),
        ("sqs:?endMessage", "sqs:SendMessage", True),
        ("sqs:*", "sqs:SendMessage", True),
        ("*", "sqs:SendMessage", True),
        ("sqs:*Message", "sqs:ReceiveMessage", True),
        ("sqs:*Message", "sqs:PurgeQueue", False),
        ("sqs:SendMessage", "sqs:SendMessages", False),
        ("sqs:*", "sns:Publish", False),
        ("sq:*", "sqs:SendMessage", False),
        (["sqs:PurgeQueue", "sqs:Send*"], "sqs:SendMessage", True),
        (["sqs:PurgeQueue", "sqs:DeleteQueue"], "sqs:SendMessage", False),
    ],
)
def test_an_action_and_its_complement(written: Any, action: str, expected: bool) -> None:
    assert allowed(allow(Action=written), action=action) is expected
    assert allowed(allow(NotAction=written), action=action) is not expected


@pytest.mark.parametrize(
    ("written", "resource", "expected"),
    [
        (QUEUE, QUEUE, True),
        (QUEUE.upper().replace("ARN:AWS:SQS", "arn:aws:sqs"), QUEUE, False),
        ("*", QUEUE, True),
        ("*", "*", True),
        ("arn:aws:sqs:*", QUEUE, True),
        ("arn:aws:sqs:*", "*", False),
        ("arn:aws:sqs:us-east-1:*:orders", QUEUE, True),
        ("arn:aws:sqs:us-east-1:*:order?", QUEUE, True),
        (f"arn:aws:sqs:us-east-1:{OWNER}:order?", QUEUE, True),
        ("arn:aws:sqs:us-east-1:*:order", QUEUE, False),
        (f"arn:aws:sqs:*:{OWNER}:*", QUEUE, True),
        (["arn:aws:sqs:::a", QUEUE], QUEUE, True),
        (["arn:aws:sqs:::a", "arn:aws:sqs:::b*"], QUEUE, False),
    ],
)
def test_a_resource_and_its_complement(written: Any, resource: str, expected: bool) -> None:
    assert allowed(allow(Resource=written), resource=resource) is expected
    assert allowed(allow(NotResource=written), resource=resource) is not expected


def test_the_sample_policy_of_the_scale_messaging_guide() -> None:
    sample = allow(Action="sqs:*", Resource="arn:aws:sqs:us-east-1:*:scale-command-messages")
    assert allowed(sample, resource=f"arn:aws:sqs:us-east-1:{OWNER}:scale-command-messages")
    for other in ("scale-command-messages2", "x-scale-command-messages", "orders"):
        assert not allowed(sample, resource=f"arn:aws:sqs:us-east-1:{OWNER}:{other}")
    assert not allowed(sample, resource=f"arn:aws:sqs:eu-west-1:{OWNER}:scale-command-messages")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({}, True),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, True),
        ({"IpAddress": {"aws:SourceIp": "11.0.0.0/8"}}, False),
        ({"IpAddress": {"aws:SourceIp": ["11.0.0.0/8", "10.0.0.0/8"]}}, True),
        ({"NotIpAddress": {"aws:SourceIp": ["11.0.0.0/8", "10.0.0.0/8"]}}, False),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}, "Bool": {"aws:SecureTransport": True}}, True),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}, "Bool": {"aws:SecureTransport": False}}, False),
        ({"StringLike": {"aws:SourceIp": "10.*", "aws:SecureTransport": "t*"}}, True),
        ({"StringLike": {"aws:SourceIp": "10.*", "aws:SecureTransport": "f*"}}, False),
        ({"StringLike": {"aws:SourceIp": "10.*", "AWS:SOURCEIP": "11.*"}}, False),
    ],
)
def test_all_operators_and_keys_must_be_met_and_one_of_the_values(condition: Any, expected: bool) -> None:
    assert allowed(allow(Condition=condition)) is expected
    assert allowed(allow(), deny(Condition=condition)) is not expected


def test_a_decision_names_the_statements_behind_it() -> None:
    first = policy(Use.IDENTITY, allow(Sid="all"), name="first")
    second = policy(Use.IDENTITY, allow(Sid="other", Action="sns:*"), deny(Sid="never", Action="sqs:*"), name="second")
    queue = policy(Use.RESOURCE, allow(Sid="q", Principal="*"), name="queue")
    asked = ask(callers()["user"])
    fine = decide(asked, Grants((first,), boundary=first, session=(first,)), queue)
    assert (fine.allowed, fine.reason) == (True, Reason.ALLOWED)
    own = [Match("first", "all", "Allow", source) for source in (Source.IDENTITY, Source.BOUNDARY, Source.SESSION)]
    assert fine.matched == (*own, Match("queue", "q", "Allow", Source.RESOURCE))
    denied = decide(asked, Grants((first, second)), queue)
    assert (denied.allowed, denied.reason, denied.reason.explicit) == (False, Reason.IDENTITY_DENIES, True)
    assert denied.matched == (Match("second", "never", "Deny", Source.IDENTITY),)
    silent = decide(ask(callers()["user"], "iam:ListUsers", "*"), Grants((second,)))
    assert (silent.reason, silent.reason.explicit, silent.matched) == (Reason.IDENTITY_SILENT, False, ())
