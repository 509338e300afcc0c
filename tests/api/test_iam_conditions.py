"""What conditions can ask about requests for IAM and STS: whose tags, which policy, within which bounds."""

from typing import Any

import pytest
from deciding import ACCOUNT, ANN, Operation, Town, allow, written

from penstock.core.directory import ManagedPolicy, Role, User, Version

BOUND, LOOSE = (f"arn:aws:iam::{ACCOUNT}:policy/{name}" for name in ("bound", "loose"))
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # operation: the key that is asked for, with what it is met and with what not
    "GetUser": ("aws:ResourceTag/team", {"UserName": "red"}, {"UserName": "blue"}),
    "TagUser": ("iam:ResourceTag/Team", {"UserName": "RED"}, {"UserName": "blue"}),
    "GetRole": ("aws:ResourceTag/team", {"RoleName": "red"}, {"RoleName": "nothing"}),
    "GetPolicy": ("aws:ResourceTag/team", {"PolicyArn": BOUND}, {"PolicyArn": LOOSE}),
}
TAGGED = {"StringEquals": {"aws:ResourceTag/team": "red"}}


@pytest.fixture
def staffed(town: Town) -> Town:
    for name, team, boundary in (("red", "red", BOUND), ("blue", "blue", None), ("green", "green", LOOSE)):
        more: dict[str, Any] = {"account": ACCOUNT, "path": "/staff/", "boundary": boundary, "tags": {"Team": team}}
        town.save(User(name=name, id=f"AIDA{name}", **more), Role(name=name, id=f"AROA{name}", trust=TRUST, **more))
    for name, tags in (("bound", {"team": "red"}), ("loose", {})):
        versions = {"v1": Version(written(allow("sqs:*")), 1)}
        town.save(
            ManagedPolicy(account=ACCOUNT, name=name, id=f"ANPA{name}", versions=versions, default="v1", tags=tags)
        )
    return town


TRUST = written({"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"})


def may(town: Town, operation: str, condition: dict[str, Any], service: str = "iam", **given: Any) -> bool:
    town.give(ANN, allow(f"{service}:*", "*", Condition=condition))
    return not town.call(ANN, Operation(service, operation), **given).denied


@pytest.mark.parametrize("operation", CASES)
def test_tags_are_those_of_whom_a_request_is_about(staffed: Town, operation: str) -> None:
    key, met, not_met = CASES[operation]
    assert may(staffed, operation, {"StringEquals": {key: "red"}}, **met)
    assert not may(staffed, operation, {"StringEquals": {key: "red"}}, **not_met)


def test_what_is_about_a_group_or_about_nothing_has_no_tags(staffed: Town) -> None:
    assert not may(staffed, "ListUsers", TAGGED)
    assert not may(staffed, "CreateGroup", TAGGED, GroupName="red")
    assert not may(staffed, "CreateUser", TAGGED, UserName="new", Tags=[{"Key": "team", "Value": "red"}])


def test_a_role_to_assume_has_its_tags(staffed: Town) -> None:
    for name, expected in (("red", True), ("blue", False), ("nothing", False)):
        arn = f"arn:aws:iam::{ACCOUNT}:role/staff/{name}"
        given = {"RoleArn": arn, "RoleSessionName": "session"}
        assert may(staffed, "AssumeRole", TAGGED, "sts", **given) is expected


def test_which_policy_is_attached_can_be_asked(staffed: Town) -> None:
    condition = {"ArnEquals": {"iam:PolicyARN": BOUND}}
    for operation, whom in (("AttachUserPolicy", {"UserName": "red"}), ("DetachRolePolicy", {"RoleName": "red"})):
        assert may(staffed, operation, condition, PolicyArn=BOUND, **whom)
        assert not may(staffed, operation, condition, PolicyArn=LOOSE, **whom)
    assert not may(staffed, "GetPolicy", condition, PolicyArn=BOUND)


def test_a_boundary_that_is_set_can_be_asked_for(staffed: Town) -> None:
    condition = {"StringEquals": {"iam:PermissionsBoundary": BOUND}}
    for operation, whom in (
        ("CreateUser", {"UserName": "new"}),
        ("PutUserPermissionsBoundary", {"UserName": "green"}),
        ("CreateRole", {"RoleName": "new", "AssumeRolePolicyDocument": TRUST}),
    ):
        assert not may(staffed, operation, condition, PermissionsBoundary=LOOSE, **whom)
        assert may(staffed, operation, condition, PermissionsBoundary=BOUND, **whom)
    assert not may(staffed, "CreateUser", condition, UserName="newer")


@pytest.mark.parametrize(
    "operation", ["AttachUserPolicy", "DetachUserPolicy", "PutUserPolicy", "DeleteUserPolicy", "DeleteRolePolicy",
                  "PutRolePolicy", "DeleteUserPermissionsBoundary", "DeleteRolePermissionsBoundary"],
)  # fmt: skip
def test_who_is_bounded_can_be_told_from_who_is_not(staffed: Town, operation: str) -> None:
    condition = {"StringEquals": {"iam:PermissionsBoundary": BOUND}}
    member = "RoleName" if "Role" in operation else "UserName"
    allowed = [name for name in ("green", "blue", "red") if may(staffed, operation, condition, **{member: name})]
    assert allowed == ["red"]


def test_the_bounds_of_whom_a_request_only_looks_at_are_not_asked(staffed: Town) -> None:
    assert not may(staffed, "GetUser", {"StringEquals": {"iam:PermissionsBoundary": BOUND}}, UserName="red")
