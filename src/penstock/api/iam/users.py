"""Users: who they are, not what they may do."""

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.boundaries import bounding
from penstock.api.iam.nouns import USERS, check_bare, user_meant
from penstock.api.iam.refusals import in_use
from penstock.api.iam.tags import checked_tags
from penstock.aws import iam
from penstock.core.directory import User, named


async def create_user(call: Call, request: iam.CreateUserRequest) -> iam.CreateUserResponse:
    async with call.site.identities.changing() as directory:
        user = User(
            **USERS.new(call, directory, request),
            boundary=bounding(call, directory, request.PermissionsBoundary),
            tags=checked_tags({}, request.Tags or []),
        )
        await call.site.identities.save(user)
    return iam.CreateUserResponse(User=shown.user(user))


async def get_user(call: Call, request: iam.GetUserRequest) -> iam.GetUserResponse:
    user = user_meant(call, call.site.identities.directory, request.UserName)
    return iam.GetUserResponse(User=shown.user(user) if user else _account_itself(call))


def _account_itself(call: Call) -> iam.User:
    account = call.site.identities.directory.accounts.get(call.principal.account)
    return iam.User(
        Path="/",
        UserName="root",
        UserId=call.principal.user_id,
        Arn=call.principal.arn,
        CreateDate=shown.moment(account.created if account else 0),
    )


async def list_users(call: Call, request: iam.ListUsersRequest) -> iam.ListUsersResponse:
    found = USERS.listed(call, request)
    return iam.ListUsersResponse(Users=[shown.user(user, whole=False) for user in found.items], **found.rest)


async def update_user(call: Call, request: iam.UpdateUserRequest) -> None:
    """Under another name it has the same id, keys, groups and policies."""
    async with call.site.identities.changing() as directory:
        user = USERS.asked(call, directory, request)
        name = request.NewUserName or user.name
        if named(name) != named(user.name):
            USERS.check_free(directory, user.account, name)
        changed = replace(user, name=name, path=request.NewPath or user.path)
        keys = [replace(key, user=name) for key in directory.keys_of(user.account, user.name) if key.user != name]
        await call.site.identities.save(changed, *keys, removed=[user] if user.key != changed.key else [])


async def delete_user(call: Call, request: iam.DeleteUserRequest) -> None:
    async with call.site.identities.changing() as directory:
        user = USERS.asked(call, directory, request)
        if directory.keys_of(user.account, user.name):
            raise in_use("delete access keys")
        check_bare(user)
        if user.groups:
            raise in_use("remove users from group")
        await call.site.identities.save(removed=[user])


OPERATIONS: dict[str, Operation] = {
    "CreateUser": create_user,
    "GetUser": get_user,
    "ListUsers": list_users,
    "UpdateUser": update_user,
    "DeleteUser": delete_user,
}
