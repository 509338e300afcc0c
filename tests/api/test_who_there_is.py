"""Whoever may do nothing learns nothing of the users, groups, roles and keys that there are: not even by a refusal."""

from typing import Any

import pytest
from deciding import ACCOUNT, ANN, EVERY, Operation, Town, client_of

from penstock.core.directory import AccessKey, Group, Role, User

THERE = {"UserName": "hidden", "GroupName": "HIDDEN", "RoleName": "hidden", "AccessKeyId": "AKIAHIDDENHIDDENHIDD"}
MISSING = {"UserName": "nobody", "GroupName": "NOBODY", "RoleName": "nobody", "AccessKeyId": "AKIANOBODYNOBODYNOBO"}


@pytest.fixture
def hidden(town: Town) -> Town:
    whose: dict[str, Any] = {"account": ACCOUNT, "name": "Hidden", "path": "/secret/"}
    town.save(
        User(**whose, id="AIDAHIDDEN"),
        Group(**whose, id="AGPAHIDDEN"),
        Role(**whose, id="AROAHIDDEN", trust="{}"),
        AccessKey(account=ACCOUNT, name=THERE["AccessKeyId"], user="Hidden"),
    )
    return town


def members(operation: Operation) -> set[str]:
    shape = client_of("iam").meta.service_model.operation_model(operation.name).input_shape
    return set(shape.members) if shape else set()


@pytest.mark.parametrize("operation", [each for each in EVERY if each.service == "iam"], ids=str)
def test_a_refusal_is_the_same_whether_or_not_there_is_who_is_named(hidden: Town, operation: Operation) -> None:
    asked = members(operation) & THERE.keys()
    there, missing = (
        hidden.call(ANN, operation, **{member: names[member] for member in asked}) for names in (THERE, MISSING)
    )
    assert there.denied
    said = there.message
    for member in asked:
        said = said.replace(THERE[member], MISSING[member])
    assert said == missing.message


@pytest.mark.parametrize(
    ("name", "given", "called"),
    [
        ("GetUser", {"UserName": "bob"}, "user bob"),
        ("GetUser", {}, "user ann"),
        ("AddUserToGroup", {"GroupName": "all", "UserName": "bob"}, "group all"),
        ("PutRolePolicy", {"RoleName": "job"}, "role job"),
        ("GetPolicy", {"PolicyArn": f"arn:aws:iam::{ACCOUNT}:policy/p"}, f"policy arn:aws:iam::{ACCOUNT}:policy/p"),
        ("CreateUser", {"UserName": "bob", "Path": "/x/"}, f"arn:aws:iam::{ACCOUNT}:user/x/bob"),
        ("CreateRole", {"RoleName": "job"}, f"arn:aws:iam::{ACCOUNT}:role/job"),
        ("GetAccessKeyLastUsed", {"AccessKeyId": "AKIANOBODYNOBODYNOBO"}, "access key AKIANOBODYNOBODYNOBO"),
        ("ListUsers", {}, "*"),
    ],
)
def test_a_refusal_calls_a_thing_as_the_request_does(town: Town, name: str, given: dict[str, Any], called: str) -> None:
    outcome = town.call(ANN, Operation("iam", name), **given)
    assert f" on resource: {called} because " in outcome.message


def test_who_may_not_give_himself_a_name_is_not_told_where_he_is(hidden: Town) -> None:
    for name in ("hidden", "nobody"):
        allowed = f"arn:aws:iam::{ACCOUNT}:user/*{name}"
        hidden.give(ANN, {"Effect": "Allow", "Action": "iam:UpdateUser", "NotResource": f"{allowed}-2"})
        outcome = hidden.call(ANN, Operation("iam", "UpdateUser"), UserName=name, NewUserName=f"{name}-2")
        assert f" on resource: user {name}-2 because " in outcome.message
