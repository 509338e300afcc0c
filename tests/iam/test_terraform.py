"""The calls that Terraform's provider makes for its resources, as far as we know them: making, reading, changing,
removing. Terraform itself is not among our tests' programs."""

import json
from typing import Any

from .conftest import Fresh
from .saying import READING, SENDING, TRUST, refused


def test_a_user_that_is_destroyed_by_force_goes_with_its_keys(iam: Any, fresh: Fresh, group: str) -> None:
    name = fresh("terraformed")
    iam.create_user(UserName=name, Path="/", Tags=[{"Key": "made-by", "Value": "terraform"}])
    key = iam.create_access_key(UserName=name)["AccessKey"]["AccessKeyId"]
    iam.add_user_to_group(UserName=name, GroupName=group)
    assert [tag["Key"] for tag in iam.get_user(UserName=name)["User"]["Tags"]] == ["made-by"]
    iam.untag_user(UserName=name, TagKeys=["made-by"])
    assert "Tags" not in iam.get_user(UserName=name)["User"]
    for listed in iam.list_groups_for_user(UserName=name)["Groups"]:
        iam.remove_user_from_group(UserName=name, GroupName=listed["GroupName"])
    assert [one["AccessKeyId"] for one in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]] == [key]
    iam.delete_access_key(UserName=name, AccessKeyId=key)
    assert iam.list_ssh_public_keys(UserName=name)["SSHPublicKeys"] == []
    assert iam.list_virtual_mfa_devices(AssignmentStatus="Assigned")["VirtualMFADevices"] == []
    assert iam.list_mfa_devices(UserName=name)["MFADevices"] == []
    with refused("NoSuchEntity"):
        iam.delete_login_profile(UserName=name)
    assert iam.list_signing_certificates(UserName=name)["Certificates"] == []
    assert iam.list_service_specific_credentials(UserName=name)["ServiceSpecificCredentials"] == []
    assert iam.list_user_policies(UserName=name)["PolicyNames"] == []
    assert iam.list_attached_user_policies(UserName=name)["AttachedPolicies"] == []
    iam.delete_user(UserName=name)
    with refused("NoSuchEntity"):
        iam.get_user(UserName=name)


def test_a_policy_is_replaced_by_a_version_and_the_oldest_goes(iam: Any, fresh: Fresh) -> None:
    arn = iam.create_policy(PolicyName=fresh("terraformed"), PolicyDocument=SENDING, Tags=[])["Policy"]["Arn"]
    for round_number in range(6):
        versions = iam.list_policy_versions(PolicyArn=arn)["Versions"]
        if len(versions) == 5:
            oldest = min((one for one in versions if not one["IsDefaultVersion"]), key=lambda one: one["CreateDate"])
            iam.delete_policy_version(PolicyArn=arn, VersionId=oldest["VersionId"])
        text = READING if round_number % 2 == 0 else SENDING
        iam.create_policy_version(PolicyArn=arn, PolicyDocument=text, SetAsDefault=True)
        default = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        found = iam.get_policy_version(PolicyArn=arn, VersionId=default)["PolicyVersion"]
        assert (found["Document"], found["IsDefaultVersion"]) == (json.loads(text), True)
    for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
        if not version["IsDefaultVersion"]:
            iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])
    iam.delete_policy(PolicyArn=arn)


def test_a_role_with_policies_comes_and_goes(iam: Any, fresh: Fresh, policy: str) -> None:
    name = fresh("terraformed")
    iam.create_role(RoleName=name, Path="/", AssumeRolePolicyDocument=TRUST, MaxSessionDuration=3600)
    iam.put_role_policy(RoleName=name, PolicyName="inline", PolicyDocument=SENDING)
    iam.attach_role_policy(RoleName=name, PolicyArn=policy)
    role = iam.get_role(RoleName=name)["Role"]
    assert (role["AssumeRolePolicyDocument"], role["MaxSessionDuration"]) == (json.loads(TRUST), 3600)
    assert iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"] == []
    for inline in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        assert iam.get_role_policy(RoleName=name, PolicyName=inline)["PolicyDocument"] == json.loads(SENDING)
        iam.delete_role_policy(RoleName=name, PolicyName=inline)
    for attached in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=name, PolicyArn=attached["PolicyArn"])
    iam.delete_role(RoleName=name)
    with refused("NoSuchEntity"):
        iam.get_role(RoleName=name)


def test_a_group_s_members_are_what_was_declared(iam: Any, fresh: Fresh, group: str) -> None:
    users = [fresh("member") for _ in range(3)]
    for name in users:
        iam.create_user(UserName=name)
        iam.add_user_to_group(GroupName=group, UserName=name)
    assert [member["UserName"] for member in iam.get_group(GroupName=group)["Users"]] == users
    iam.update_group(GroupName=group, NewPath="/moved/")
    for member in iam.get_group(GroupName=group)["Users"]:
        iam.remove_user_from_group(GroupName=group, UserName=member["UserName"])
    iam.delete_group(GroupName=group)
