"""Boundaries of users and roles; tags of users, roles and policies."""

from typing import Any

import pytest

from .conftest import Fresh
from .saying import ACCOUNT, refused

Tags = list[dict[str, str]]


def tags(**given: str) -> Tags:
    return [{"Key": key, "Value": value} for key, value in given.items()]


@pytest.mark.parametrize("word", ["user", "role"])
def test_a_boundary_is_put_and_taken_away(iam: Any, user: str, role: str, policy: str, word: str) -> None:
    who = {"user": {"UserName": user}, "role": {"RoleName": role}}[word]

    def boundary() -> Any:
        return getattr(iam, f"get_{word}")(**who)[word.title()].get("PermissionsBoundary")

    assert boundary() is None
    getattr(iam, f"put_{word}_permissions_boundary")(**who, PermissionsBoundary=policy)
    assert boundary() == {"PermissionsBoundaryType": "PermissionsBoundaryPolicy", "PermissionsBoundaryArn": policy}
    assert iam.get_policy(PolicyArn=policy)["Policy"]["PermissionsBoundaryUsageCount"] == 1
    getattr(iam, f"delete_{word}_permissions_boundary")(**who)
    assert boundary() is None


def test_a_boundary_must_be_there(iam: Any, fresh: Fresh, user: str) -> None:
    arn, name = f"arn:aws:iam::{ACCOUNT}:policy/nowhere", fresh("unbounded")
    words = f"Scope ARN: {arn} does not exist or is not attachable."
    with refused("NoSuchEntity", words):
        iam.put_user_permissions_boundary(UserName=user, PermissionsBoundary=arn)
    with refused("NoSuchEntity", words):
        iam.create_user(UserName=name, PermissionsBoundary=arn)
    with refused("NoSuchEntity"):
        iam.get_user(UserName=name)


@pytest.fixture(params=["user", "role", "policy"])
def tagged(request: pytest.FixtureRequest, user: str, role: str, policy: str) -> tuple[str, dict[str, str]]:
    whom = {"user": {"UserName": user}, "role": {"RoleName": role}, "policy": {"PolicyArn": policy}}
    return request.param, whom[request.param]


def test_tags_are_added_changed_and_removed(iam: Any, tagged: tuple[str, dict[str, str]]) -> None:
    word, who = tagged

    def told() -> Tags:
        found: Tags = getattr(iam, f"list_{word}_tags")(**who)["Tags"]
        return found

    getattr(iam, f"tag_{word}")(**who, Tags=tags(team="shop", stage="test"))
    assert told() == tags(stage="test", team="shop")
    getattr(iam, f"tag_{word}")(**who, Tags=tags(Team="bank"))
    assert told() == tags(Team="bank", stage="test")
    getattr(iam, f"untag_{word}")(**who, TagKeys=["TEAM", "never"])
    assert told() == tags(stage="test")


def test_tags_are_told_in_pages(iam: Any, user: str) -> None:
    keys = [f"é{number:02}" + "é" * 125 for number in range(5)]
    iam.tag_user(UserName=user, Tags=tags(**dict.fromkeys(keys, "")))
    found = iam.get_paginator("list_user_tags").paginate(UserName=user, PaginationConfig={"PageSize": 2})
    assert [tag["Key"] for one in found for tag in one["Tags"]] == keys


def test_bad_tags_are_refused(iam: Any, user: str) -> None:
    with refused("InvalidInput", "Duplicate tag keys found. Please note that Tag keys are case insensitive."):
        iam.tag_user(UserName=user, Tags=tags(a="1", A="2"))
    with refused("InvalidInput", "aws: prefixed tag key names are not allowed for external use."):
        iam.tag_user(UserName=user, Tags=tags(**{"aws:x": "1"}))
    with refused("ValidationError"):
        iam.tag_user(UserName=user, Tags=tags(**{"a\tb": "1"}))
    iam.tag_user(UserName=user, Tags=tags(**{f"k{number}": "v" for number in range(50)}))
    with refused("LimitExceeded", "The number of tags has reached the maximum limit: 50."):
        iam.tag_user(UserName=user, Tags=tags(one="more"))
