"""Managed policies on users, groups and roles, and who has a policy."""

from typing import Any

import pytest

from .conftest import Fresh
from .saying import ACCOUNT, SENDING, refused


@pytest.fixture(params=["User", "Group", "Role"])
def noun(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def holder(noun: str, user: str, group: str, role: str) -> dict[str, str]:
    return {f"{noun}Name": {"User": user, "Group": group, "Role": role}[noun]}


def attached(iam: Any, noun: str, holder: dict[str, str], **more: Any) -> list[str]:
    listed = getattr(iam, f"list_attached_{noun.lower()}_policies")(**holder, **more)["AttachedPolicies"]
    return [policy["PolicyArn"] for policy in listed]


def test_a_policy_is_attached_once_and_detached(iam: Any, noun: str, holder: dict[str, str], policy: str) -> None:
    attach, detach = getattr(iam, f"attach_{noun.lower()}_policy"), getattr(iam, f"detach_{noun.lower()}_policy")
    for _ in range(2):
        attach(**holder, PolicyArn=policy)
    assert attached(iam, noun, holder) == [policy]
    assert attached(iam, noun, holder, PathPrefix="/elsewhere/") == []
    assert iam.get_policy(PolicyArn=policy)["Policy"]["AttachmentCount"] == 1
    detach(**holder, PolicyArn=policy)
    assert attached(iam, noun, holder) == []
    with refused("NoSuchEntity", f"Policy {policy} was not found."):
        detach(**holder, PolicyArn=policy)


def test_a_policy_that_is_not_there_is_not_attached(iam: Any, noun: str, holder: dict[str, str]) -> None:
    for arn in (f"arn:aws:iam::{ACCOUNT}:policy/nowhere", "arn:aws:iam::aws:policy/AdministratorAccess"):
        with refused("NoSuchEntity", f"Policy {arn} does not exist or is not attachable."):
            getattr(iam, f"attach_{noun.lower()}_policy")(**holder, PolicyArn=arn)


def test_ten_policies_are_attached_at_most(iam: Any, fresh: Fresh, noun: str, holder: dict[str, str]) -> None:
    arns = [iam.create_policy(PolicyName=fresh("of-ten"), PolicyDocument=SENDING)["Policy"]["Arn"] for _ in range(11)]
    attach = getattr(iam, f"attach_{noun.lower()}_policy")
    for arn in arns[:10]:
        attach(**holder, PolicyArn=arn)
    with refused("LimitExceeded", f"Cannot exceed quota for PoliciesPer{noun}: 10"):
        attach(**holder, PolicyArn=arns[10])


def test_who_has_a_policy_is_told_by_kind_and_use(iam: Any, user: str, group: str, role: str, policy: str) -> None:
    iam.attach_user_policy(UserName=user, PolicyArn=policy)
    iam.attach_group_policy(GroupName=group, PolicyArn=policy)
    iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=policy)

    def told(**more: Any) -> tuple[list[str], list[str], list[str]]:
        found = iam.list_entities_for_policy(PolicyArn=policy, **more)
        users, groups, roles = found["PolicyUsers"], found["PolicyGroups"], found["PolicyRoles"]
        return (
            [one["UserName"] for one in users],
            [one["GroupName"] for one in groups],
            [one["RoleName"] for one in roles],
        )

    assert told() == ([user], [group], [role])
    assert told(EntityFilter="Group") == ([], [group], [])
    assert told(PolicyUsageFilter="PermissionsPolicy") == ([user], [group], [])
    assert told(PolicyUsageFilter="PermissionsBoundary") == ([], [], [role])
    assert told(PathPrefix="/elsewhere/") == ([], [], [])
