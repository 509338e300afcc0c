"""Users are made, found, renamed and deleted as Amazon's are."""

import re
from collections.abc import Callable
from typing import Any

from .conftest import Fresh
from .saying import ACCOUNT, SENDING, refused


def test_a_user_has_a_path_an_id_an_arn_and_tags(iam: Any, fresh: Fresh) -> None:
    name = fresh("Anna")
    made = iam.create_user(UserName=name, Path="/dev/team/", Tags=[{"Key": "team", "Value": "shop"}])["User"]
    assert re.fullmatch("AIDA[A-Z2-7]{17}", made["UserId"])
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/dev/team/{name}"
    assert (made["Path"], made["Tags"]) == ("/dev/team/", [{"Key": "team", "Value": "shop"}])
    assert iam.get_user(UserName=name)["User"] == made


def test_names_are_the_same_whatever_the_case_and_kept_as_they_were_given(iam: Any, fresh: Fresh) -> None:
    name = fresh("Anna")
    iam.create_user(UserName=name)
    assert iam.get_user(UserName=name.lower())["User"]["UserName"] == name
    with refused("EntityAlreadyExists", f"User with name {name.upper()} already exists."):
        iam.create_user(UserName=name.upper())


def test_a_user_that_is_not_there_is_missed_by_every_operation(iam: Any, policy: str) -> None:
    words = "The user with name nobody cannot be found."
    for call, more in (
        (iam.get_user, {}),
        (iam.delete_user, {}),
        (iam.update_user, {"NewPath": "/x/"}),
        (iam.create_access_key, {}),
        (iam.list_access_keys, {}),
        (iam.list_groups_for_user, {}),
        (iam.list_user_policies, {}),
        (iam.put_user_policy, {"PolicyName": "p", "PolicyDocument": SENDING}),
        (iam.attach_user_policy, {"PolicyArn": policy}),
        (iam.tag_user, {"Tags": [{"Key": "a", "Value": "b"}]}),
        (iam.put_user_permissions_boundary, {"PermissionsBoundary": policy}),
        (iam.list_mfa_devices, {}),
        (iam.get_login_profile, {}),
    ):
        with refused("NoSuchEntity", words):
            call(UserName="nobody", **more)


def test_the_account_itself_asks_who_it_is(iam: Any) -> None:
    assert iam.get_user()["User"]["Arn"] == f"arn:aws:iam::{ACCOUNT}:root"


def test_a_user_under_another_name_has_the_same_id_keys_groups_and_policies(
    iam: Any, fresh: Fresh, user: str, group: str, policy: str, by_key: Callable[..., Any]
) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]
    iam.add_user_to_group(GroupName=group, UserName=user)
    iam.put_user_policy(UserName=user, PolicyName="inline", PolicyDocument=SENDING)
    iam.attach_user_policy(UserName=user, PolicyArn=policy)
    before, after = iam.get_user(UserName=user)["User"], fresh("renamed")
    iam.update_user(UserName=user, NewUserName=after, NewPath="/moved/")
    found = iam.get_user(UserName=after)["User"]
    assert found["UserId"] == before["UserId"]
    assert found["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/moved/{after}"
    assert [listed["UserName"] for listed in iam.list_access_keys(UserName=after)["AccessKeyMetadata"]] == [after]
    assert [member["UserName"] for member in iam.get_group(GroupName=group)["Users"]] == [after]
    assert iam.list_user_policies(UserName=after)["PolicyNames"] == ["inline"]
    assert iam.list_attached_user_policies(UserName=after)["AttachedPolicies"][0]["PolicyArn"] == policy
    assert by_key(key).get_caller_identity()["Arn"] == found["Arn"]
    with refused("NoSuchEntity"):
        iam.get_user(UserName=user)
    iam.create_user(UserName=user)
    assert iam.list_access_keys(UserName=user)["AccessKeyMetadata"] == []


def test_a_name_changes_its_case_and_nothing_is_lost(iam: Any, user: str) -> None:
    iam.create_access_key(UserName=user)
    iam.update_user(UserName=user, NewUserName=user.upper())
    assert iam.get_user(UserName=user)["User"]["UserName"] == user.upper()
    assert len(iam.list_access_keys(UserName=user)["AccessKeyMetadata"]) == 1


def test_a_user_does_not_take_the_name_of_another(iam: Any, fresh: Fresh, user: str) -> None:
    other = fresh("other")
    iam.create_user(UserName=other)
    with refused("EntityAlreadyExists", f"User with name {other} already exists."):
        iam.update_user(UserName=user, NewUserName=other)


def test_a_user_is_deleted_when_nothing_hangs_on_it(iam: Any, user: str, group: str, policy: str) -> None:
    key = iam.create_access_key(UserName=user)["AccessKey"]["AccessKeyId"]
    iam.attach_user_policy(UserName=user, PolicyArn=policy)
    iam.put_user_policy(UserName=user, PolicyName="inline", PolicyDocument=SENDING)
    iam.add_user_to_group(GroupName=group, UserName=user)
    for first, remove in (
        ("delete access keys", lambda: iam.delete_access_key(UserName=user, AccessKeyId=key)),
        ("detach all policies", lambda: iam.detach_user_policy(UserName=user, PolicyArn=policy)),
        ("delete policies", lambda: iam.delete_user_policy(UserName=user, PolicyName="inline")),
        ("remove users from group", lambda: iam.remove_user_from_group(GroupName=group, UserName=user)),
    ):
        with refused("DeleteConflict", f"Cannot delete entity, must {first} first."):
            iam.delete_user(UserName=user)
        remove()
    iam.delete_user(UserName=user)
    with refused("NoSuchEntity"):
        iam.get_user(UserName=user)


def test_a_user_made_again_is_another(iam: Any, user: str) -> None:
    before = iam.get_user(UserName=user)["User"]["UserId"]
    iam.delete_user(UserName=user)
    assert iam.create_user(UserName=user)["User"]["UserId"] != before
