"""Roles and their trust policies."""

import json
import re
from typing import Any

from .conftest import Fresh
from .saying import ACCOUNT, SENDING, TRUST, refused, trusting


def test_a_role_is_told_as_it_was_made(iam: Any, fresh: Fresh) -> None:
    name = fresh("Worker")
    made = iam.create_role(
        RoleName=name,
        Path="/x/",
        AssumeRolePolicyDocument=TRUST,
        Description="works",
        MaxSessionDuration=7200,
        Tags=[{"Key": "a", "Value": ""}],
    )["Role"]
    assert re.fullmatch("AROA[A-Z2-7]{17}", made["RoleId"])
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:role/x/{name}"
    assert made["AssumeRolePolicyDocument"] == json.loads(TRUST)
    assert (made["Description"], made["MaxSessionDuration"]) == ("works", 7200)
    assert made["Tags"] == [{"Key": "a", "Value": ""}]
    assert iam.get_role(RoleName=name.lower())["Role"] == made
    assert made["Arn"] in [role["Arn"] for role in iam.list_roles(PathPrefix="/x/")["Roles"]]
    with refused("EntityAlreadyExists", f"Role with name {name} already exists."):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)


def test_a_role_is_changed(iam: Any, role: str) -> None:
    iam.update_role(RoleName=role, Description="new", MaxSessionDuration=43200)
    found = iam.get_role(RoleName=role)["Role"]
    assert (found["Description"], found["MaxSessionDuration"]) == ("new", 43200)
    iam.update_role(RoleName=role, MaxSessionDuration=3600)
    assert iam.get_role(RoleName=role)["Role"]["Description"] == "new"
    assert iam.update_role_description(RoleName=role, Description="newer")["Role"]["Description"] == "newer"
    other = trusting("*")
    iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(other))
    assert iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"] == other


def test_a_trust_policy_that_is_none_is_refused(iam: Any, fresh: Fresh, role: str) -> None:
    with refused("MalformedPolicyDocument"):
        iam.create_role(RoleName=fresh("bad"), AssumeRolePolicyDocument="{")
    with refused("MalformedPolicyDocument"):
        iam.update_assume_role_policy(RoleName=role, PolicyDocument="{")
    long = json.dumps(trusting() | {"Id": "x" * 2048})
    with refused("LimitExceeded", "Cannot exceed quota for ACLSizePerRole: 2048"):
        iam.update_assume_role_policy(RoleName=role, PolicyDocument=long)
    assert iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"] == json.loads(TRUST)


def test_a_role_is_deleted_when_nothing_hangs_on_it(iam: Any, role: str, policy: str) -> None:
    iam.attach_role_policy(RoleName=role, PolicyArn=policy)
    iam.put_role_policy(RoleName=role, PolicyName="inline", PolicyDocument=SENDING)
    with refused("DeleteConflict", "Cannot delete entity, must detach all policies first."):
        iam.delete_role(RoleName=role)
    iam.detach_role_policy(RoleName=role, PolicyArn=policy)
    with refused("DeleteConflict", "Cannot delete entity, must delete policies first."):
        iam.delete_role(RoleName=role)
    iam.delete_role_policy(RoleName=role, PolicyName="inline")
    iam.delete_role(RoleName=role)
    with refused("NoSuchEntity", f"The role with name {role} cannot be found."):
        iam.get_role(RoleName=role)
