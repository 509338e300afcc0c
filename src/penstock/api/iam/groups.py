"""Groups, and who is in them. A membership is kept with the user: what holds for whom is asked for more often."""

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.nouns import GROUPS, USERS, by_name, check_bare
from penstock.api.iam.paging import page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import in_use, no_such, over_quota
from penstock.aws import iam
from penstock.core.directory import Directory, Group, User, named


def members(directory: Directory, group: Group) -> list[User]:
    name = named(group.name)
    return [user for user in directory.all_of(User, group.account) if name in map(named, user.groups)]


async def create_group(call: Call, request: iam.CreateGroupRequest) -> iam.CreateGroupResponse:
    async with call.site.identities.changing() as directory:
        group = Group(**GROUPS.new(call, directory, request))
        await call.site.identities.save(group)
    return iam.CreateGroupResponse(Group=shown.group(group))


async def get_group(call: Call, request: iam.GetGroupRequest) -> iam.GetGroupResponse:
    directory = call.site.identities.directory
    group = GROUPS.asked(call, directory, request)
    found = page(request, members(directory, group), by_name)
    users = [shown.user(user, whole=False) for user in found.items]
    return iam.GetGroupResponse(Group=shown.group(group), Users=users, **found.rest)


async def list_groups(call: Call, request: iam.ListGroupsRequest) -> iam.ListGroupsResponse:
    found = GROUPS.listed(call, request)
    return iam.ListGroupsResponse(Groups=[shown.group(group) for group in found.items], **found.rest)


async def list_groups_for_user(
    call: Call, request: iam.ListGroupsForUserRequest
) -> iam.ListGroupsForUserResponse:  # fmt: skip
    directory = call.site.identities.directory
    groups = directory.groups_of(USERS.asked(call, directory, request))
    found = page(request, groups, by_name)
    return iam.ListGroupsForUserResponse(Groups=[shown.group(group) for group in found.items], **found.rest)


async def update_group(call: Call, request: iam.UpdateGroupRequest) -> None:
    async with call.site.identities.changing() as directory:
        group = GROUPS.asked(call, directory, request)
        name = request.NewGroupName or group.name
        if named(name) != named(group.name):
            GROUPS.check_free(directory, group.account, name)
        changed = replace(group, name=name, path=request.NewPath or group.path)
        users = [_renamed(user, group.name, name) for user in members(directory, group)]
        await call.site.identities.save(changed, *users, removed=[group] if group.key != changed.key else [])


def _renamed(user: User, old: str, new: str) -> User:
    return replace(user, groups=tuple(new if named(name) == named(old) else name for name in user.groups))


async def delete_group(call: Call, request: iam.DeleteGroupRequest) -> None:
    async with call.site.identities.changing() as directory:
        group = GROUPS.asked(call, directory, request)
        if members(directory, group):
            raise in_use("remove users from group")
        check_bare(group)
        await call.site.identities.save(removed=[group])


async def add_user_to_group(call: Call, request: iam.AddUserToGroupRequest) -> None:
    async with call.site.identities.changing() as directory:
        group, user = GROUPS.asked(call, directory, request), USERS.asked(call, directory, request)
        if named(group.name) in map(named, user.groups):
            return
        most = QUOTAS["GroupsPerUserQuota"]
        if len(user.groups) >= most:
            raise over_quota("GroupsPerUser", most)
        await call.site.identities.save(replace(user, groups=(*user.groups, group.name)))


async def remove_user_from_group(call: Call, request: iam.RemoveUserFromGroupRequest) -> None:
    async with call.site.identities.changing() as directory:
        group, user = GROUPS.asked(call, directory, request), USERS.asked(call, directory, request)
        rest = tuple(name for name in user.groups if named(name) != named(group.name))
        if rest == user.groups:
            raise no_such(f"The user with name {user.name} is not in the group with name {group.name}.")
        await call.site.identities.save(replace(user, groups=rest))


OPERATIONS: dict[str, Operation] = {
    "CreateGroup": create_group,
    "GetGroup": get_group,
    "ListGroups": list_groups,
    "ListGroupsForUser": list_groups_for_user,
    "UpdateGroup": update_group,
    "DeleteGroup": delete_group,
    "AddUserToGroup": add_user_to_group,
    "RemoveUserFromGroup": remove_user_from_group,
}
