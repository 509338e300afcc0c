"""Policies can depend on tags. So whoever makes something with tags must have the right to tag it, as with Amazon."""

from typing import Any

import pytest
from deciding import ACCOUNT, ANN, ARN, ROOT, Operation, Town, allow, deny

TAGS = [{"Key": "team", "Value": "red"}]
CASES = [
    (Operation("sqs", "CreateQueue"), "sqs:TagQueue", {"QueueName": "new", "tags": {"team": "red"}}, ["tags"]),
    (Operation("iam", "CreateUser"), "iam:TagUser", {"UserName": "new", "Tags": TAGS}, ["Tags"]),
    (
        Operation("iam", "CreateRole"),
        "iam:TagRole",
        {
            "RoleName": "new",
            "Tags": TAGS,
            "AssumeRolePolicyDocument": '{"Statement":{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}}',
        },
        ["Tags"],
    ),
    (
        Operation("iam", "CreatePolicy"),
        "iam:TagPolicy",
        {
            "PolicyName": "new",
            "Tags": TAGS,
            "PolicyDocument": '{"Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*"}}',
        },
        ["Tags"],
    ),
    (Operation("sts", "GetFederationToken"), "sts:TagSession", {"Name": "guest", "Tags": TAGS}, ["Tags"]),
]
each = pytest.mark.parametrize(("operation", "tagging", "given", "tags"), CASES, ids=[str(case[0]) for case in CASES])


@each
def test_who_may_make_but_not_tag_makes_nothing_with_tags(
    town: Town, operation: Operation, tagging: str, given: dict[str, Any], tags: list[str]
) -> None:
    town.give(ANN, allow(str(operation)))
    outcome = town.call(ANN, operation, **given)
    assert outcome.denied
    assert f" is not authorized to perform: {tagging.lower() if 'sqs' in tagging else tagging} on " in outcome.message
    assert not town.call(ANN, operation, **given | dict.fromkeys(tags)).code


@each
def test_a_deny_of_tagging_holds_for_making_with_tags(
    town: Town, operation: Operation, tagging: str, given: dict[str, Any], tags: list[str]
) -> None:
    town.give(ANN, allow("*"), deny(tagging))
    assert town.call(ANN, operation, **given).denied
    town.give(ANN, allow([str(operation), tagging]))
    assert not town.call(ANN, operation, **given).code


def test_an_allowed_creation_is_not_remembered_for_one_with_tags(town: Town) -> None:
    town.give(ANN, allow("sqs:CreateQueue", ARN))
    create = Operation("sqs", "CreateQueue")
    for _ in range(2):
        assert town.call(ANN, create, QueueName="orders", tags=None).code != "AccessDenied"
        assert town.call(ANN, create, QueueName="orders", tags={"team": "red"}).denied


def test_an_account_itself_tags_what_it_makes(town: Town) -> None:
    assert not town.call(ROOT, Operation("sqs", "CreateQueue"), QueueName="new", tags={"team": "red"}).code


def test_who_vouches_for_somebody_gives_him_no_tags_that_open_what_is_closed_to_himself(town: Town) -> None:
    red = {"StringEquals": {"aws:PrincipalTag/team": "red"}}
    town.give(ANN, allow("sts:GetFederationToken"), allow("sqs:SendMessage", Condition=red))
    outcome = town.call(ANN, Operation("sts", "GetFederationToken"), Name="guest", Tags=TAGS)
    guest = f"arn:aws:sts::{ACCOUNT}:federated-user/guest"
    assert outcome.message.startswith(
        f"User: arn:aws:iam::{ACCOUNT}:user/ann is not authorized to perform: sts:TagSession on resource: {guest} "
    )
