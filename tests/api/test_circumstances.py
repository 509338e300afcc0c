"""What conditions can ask about a request, each asked by the policy of a user who sends a message."""

from ipaddress import ip_network
from typing import Any

import pytest
from deciding import ACCOUNT, ANN, ARN, NOBODY, REGION, ROOT, Operation, Outcome, Town, allow, deny

from penstock.api.addresses import Addresses
from penstock.api.call import Call
from penstock.api.circumstances import FAMILIES, KEYS, Circumstances
from penstock.aws.http import HttpRequest
from penstock.core.identity import Kind, Principal, Session

SEND = Operation("sqs", "SendMessage")
TAG = Operation("sqs", "TagQueue")
UNTAG = Operation("sqs", "UntagQueue")
CREATE = Operation("sqs", "CreateQueue")


def sends_if(town: Town, operator: str, key: str, value: Any, operation: Operation = SEND, **given: Any) -> bool:
    town.give(ANN, allow("sqs:*", ARN, Condition={operator: {key: value}}))
    outcome: Outcome = town.call(ANN, operation, **given)
    assert outcome.denied or not outcome.code, outcome
    return not outcome.denied


@pytest.mark.parametrize(
    ("operator", "key", "met", "not_met"),
    [
        ("IpAddress", "aws:SourceIp", "192.0.2.0/24", "198.51.100.0/24"),
        ("Bool", "aws:SecureTransport", "false", "true"),
        ("DateGreaterThan", "aws:CurrentTime", "2020-01-01T00:00:00Z", "2200-01-01T00:00:00Z"),
        ("NumericGreaterThan", "aws:EpochTime", "1600000000", "9900000000"),
        ("ArnEquals", "aws:PrincipalArn", f"arn:aws:iam::{ACCOUNT}:user/ann", f"arn:aws:iam::{ACCOUNT}:user/bob"),
        ("StringEquals", "aws:PrincipalAccount", ACCOUNT, "999999999999"),
        ("StringEquals", "aws:PrincipalType", "User", "Account"),
        ("StringEquals", "aws:PrincipalTag/team", "blue", "red"),
        ("StringEquals", "AWS:principaltag/TEAM", "blue", "red"),
        ("StringEquals", "aws:userid", "AIDAANN", "AIDABOB"),
        ("StringEquals", "aws:username", "ann", "Ann"),
        ("StringLike", "aws:UserAgent", "*Boto*", "curl*"),
        ("StringEquals", "aws:RequestedRegion", REGION, "eu-west-1"),
        ("StringEquals", "aws:ResourceAccount", ACCOUNT, "999999999999"),
        ("Null", "aws:TokenIssueTime", "true", "false"),
        ("Null", "aws:MultiFactorAuthPresent", "true", "false"),
        ("Null", "aws:ResourceTag/colour", "true", "false"),
        ("Null", "aws:RequestTag/colour", "true", "false"),
        ("Null", "aws:TagKeys", "true", "false"),
    ],
)
def test_a_condition_is_met_or_not(town: Town, operator: str, key: str, met: str, not_met: str) -> None:
    for _ in range(2):  # the second time it may be remembered
        assert sends_if(town, operator, key, met)
        assert not sends_if(town, operator, key, not_met)


def test_tags_of_the_queue_and_of_the_request(town: Town) -> None:
    assert not sends_if(town, "StringEquals", "aws:ResourceTag/colour", "green")
    assert sends_if(town, "StringEquals", "aws:RequestTag/colour", "green", TAG, Tags={"colour": "green"})
    assert not sends_if(town, "StringEquals", "aws:RequestTag/colour", "green", TAG, Tags={"colour": "red"})
    assert sends_if(town, "StringEquals", "aws:ResourceTag/Colour", "green")
    only = ["colour", "size"]
    assert sends_if(town, "ForAllValues:StringEquals", "aws:TagKeys", only, TAG, Tags={"size": "1", "colour": "green"})
    assert not sends_if(town, "ForAllValues:StringEquals", "aws:TagKeys", only, TAG, Tags={"size": "1", "x": "y"})
    assert not sends_if(town, "ForAllValues:StringEquals", "aws:TagKeys", only, UNTAG, TagKeys=["x"])
    assert sends_if(town, "ForAnyValue:StringEquals", "aws:TagKeys", only, UNTAG, TagKeys=["colour"])
    assert not sends_if(town, "StringEquals", "aws:ResourceTag/colour", "green")


def test_the_key_of_a_tag_may_be_written_in_other_letters(town: Town) -> None:
    town.give(ANN, allow("sqs:TagQueue"))
    assert town.call(ANN, TAG, Tags={"Colour": "green"}).code == ""
    assert sends_if(town, "StringEquals", "aws:ResourceTag/colour", "green")


def test_tags_of_a_queue_that_is_to_be(town: Town) -> None:
    blue = {"StringEquals": {"aws:RequestTag/team": "blue"}}
    town.give(ANN, allow(["sqs:CreateQueue", "sqs:TagQueue"], "*", Condition=blue))
    assert town.call(ANN, CREATE, QueueName="new").denied
    assert town.call(ANN, CREATE, QueueName="new", tags={"team": "blue"}).code == ""


def test_a_variable_stands_for_the_caller_s_own(town: Town) -> None:
    town.give(ANN, allow("sqs:*", "arn:aws:sqs:*:*:${aws:username}-*"))
    assert town.call(ANN, CREATE, QueueName="ann-1").code == ""
    assert town.call(ANN, CREATE, QueueName="bob-1").denied


def test_what_was_allowed_from_one_address_is_not_from_another(town: Town) -> None:
    town.give(ANN, allow("sqs:SendMessage", ARN, Condition={"IpAddress": {"aws:SourceIp": "192.0.2.1"}}))
    assert town.call(ANN, SEND).code == ""
    town.peer = "192.0.2.2"
    assert town.call(ANN, SEND).denied
    town.peer = "::ffff:192.0.2.1"
    assert town.call(ANN, SEND).code == ""


def test_what_was_allowed_with_some_tags_is_not_with_others(town: Town) -> None:
    blue = {"StringEquals": {"aws:ResourceTag/colour": "${aws:PrincipalTag/team}"}}
    town.give(ANN, allow("sqs:SendMessage", ARN, Condition=blue))
    for colour, denied in (("blue", False), ("red", True), ("blue", False)):
        assert town.call(ROOT, TAG, Tags={"colour": colour}).code == ""
        for _ in range(2):
            assert town.call(ANN, SEND).denied is denied
    assert town.call(ROOT, UNTAG, TagKeys=["colour"]).code == ""
    assert town.call(ANN, SEND).denied


def test_a_queue_s_policy_asks_the_same(town: Town) -> None:
    town.set_policy(
        allow("sqs:SendMessage", ARN, Principal="*", Condition={"IpAddress": {"aws:SourceIp": "192.0.2.1"}})
    )
    for key in (ANN, NOBODY):
        town.peer = "192.0.2.1"
        assert town.call(key, SEND).code == ""
        town.peer = "192.0.2.2"
        assert town.call(key, SEND).denied


def test_nothing_may_come_unless_it_is_safe(town: Town) -> None:
    town.give(ANN, allow("sqs:*"))
    town.set_policy(deny("sqs:*", ARN, Principal="*", Condition={"Bool": {"aws:SecureTransport": "false"}}))
    assert town.call(ANN, SEND).denied
    town.trust("192.0.2.1/32")
    town.headers = {"X-Forwarded-Proto": "https"}
    assert town.call(ANN, SEND).code == ""
    town.peer = "192.0.2.2"
    assert town.call(ANN, SEND).denied, "what a stranger writes is not believed"


def circumstances(town: Town, principal: Principal, **headers: str) -> Circumstances:
    given = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    http = HttpRequest("POST", b"/", given, b"", "10.0.0.1")
    return Circumstances(Call(town.world.site, http, "id", principal=principal, region=REGION), None, ACCOUNT)


def test_a_session_has_the_time_it_began_and_its_own_tags(town: Town) -> None:
    session = Session(1_700_000_000_500, 1_800_000_000_000)
    role = Principal(
        ACCOUNT,
        f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s",
        "AROA:s",
        Kind.ROLE,
        "r",
        {"team": "red", "x": "y"},
        session,
    )
    found = circumstances(town, role)
    assert found["aws:tokenissuetime"] == "2023-11-14T22:13:20Z"
    assert (found["aws:principaltag/team"], found["aws:principaltag/x"]) == ("red", "y")
    assert found["aws:principaltype"] == "AssumedRole"
    assert "aws:username" not in found
    assert set(found) >= {"aws:tokenissuetime", "aws:principaltag/team"}
    assert len(found) == len(list(found))


def test_nobody_has_no_account_and_no_name(town: Town) -> None:
    found = circumstances(town, Principal("", "", "10.0.0.1", Kind.ANONYMOUS))
    assert found["aws:userid"] == "anonymous"
    assert found["aws:principaltype"] == "Anonymous"
    assert not {"aws:principalarn", "aws:principalaccount", "aws:username", "aws:nonsense"} & set(found)


def test_all_keys_are_in_lower_case() -> None:
    assert all(key == key.lower() for key in (*KEYS, *FAMILIES))


@pytest.mark.parametrize(
    ("forwarded", "peer"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("nonsense, 10.0.0.2", "10.0.0.2"),
        ("", "10.0.0.1"),
    ],
)
def test_a_request_is_from_the_last_hop_that_is_no_proxy_of_ours(forwarded: str, peer: str) -> None:
    http = HttpRequest("POST", b"/", {b"x-forwarded-for": forwarded.encode()}, b"", "10.0.0.1")
    assert Addresses(trusted_proxies=(ip_network("10.0.0.0/8"),)).peer_of(http) == peer
    assert Addresses().peer_of(http) == "10.0.0.1"
    assert Addresses(trusted_proxies=(ip_network("172.16.0.0/12"),)).peer_of(http) == "10.0.0.1"
