"""Documents that are refused: each with the whole sentence, which has the reason and the place."""

import json
from typing import Any

import pytest
from policy_cast import OWNER, QUEUE, document

from penstock.core.policy import PolicyError, Use, read_policy

GOOD: dict[Use, dict[str, Any]] = {
    Use.IDENTITY: {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": QUEUE},
    Use.RESOURCE: {"Effect": "Allow", "Principal": {"AWS": OWNER}, "Action": "sqs:SendMessage", "Resource": QUEUE},
    Use.TRUST: {"Effect": "Allow", "Principal": {"AWS": OWNER}, "Action": "sts:AssumeRole"},
}


def refusal(text: str, use: Use = Use.IDENTITY) -> str:
    with pytest.raises(PolicyError) as caught:
        read_policy(text, use)
    error = caught.value
    assert str(error) == f"{error.reason}, in {error.place}."
    return str(error)


def changed(use: Use, change: dict[str, Any]) -> dict[str, Any]:
    """A good statement with other elements; those that are None are left out."""
    return {name: value for name, value in (GOOD[use] | change).items() if value is not None}


DOCUMENTS = [
    ("", "It is not JSON (Expecting value), in line 1 column 1."),
    ("allow all", "It is not JSON (Expecting value), in line 1 column 1."),
    ('{"Version": "2012-10-17",\n "Statement": }', "It is not JSON (Expecting value), in line 2 column 15."),
    ('{"Version" "2012-10-17"}', "It is not JSON (Expecting ':' delimiter), in line 1 column 12."),
    ('{"Id": "a" "b"}', "It is not JSON (Expecting ',' delimiter), in line 1 column 12."),
    ('{"Id": "a', "It is not JSON (Unterminated string starting at), in line 1 column 8."),
    ("{} {}", "It is not JSON (Extra data), in line 1 column 4."),
    ('{"Id": NaN}', "It is not JSON (NaN is no value), in the document."),
    ("[]", "It is not a JSON object, in the document."),
    ("12", "It is not a JSON object, in the document."),
    ("null", "It is not a JSON object, in the document."),
    ("{}", "Statement is missing, in the document."),
    ('{"Id": "a", "Id": "b"}', "'Id' is there twice, in the document."),
    ('{"Statement": [{"Effect": "Allow", "Effect": "Deny"}]}', "'Effect' is there twice, in Statement[0]."),
    ('{"Statement": {"Condition": {"Bool": {"a": 1, "a": 0}}}}', "'a' is there twice, in Statement.Condition.Bool."),
    ('{"Version": "2012-10-18", "Statement": []}', "Version is 2008-10-17 or 2012-10-17, in Version."),
    ('{"Version": 2012, "Statement": []}', "Version is 2008-10-17 or 2012-10-17, in Version."),
    ('{"Version": null, "Statement": []}', "Version is 2008-10-17 or 2012-10-17, in Version."),
    ('{"Version": [], "Statement": []}', "Version is 2008-10-17 or 2012-10-17, in Version."),
    ('{"Id": 5, "Statement": []}', "Id is not a text, in Id."),
    ('{"Name": "x", "Statement": []}', "A policy has no element 'Name', only Version, Id, Statement, in Name."),
    ('{"statement": []}', "A policy has no element 'statement', only Version, Id, Statement, in statement."),
    ('{"Statement": []}', "There is no statement, in Statement."),
    ('{"Statement": "all"}', "A statement is not a JSON object, in Statement."),
    ('{"Statement": null}', "A statement is not a JSON object, in Statement."),
    ('{"Statement": [[]]}', "A statement is not a JSON object, in Statement[0]."),
    ('{"Id": "\\ud800", "Statement": []}', "A text has half of a character (a lone surrogate), in Id."),
    ('{"\\udc00": "", "Statement": []}', "A text has half of a character (a lone surrogate), in the document."),
    ('{"Statement": ' + "[" * 10 + "]" * 10 + "}", "It is more than 10 levels deep, in Statement" + "[0]" * 9 + "."),
    ("[" * 10_000, "It is more than 10 levels deep, in the document."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_document_that_is_none(text: str, sentence: str) -> None:
    assert refusal(text) == sentence


NO_ACTION = "is no action: one is written service:name"
NO_PRINCIPAL = (
    'is not "*", an account of twelve digits, or the ARN of an account, user, role or session without wildcards'
)
NO_OBJECT = 'It is neither "*" nor an object such as {"AWS": "111122223333"}'
NO_RESOURCE = 'is neither "*" nor an ARN: arn:aws:service:region:account:name'
NO_TESTS = 'It is not a JSON object of keys and values, such as {"aws:SourceIp": "…"}'
NO_DATE = "is not a date such as 2026-01-31T12:00:00Z or seconds since 1970"
NO_RANGE = "is not an address or a range such as 203.0.113.0/24"
NO_VARIABLE = "is no variable: one is written ${prefix:name} or ${prefix:name, 'default'}"
SIX_PARTS = "It is no ARN, which has six parts: arn:partition:service:region:account:resource"
NOT_STS = "A trust policy is about actions of sts, not about"
NO_WHOM, ATTACHED = "A policy of an identity has no", "it holds for whom it is attached to"
TOO_WIDE = "NotPrincipal with Allow would allow everyone else in the world"
IAM, SQS, STS = Use.IDENTITY, Use.RESOURCE, Use.TRUST

STATEMENTS: list[tuple[Use, dict[str, Any], str, str]] = [
    (IAM, {"Effect": None}, "Effect is missing", ""),
    (IAM, {"Effect": "allow"}, "Effect is Allow or Deny", ".Effect"),
    (IAM, {"Effect": ["Allow"]}, "Effect is Allow or Deny", ".Effect"),
    (IAM, {"Actions": "x"}, "A statement has no element 'Actions'", ".Actions"),
    (IAM, {"Sid": 1}, "Sid is not a text", ".Sid"),
    (IAM, {"Sid": "a-b"}, "Sid has other characters than letters and digits", ".Sid"),
    (IAM, {"Sid": "ü"}, "Sid has other characters than letters and digits", ".Sid"),
    (STS, {"Sid": "a b"}, "Sid has other characters than letters and digits", ".Sid"),
    (SQS, {"Sid": "a\nb"}, "Sid has characters that cannot be seen", ".Sid"),
    (IAM, {"Action": None}, "Action is missing", ""),
    (IAM, {"NotAction": "sqs:*"}, "Action and NotAction exclude each other", ""),
    (IAM, {"Action": []}, "There is no value", ".Action"),
    (IAM, {"Action": 5}, "It is not a text", ".Action"),
    (IAM, {"Action": ["sqs:*", None]}, "It is not a text", ".Action[1]"),
    (IAM, {"Action": "SendMessage"}, f"'SendMessage' {NO_ACTION}", ".Action"),
    (IAM, {"Action": ["sqs:*", "sqs:"]}, f"'sqs:' {NO_ACTION}", ".Action[1]"),
    (IAM, {"Action": "s*:SendMessage"}, f"'s*:SendMessage' {NO_ACTION}", ".Action"),
    (IAM, {"Action": "sqs:${aws:username}"}, f"'sqs:${{aws:username}}' {NO_ACTION}", ".Action"),
    (IAM, {"Action": "sqs:Send Message"}, f"'sqs:Send Message' {NO_ACTION}", ".Action"),
    (IAM, {"Action": ""}, f"'' {NO_ACTION}", ".Action"),
    (STS, {"Action": "sqs:SendMessage"}, f"{NOT_STS} 'sqs:SendMessage'", ".Action"),
    (STS, {"Action": "*"}, f"{NOT_STS} '*'", ".Action"),
    (IAM, {"Resource": None}, "Resource is missing", ""),
    (SQS, {"Resource": None}, "Resource is missing", ""),
    (IAM, {"NotResource": "*"}, "Resource and NotResource exclude each other", ""),
    (IAM, {"Resource": "orders"}, f"'orders' {NO_RESOURCE}", ".Resource"),
    (IAM, {"Resource": ["*", "arn:aws:sqs:orders"]}, f"'arn:aws:sqs:orders' {NO_RESOURCE}", ".Resource[1]"),
    (IAM, {"Resource": "*:orders"}, f"'*:orders' {NO_RESOURCE}", ".Resource"),
    (IAM, {"Resource": ""}, f"'' {NO_RESOURCE}", ".Resource"),
    (IAM, {"Resource": "arn:${aws:username}"}, f"'arn:${{aws:username}}' {NO_RESOURCE}", ".Resource"),
    (IAM, {"Resource": "arn:" + "${a:b}" * 4}, f"'arn:{'${a:b}' * 4}' {NO_RESOURCE}", ".Resource"),
    (IAM, {"Resource": []}, "There is no value", ".Resource"),
    (IAM, {"Resource": "arn:aws:sqs:::${aws:username"}, "The variable that starts with ${ has no end", ".Resource"),
    (IAM, {"Resource": "arn:aws:sqs:::${}"}, f"${{}} {NO_VARIABLE}", ".Resource"),
    (IAM, {"Resource": "arn:aws:sqs:::${username}"}, f"${{username}} {NO_VARIABLE}", ".Resource"),
    (IAM, {"Resource": "arn:aws:sqs:::${aws:x, y}"}, f"${{aws:x, y}} {NO_VARIABLE}", ".Resource"),
    (STS, {"Resource": "*"}, "A trust policy has no Resource: it is its role's", ".Resource"),
    (STS, {"NotResource": "*"}, "A trust policy has no NotResource: it is its role's", ".NotResource"),
    (IAM, {"Principal": "*"}, f"{NO_WHOM} Principal: {ATTACHED}", ".Principal"),
    (IAM, {"NotPrincipal": "*"}, f"{NO_WHOM} NotPrincipal: {ATTACHED}", ".NotPrincipal"),
    (SQS, {"Principal": None}, "Principal is missing", ""),
    (STS, {"Principal": None}, "Principal is missing", ""),
    (SQS, {"NotPrincipal": "*"}, "Principal and NotPrincipal exclude each other", ""),
    (SQS, {"Principal": None, "NotPrincipal": {"AWS": OWNER}}, TOO_WIDE, ".NotPrincipal"),
    (IAM, {"Condition": []}, "Condition is not a JSON object", ".Condition"),
]  # fmt: skip


PRINCIPALS: list[tuple[Any, str, str]] = [
    (OWNER, NO_OBJECT, ""),
    (["*"], NO_OBJECT, ""),
    ({}, NO_OBJECT, ""),
    ({"AWS": []}, "There is no value", ".AWS"),
    ({"AWS": 111122223333}, "It is not a text", ".AWS"),
    ({"AWS": ["*", "12345"]}, f"'12345' {NO_PRINCIPAL}", ".AWS[1]"),
    ({"AWS": "anna"}, f"'anna' {NO_PRINCIPAL}", ".AWS"),
    ({"AWS": f"arn:aws:iam::{OWNER}:user/*"}, f"'arn:aws:iam::{OWNER}:user/*' {NO_PRINCIPAL}", ".AWS"),
    ({"AWS": f"arn:aws:iam::{OWNER}:user/*/a"}, f"'arn:aws:iam::{OWNER}:user/*/a' {NO_PRINCIPAL}", ".AWS"),
    ({"AWS": f"arn:aws:iam::{OWNER}:group/a"}, f"'arn:aws:iam::{OWNER}:group/a' {NO_PRINCIPAL}", ".AWS"),
    ({"AWS": "arn:aws:iam::12:root"}, f"'arn:aws:iam::12:root' {NO_PRINCIPAL}", ".AWS"),
    ({"AWS": f"arn:aws:sts::{OWNER}:assumed-role/A"}, f"'arn:aws:sts::{OWNER}:assumed-role/A' {NO_PRINCIPAL}", ".AWS"),
    ({"Federated": "x"}, "There are principals of the kinds AWS and Service, not 'Federated'", ".Federated"),
    ({"Service": "*"}, "'*' is not a service such as sns.amazonaws.com", ".Service"),
    ({"Service": "example.com"}, "'example.com' is not a service such as sns.amazonaws.com", ".Service"),
]  # fmt: skip

CONDITIONS: list[tuple[str, Any, str, str]] = [
    ("StringResembles", {"aws:x": "y"}, "There is no condition operator 'StringResembles'", ""),
    ("stringequals", {"aws:x": "y"}, "There is no condition operator 'stringequals'", ""),
    ("NullIfExists", {"aws:x": "true"}, "There is no condition operator 'NullIfExists'", ""),
    ("ForSome:Bool", {"aws:x": "true"}, "There is no condition operator 'ForSome:Bool'", ""),
    (":Bool", {"aws:x": "true"}, "There is no condition operator ':Bool'", ""),
    ("", {"aws:x": "true"}, "There is no condition operator ''", ""),
    ("Bool", "true", NO_TESTS, ""),
    ("Bool", {}, NO_TESTS, ""),
    ("Bool", {"Secure": "true"}, "'Secure' is no condition key: one is written prefix:name", ".Secure"),
    ("Bool", {"aws:x": []}, "There is no value", ".aws:x"),
    ("Bool", {"aws:x": "yes"}, "'yes' is not true or false", ".aws:x"),
    ("Null", {"aws:x": "no"}, "'no' is not true or false", ".aws:x"),
    ("StringLike", {"aws:x": ["a", None]}, "A value is neither a text nor a number nor true or false", ".aws:x[1]"),
    ("StringLike", {"aws:x": {}}, "A value is neither a text nor a number nor true or false", ".aws:x"),
    ("StringLike", {"aws:x": "${aws:"}, "The variable that starts with ${ has no end", ".aws:x"),
    ("NumericEquals", {"aws:x": "many"}, "'many' is not a number", ".aws:x"),
    ("NumericEquals", {"aws:x": ["1", "1,5"]}, "'1,5' is not a number", ".aws:x[1]"),
    ("NumericLessThan", {"aws:x": "Infinity"}, "'Infinity' is not a number", ".aws:x"),
    ("NumericEquals", {"aws:x": "${aws:y}"}, "'${aws:y}' is not a number", ".aws:x"),
    ("DateLessThan", {"aws:x": "tomorrow"}, f"'tomorrow' {NO_DATE}", ".aws:x"),
    ("DateLessThan", {"aws:x": "2026-02-30"}, f"'2026-02-30' {NO_DATE}", ".aws:x"),
    ("DateLessThan", {"aws:x": "2026-02-01T10:00:00"}, f"'2026-02-01T10:00:00' {NO_DATE}", ".aws:x"),
    ("DateLessThan", {"aws:x": "2026-02-01T25:00Z"}, f"'2026-02-01T25:00Z' {NO_DATE}", ".aws:x"),
    ("DateLessThan", {"aws:x": "2026-02-01T10:00+99:00"}, f"'2026-02-01T10:00+99:00' {NO_DATE}", ".aws:x"),
    ("IpAddress", {"aws:SourceIp": "10.0.0.0/33"}, f"'10.0.0.0/33' {NO_RANGE}", ".aws:SourceIp"),
    ("IpAddress", {"aws:SourceIp": "10.0.0.0/255.0.0.0"}, f"'10.0.0.0/255.0.0.0' {NO_RANGE}", ".aws:SourceIp"),
    ("NotIpAddress", {"aws:SourceIp": "10.0.*"}, f"'10.0.*' {NO_RANGE}", ".aws:SourceIp"),
    ("IpAddress", {"aws:SourceIp": "localhost"}, f"'localhost' {NO_RANGE}", ".aws:SourceIp"),
    ("IpAddress", {"aws:SourceIp": 167772160}, f"'167772160' {NO_RANGE}", ".aws:SourceIp"),
    ("BinaryEquals", {"aws:x": "a"}, "'a' is not bytes in base64", ".aws:x"),
    ("ArnLike", {"aws:SourceArn": "orders"}, SIX_PARTS, ".aws:SourceArn"),
    ("ForAnyValue:ArnEqualsIfExists", {"aws:x": "arn:aws:*"}, SIX_PARTS, ".aws:x"),
]  # fmt: skip

STATEMENTS += [
    *((SQS, {"Principal": given}, reason, f".Principal{place}") for given, reason, place in PRINCIPALS),
    *(
        (IAM, {"Condition": {operator: tests}}, reason, f".Condition.{operator}{place}")
        for operator, tests, reason, place in CONDITIONS
    ),
]


@pytest.mark.parametrize(("use", "change", "reason", "place"), STATEMENTS, ids=range(len(STATEMENTS)))
def test_a_statement_that_is_none(use: Use, change: dict[str, Any], reason: str, place: str) -> None:
    bad = changed(use, change)
    assert refusal(document(GOOD[use], bad), use) == f"{reason}, in Statement[1]{place}."
    assert refusal(json.dumps({"Version": "2012-10-17", "Statement": bad}), use) == f"{reason}, in Statement{place}."


def test_two_statements_of_one_sid() -> None:
    for use, good in GOOD.items():
        twice = document(good | {"Sid": "a"}, good, good | {"Sid": "a"})
        assert refusal(twice, use) == "The Sid 'a' is there twice, in Statement[2].Sid."


def test_more_principals_than_there_may_be() -> None:
    one = GOOD[Use.RESOURCE]
    crowd = [f"{number:012}" for number in range(50)]
    read_policy(document(one | {"Principal": {"AWS": crowd}}), Use.RESOURCE)
    expected = "There are more than 50 principals, in Statement[1].Principal."
    assert refusal(document(one | {"Principal": {"AWS": crowd}}, one), SQS) == expected


def test_a_document_that_is_too_long() -> None:
    good = document(GOOD[Use.IDENTITY])
    read_policy(good + " " * (20_480 - len(good)), Use.IDENTITY)
    assert refusal(good.ljust(20_481)) == "It has 20481 characters, and 20480 are allowed, in the document."
    read_policy(document(GOOD[Use.RESOURCE]).ljust(20_481), Use.RESOURCE)  # how long it may be, the queue's limits say


def test_a_refusal_is_short_and_can_be_shown_whatever_the_document_has() -> None:
    sentence = refusal(json.dumps({"Statement": GOOD[IAM] | {"\0" + "x" * 9000: "", "Action": "\r\n"}}))
    assert sentence.startswith(r"A statement has no element '\x00xxx")
    assert r"…, in Statement.\x00xxx" in sentence
    assert sentence.isprintable()
    assert len(sentence) < 600


def test_there_are_enough_bad_documents() -> None:
    assert len(DOCUMENTS) + len(STATEMENTS) >= 60
