"""Groups and who is in them."""

import re
from typing import Any

from .conftest import Fresh
from .saying import ACCOUNT, SENDING, refused


def groups_of(iam: Any, user: str) -> list[str]:
    return [group["GroupName"] for group in iam.list_groups_for_user(UserName=user)["Groups"]]


def test_a_group_has_a_path_an_id_and_an_arn(iam: Any, fresh: Fresh) -> None:
    name = fresh("senders")
    made = iam.create_group(GroupName=name, Path="/x/")["Group"]
    assert re.fullmatch("AGPA[A-Z2-7]{17}", made["GroupId"])
    assert made["Arn"] == f"arn:aws:iam::{ACCOUNT}:group/x/{name}"
    assert iam.get_group(GroupName=name)["Group"] == made
    with refused("EntityAlreadyExists", f"Group with name {name} already exists."):
        iam.create_group(GroupName=name)


def test_users_come_and_go(iam: Any, user: str, group: str) -> None:
    for _ in range(2):
        iam.add_user_to_group(GroupName=group, UserName=user)
    assert groups_of(iam, user) == [group]
    assert [member["UserName"] for member in iam.get_group(GroupName=group)["Users"]] == [user]
    iam.remove_user_from_group(GroupName=group, UserName=user)
    assert groups_of(iam, user) == []
    with refused("NoSuchEntity", f"The user with name {user} is not in the group with name {group}."):
        iam.remove_user_from_group(GroupName=group, UserName=user)


def test_a_group_that_is_not_there_is_missed(iam: Any, user: str) -> None:
    for call in (iam.get_group, iam.delete_group, iam.list_group_policies, iam.list_attached_group_policies):
        with refused("NoSuchEntity", "The group with name nowhere cannot be found."):
            call(GroupName="nowhere")
    with refused("NoSuchEntity", "The group with name nowhere cannot be found."):
        iam.add_user_to_group(GroupName="nowhere", UserName=user)


def test_a_user_is_in_ten_groups_at_most(iam: Any, fresh: Fresh, user: str) -> None:
    for name in [fresh("of-ten") for _ in range(10)]:
        iam.create_group(GroupName=name)
        iam.add_user_to_group(GroupName=name, UserName=user)
    last = fresh("eleventh")
    iam.create_group(GroupName=last)
    with refused("LimitExceeded", "Cannot exceed quota for GroupsPerUser: 10"):
        iam.add_user_to_group(GroupName=last, UserName=user)


def test_a_renamed_group_keeps_its_members(iam: Any, fresh: Fresh, user: str, group: str) -> None:
    iam.add_user_to_group(GroupName=group, UserName=user)
    after = fresh("renamed")
    iam.update_group(GroupName=group, NewGroupName=after, NewPath="/moved/")
    assert groups_of(iam, user) == [after]
    assert iam.get_group(GroupName=after)["Group"]["Arn"] == f"arn:aws:iam::{ACCOUNT}:group/moved/{after}"
    with refused("NoSuchEntity"):
        iam.get_group(GroupName=group)


def test_a_group_is_deleted_when_nothing_hangs_on_it(iam: Any, user: str, group: str, policy: str) -> None:
    iam.add_user_to_group(GroupName=group, UserName=user)
    iam.attach_group_policy(GroupName=group, PolicyArn=policy)
    iam.put_group_policy(GroupName=group, PolicyName="inline", PolicyDocument=SENDING)
    for first, remove in (
        ("remove users from group", lambda: iam.remove_user_from_group(GroupName=group, UserName=user)),
        ("detach all policies", lambda: iam.detach_group_policy(GroupName=group, PolicyArn=policy)),
        ("delete policies", lambda: iam.delete_group_policy(GroupName=group, PolicyName="inline")),
    ):
        with refused("DeleteConflict", f"Cannot delete entity, must {first} first."):
            iam.delete_group(GroupName=group)
        remove()
    iam.delete_group(GroupName=group)
