"""Managed policies and their versions."""

import json
import re
from typing import Any

from .conftest import Fresh
from .saying import ACCOUNT, READING, SENDING, document, refused


def version_ids(iam: Any, arn: str) -> list[str]:
    return [version["VersionId"] for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]]


def test_a_policy_is_told_as_it_was_made(iam: Any, fresh: Fresh) -> None:
    name = fresh("Sending")
    made = iam.create_policy(PolicyName=name, Path="/x/", PolicyDocument=SENDING, Description="send only")["Policy"]
    assert re.fullmatch("ANPA[A-Z2-7]{17}", made["PolicyId"])
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:policy/x/{name}"
    found = iam.get_policy(PolicyArn=made["Arn"])["Policy"]
    assert (found["Description"], found["DefaultVersionId"], found["AttachmentCount"]) == ("send only", "v1", 0)
    version = iam.get_policy_version(PolicyArn=made["Arn"], VersionId="v1")["PolicyVersion"]
    assert (version["Document"], version["IsDefaultVersion"]) == (json.loads(SENDING), True)
    with refused(
        "EntityAlreadyExists", f"A policy called {name.lower()} already exists. Duplicate names are not allowed."
    ):
        iam.create_policy(PolicyName=name.lower(), PolicyDocument=SENDING)


def test_a_policy_that_is_not_there_is_missed(iam: Any) -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:policy/nowhere"
    for call in (iam.get_policy, iam.delete_policy, iam.list_policy_versions, iam.list_entities_for_policy):
        with refused("NoSuchEntity", f"Policy {arn} was not found."):
            call(PolicyArn=arn)
    with refused("InvalidInput", "ARN this-is-no-arn-at-all is not valid."):
        iam.get_policy(PolicyArn="this-is-no-arn-at-all")


def test_another_account_s_policy_is_not_there(iam: Any, user: str, policy: str) -> None:
    with refused("NoSuchEntity"):
        iam.get_policy(PolicyArn=policy.replace(ACCOUNT, "111122223333"))


def test_versions_come_and_go_and_one_is_in_force(iam: Any, policy: str) -> None:
    second = iam.create_policy_version(PolicyArn=policy, PolicyDocument=READING, SetAsDefault=True)["PolicyVersion"]
    assert (second["VersionId"], second["IsDefaultVersion"]) == ("v2", True)
    assert iam.create_policy_version(PolicyArn=policy, PolicyDocument=SENDING)["PolicyVersion"]["VersionId"] == "v3"
    assert iam.get_policy(PolicyArn=policy)["Policy"]["DefaultVersionId"] == "v2"
    assert version_ids(iam, policy) == ["v3", "v2", "v1"]
    with refused("DeleteConflict", "Cannot delete the default version of a policy."):
        iam.delete_policy_version(PolicyArn=policy, VersionId="v2")
    iam.set_default_policy_version(PolicyArn=policy, VersionId="v3")
    iam.delete_policy_version(PolicyArn=policy, VersionId="v2")
    assert version_ids(iam, policy) == ["v3", "v1"]
    for call in (iam.get_policy_version, iam.delete_policy_version, iam.set_default_policy_version):
        with refused("NoSuchEntity", f"Policy {policy} version v2 does not exist or is not attachable."):
            call(PolicyArn=policy, VersionId="v2")


def test_there_are_five_versions_at_most_and_no_number_comes_twice(iam: Any, policy: str) -> None:
    for _ in range(4):
        iam.create_policy_version(PolicyArn=policy, PolicyDocument=READING)
    with refused(
        "LimitExceeded",
        "A managed policy can have up to 5 versions. Before you create a new version, you must delete an existing "
        "version.",
    ):
        iam.create_policy_version(PolicyArn=policy, PolicyDocument=READING)
    iam.delete_policy_version(PolicyArn=policy, VersionId="v5")
    assert iam.create_policy_version(PolicyArn=policy, PolicyDocument=READING)["PolicyVersion"]["VersionId"] == "v6"


def test_a_document_that_is_none_is_refused(iam: Any, fresh: Fresh, policy: str) -> None:
    with refused("MalformedPolicyDocument"):
        iam.create_policy(PolicyName=fresh("bad"), PolicyDocument="{")
    with refused("MalformedPolicyDocument"):
        iam.create_policy_version(PolicyArn=policy, PolicyDocument="{")
    assert version_ids(iam, policy) == ["v1"]


def test_a_document_has_a_most(iam: Any, fresh: Fresh) -> None:
    long = json.dumps(document("sqs:SendMessage", resource=f"arn:aws:sqs:*:*:{'q' * 6144}"))
    with refused("LimitExceeded", "Cannot exceed quota for PolicySize: 6144"):
        iam.create_policy(PolicyName=fresh("long"), PolicyDocument=long)


def test_a_policy_is_deleted_when_it_hangs_on_nobody_and_has_one_version(iam: Any, user: str, policy: str) -> None:
    iam.attach_user_policy(UserName=user, PolicyArn=policy)
    with refused("DeleteConflict", "Cannot delete a policy attached to entities."):
        iam.delete_policy(PolicyArn=policy)
    iam.detach_user_policy(UserName=user, PolicyArn=policy)
    iam.put_user_permissions_boundary(UserName=user, PermissionsBoundary=policy)
    with refused("DeleteConflict", "Cannot delete a policy attached to entities."):
        iam.delete_policy(PolicyArn=policy)
    iam.delete_user_permissions_boundary(UserName=user)
    iam.create_policy_version(PolicyArn=policy, PolicyDocument=READING)
    with refused("DeleteConflict"):
        iam.delete_policy(PolicyArn=policy)
    iam.delete_policy_version(PolicyArn=policy, VersionId="v2")
    iam.delete_policy(PolicyArn=policy)
    with refused("NoSuchEntity"):
        iam.get_policy(PolicyArn=policy)


def test_policies_are_listed_by_path_and_by_use(iam: Any, fresh: Fresh, user: str) -> None:
    path = f"/{fresh('listed')}/"
    arns = [
        iam.create_policy(PolicyName=fresh("policy"), Path=path, PolicyDocument=SENDING)["Policy"]["Arn"]
        for _ in range(3)
    ]

    def listed(**more: Any) -> list[str]:
        return [policy["Arn"] for policy in iam.list_policies(PathPrefix=path, **more)["Policies"]]

    assert listed() == listed(Scope="Local") == listed(Scope="All") == arns
    assert listed(Scope="AWS") == listed(OnlyAttached=True) == []
    iam.attach_user_policy(UserName=user, PolicyArn=arns[0])
    iam.put_user_permissions_boundary(UserName=user, PermissionsBoundary=arns[1])
    assert listed(OnlyAttached=True) == arns[:2]
    assert listed(PolicyUsageFilter="PermissionsPolicy") == arns[:1]
    assert listed(PolicyUsageFilter="PermissionsBoundary") == arns[1:2]
