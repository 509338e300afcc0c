"""The account as a whole, and what it has nothing of."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server_process import Server

from .saying import READING, SENDING, TRUST, refused


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Any]:
    """A client of a server that nobody else uses."""
    server = Server(tmp_path)
    server.start()
    yield server.client("iam")
    server.stop()


def test_a_summary_counts_everything_and_a_page_has_all_of_it(alone: Any) -> None:
    alone.create_group(GroupName="senders")
    for name in ("anna", "bob"):
        alone.create_user(UserName=name)
    alone.add_user_to_group(GroupName="senders", UserName="anna")
    alone.create_role(RoleName="worker", AssumeRolePolicyDocument=TRUST)
    arn = alone.create_policy(PolicyName="sending", PolicyDocument=SENDING)["Policy"]["Arn"]
    alone.create_policy_version(PolicyArn=arn, PolicyDocument=READING)
    alone.attach_user_policy(UserName="anna", PolicyArn=arn)
    alone.put_group_policy(GroupName="senders", PolicyName="inline", PolicyDocument=SENDING)
    summary = alone.get_account_summary()["SummaryMap"]
    counts = ("Users", "Groups", "Roles", "Policies", "PolicyVersionsInUse", "AccessKeysPerUserQuota")
    assert [summary[name] for name in counts] == [2, 1, 1, 1, 2, 2]

    pages = list(alone.get_paginator("get_account_authorization_details").paginate(PaginationConfig={"PageSize": 2}))
    assert len(pages) == 3
    (anna, bob), (senders,), (worker,), (sending,) = (
        [one for page in pages for one in page[member]]
        for member in ("UserDetailList", "GroupDetailList", "RoleDetailList", "Policies")
    )
    assert (anna["GroupList"], bob["GroupList"]) == (["senders"], [])
    assert anna["AttachedManagedPolicies"] == [{"PolicyName": "sending", "PolicyArn": arn}]
    assert senders["GroupPolicyList"] == [{"PolicyName": "inline", "PolicyDocument": json.loads(SENDING)}]
    assert worker["AssumeRolePolicyDocument"] == json.loads(TRUST)
    assert [version["VersionId"] for version in sending["PolicyVersionList"]] == ["v1", "v2"]
    only = alone.get_account_authorization_details(Filter=["Role", "LocalManagedPolicy"])
    assert [len(only[member]) for member in ("UserDetailList", "GroupDetailList", "RoleDetailList", "Policies")] == [
        0, 0, 1, 1
    ]  # fmt: skip


def test_of_what_there_is_nothing_there_are_empty_lists(iam: Any, user: str, role: str) -> None:
    assert iam.list_account_aliases()["AccountAliases"] == []
    assert iam.list_instance_profiles()["InstanceProfiles"] == []
    assert iam.list_virtual_mfa_devices()["VirtualMFADevices"] == []
    assert iam.list_instance_profiles_for_role(RoleName=role)["InstanceProfiles"] == []
    assert iam.list_mfa_devices(UserName=user)["MFADevices"] == []
    assert iam.list_ssh_public_keys(UserName=user)["SSHPublicKeys"] == []
    assert iam.list_signing_certificates(UserName=user)["Certificates"] == []
    assert iam.list_service_specific_credentials(UserName=user)["ServiceSpecificCredentials"] == []
    for call in (iam.get_login_profile, iam.delete_login_profile):
        with refused("NoSuchEntity", f"Login Profile for User {user} cannot be found."):
            call(UserName=user)


def test_nothing_has_an_owner_that_is_not_there(iam: Any) -> None:
    with refused("NoSuchEntity", "The role with name nowhere cannot be found."):
        iam.list_instance_profiles_for_role(RoleName="nowhere")
