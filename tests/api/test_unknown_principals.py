"""Policies name those that there are: accounts, and in one's own account users and roles. Others are not looked up."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from deciding import ACCOUNT, ARN, BOB, OTHER_ACCOUNT, REGION, ROOT, STRANGER, Operation, Outcome, Town, allow, written

from penstock.core.clock import AnchoredClock
from penstock.core.directory import Account, Role
from sqs.harness import World

ADD, SET, GET, CREATE = (
    Operation("sqs", name) for name in ("AddPermission", "SetQueueAttributes", "GetQueueAttributes", "CreateQueue")
)
CREATE_ROLE, TRUST = Operation("iam", "CreateRole"), Operation("iam", "UpdateAssumeRolePolicy")
NO_ACCOUNT, MADE = "999999999999", "777777777777"
KNOWN = [
    "*",
    ACCOUNT,
    f"arn:aws:iam::{ACCOUNT}:root",
    OTHER_ACCOUNT,
    MADE,
    f"arn:aws:iam::{ACCOUNT}:user/ann",
    f"arn:aws:iam::{ACCOUNT}:role/staff/clerk",
    f"arn:aws:sts::{ACCOUNT}:assumed-role/clerk/monday",
    f"arn:aws:sts::{ACCOUNT}:federated-user/guest",
    f"arn:aws:iam::{OTHER_ACCOUNT}:user/bob",
    f"arn:aws:iam::{OTHER_ACCOUNT}:user/nobody",
    f"arn:aws:iam::{OTHER_ACCOUNT}:role/nothing",
]
UNKNOWN = [
    NO_ACCOUNT,
    f"arn:aws:iam::{NO_ACCOUNT}:root",
    f"arn:aws:iam::{NO_ACCOUNT}:user/ann",
    f"arn:aws:sts::{NO_ACCOUNT}:assumed-role/clerk/monday",
    f"arn:aws:sts::{NO_ACCOUNT}:federated-user/guest",
    f"arn:aws:iam::{ACCOUNT}:user/nobody",
    f"arn:aws:iam::{ACCOUNT}:user/staff/ann",
    f"arn:aws:iam::{ACCOUNT}:user/Ann",
    f"arn:aws:iam::{ACCOUNT}:role/ann",
    f"arn:aws:iam::{ACCOUNT}:role/clerk",
    f"arn:aws:sts::{ACCOUNT}:assumed-role/nothing/monday",
]


@pytest.fixture
def peopled(town: Town) -> Town:
    role = Role(account=ACCOUNT, name="clerk", path="/staff/", id="AROACLERK", trust=trusting(ACCOUNT))
    town.save(role, Account(account=MADE, name=MADE))
    return town


@pytest.fixture
def careless() -> Iterator[Town]:
    """A town whose server has authentication off, as far as operations can tell."""
    with asyncio.Runner() as runner:
        town = Town(runner)
        town.world = World(town.world.store, clock=AnchoredClock(), root_account=ACCOUNT, every_account_exists=True)
        yield town


def naming(principal: Any, element: str = "Principal") -> str:
    effect = {"Effect": "Deny"} if element == "NotPrincipal" else {}
    first = allow("sqs:SendMessage", ARN, Principal="*")
    return written(first, allow("sqs:SendMessage", ARN) | effect | {element: {"AWS": principal}})


def trusting(principal: str) -> str:
    return written({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": "sts:AssumeRole"})


def attempts(town: Town, principal: str) -> dict[str, Outcome]:
    return {
        "set": town.call(ROOT, SET, Attributes={"Policy": naming(principal)}),
        "create": town.call(ROOT, CREATE, QueueName="new", Attributes={"Policy": naming(principal)}),
        "role": town.call(ROOT, CREATE_ROLE, RoleName="new", AssumeRolePolicyDocument=trusting(principal)),
        "trust": town.call(ROOT, TRUST, RoleName="clerk", PolicyDocument=trusting(principal)),
    }


@pytest.mark.parametrize("principal", KNOWN)
def test_whoever_there_is_can_be_named_and_names_of_other_accounts_are_not_looked_up(
    peopled: Town, principal: str
) -> None:
    assert {name: outcome.code for name, outcome in attempts(peopled, principal).items()} == dict.fromkeys(
        ("set", "create", "role", "trust"), ""
    )


@pytest.mark.parametrize("principal", UNKNOWN)
def test_whoever_there_is_not_cannot_be_named_and_nothing_is_changed(peopled: Town, principal: str) -> None:
    found = attempts(peopled, principal)
    reason = f"Reason: There is no principal {principal!r}, in Statement[1].Principal.AWS."
    for name in ("set", "create"):
        expected = Outcome("InvalidAttributeValue", f"Invalid value for the parameter Policy. {reason}")
        assert found[name] == expected
    for name in ("role", "trust"):
        expected = Outcome("MalformedPolicyDocument", f'Invalid principal in policy: "AWS":"{principal}"')
        assert found[name] == expected
    assert "Attributes" not in peopled.call(ROOT, GET, AttributeNames=["Policy"]).answer
    clerk = peopled.identities.directory.role(ACCOUNT, "clerk")
    assert clerk is not None
    assert clerk.trust == trusting(ACCOUNT)
    assert peopled.identities.directory.role(ACCOUNT, "new") is None


def test_the_place_is_that_of_the_one_who_is_not_there(peopled: Town) -> None:
    for element in ("Principal", "NotPrincipal"):
        outcome = peopled.call(ROOT, SET, Attributes={"Policy": naming([ACCOUNT, NO_ACCOUNT], element)})
        assert outcome.message.endswith(f"There is no principal '{NO_ACCOUNT}', in Statement[1].{element}.AWS[1].")


def test_a_permission_is_for_accounts_that_there_are(peopled: Town) -> None:
    outcome = peopled.call(ROOT, ADD, Label="l", AWSAccountIds=[ACCOUNT, NO_ACCOUNT])
    message = f"Value [{NO_ACCOUNT}] for parameter PrincipalId is invalid. Reason: Unable to verify."
    assert outcome == Outcome("InvalidParameterValue", message)
    assert "Attributes" not in peopled.call(ROOT, GET, AttributeNames=["Policy"]).answer
    assert peopled.call(ROOT, ADD, Label="l", AWSAccountIds=[ACCOUNT, OTHER_ACCOUNT, MADE]).code == ""


def test_a_permission_can_be_added_beside_one_for_somebody_who_is_gone(peopled: Town) -> None:
    peopled.set_document(naming(NO_ACCOUNT))
    assert peopled.call(ROOT, ADD, Label="l", AWSAccountIds=[OTHER_ACCOUNT]).code == ""


def test_a_queue_that_is_there_can_be_created_again_when_somebody_it_names_is_gone(peopled: Town) -> None:
    peopled.set_document(naming(NO_ACCOUNT))
    assert peopled.call(ROOT, CREATE, Attributes={"Policy": naming(NO_ACCOUNT)}).code == ""


def test_the_account_that_asks_is_the_one_whose_names_are_looked_up(peopled: Town) -> None:
    for key, name, code in ((STRANGER, "bob", ""), (STRANGER, "ann", "InvalidAttributeValue")):
        arn = f"arn:aws:sqs:{REGION}:{OTHER_ACCOUNT}:{name}"
        who = {"AWS": f"arn:aws:iam::{OTHER_ACCOUNT}:user/{name}"}
        policy = json.dumps({"Statement": allow("sqs:SendMessage", arn, Principal=who)})
        assert peopled.call(key, CREATE, QueueName=name, Attributes={"Policy": policy}).code == code
    assert peopled.user(BOB).account == OTHER_ACCOUNT


@pytest.mark.parametrize("principal", UNKNOWN)
def test_without_authentication_everyone_exists(careless: Town, principal: str) -> None:
    assert careless.call(ROOT, SET, Attributes={"Policy": naming(principal)}).code == ""
    assert careless.call(ROOT, CREATE_ROLE, RoleName="new", AssumeRolePolicyDocument=trusting(principal)).code == ""
    assert careless.call(ROOT, ADD, Label="l", AWSAccountIds=[NO_ACCOUNT]).code == ""
