"""What each operation is about, as an ARN: for whoever decides whether the caller may.

The ARN is that of what there is: a name in other letters, or without its path, is the same user. What is not there has
the ARN that it would have. What is about the account as a whole is about `*`.

A refusal calls a thing as the request does, in Amazon's words (`CALLED`): its ARN would tell that it is there, and its
path.
"""

from collections.abc import Callable
from typing import Any

from penstock.api.call import Call
from penstock.api.iam.nouns import GROUPS, ROLES, USERS, Noun
from penstock.aws.iam import SERVICE
from penstock.core.directory import Titled
from penstock.core.identity import Kind

Resource = Callable[[Call, Any], str]

EVERYTHING = "*"


def _arn(call: Call, kind: str, path: str, name: str) -> str:
    return f"arn:aws:iam::{call.principal.account}:{kind}{path}{name}"


def _of(noun: Noun[Titled]) -> Resource:
    kind, member = noun.word.lower(), f"{noun.word}Name"

    def resource(call: Call, request: Any) -> str:
        name = getattr(request, member)
        if name is None:
            return _own(call)
        found = noun.find(call.site.identities.directory, call.principal.account, name)
        path, name = (found.path, found.name) if found else (getattr(request, "Path", None) or "/", name)
        return _arn(call, kind, path, name)

    return resource


def _own(call: Call) -> str:
    """A caller that names no user is about itself."""
    who = call.principal
    user = call.site.identities.directory.user(who.account, who.owner) if who.kind is Kind.USER else None
    return user.arn if user else who.arn


def _new_policy(call: Call, request: Any) -> str:
    return _arn(call, "policy", request.Path or "/", request.PolicyName)


def _policy(call: Call, request: Any) -> str:
    return str(request.PolicyArn)


def _source(call: Call, request: Any) -> str:
    return str(request.PolicySourceArn)


def _called(noun: Noun[Titled], prefix: str = "") -> Resource:
    """As `user anna`; of a caller that names no user, itself. `prefix` is that of the member with the name."""
    kind, member = noun.word.lower(), f"{noun.word}Name"

    def called(call: Call, request: Any) -> str:
        who, name = call.principal, getattr(request, f"{prefix}{member}") or getattr(request, member)
        own = who.owner if who.kind is Kind.USER else ""
        return f"{kind} {name or own}" if name or own else who.arn

    return called


def _to_be(noun: Noun[Titled]) -> Resource:
    def called(call: Call, request: Any) -> str:
        return _arn(call, noun.word.lower(), request.Path or "/", getattr(request, f"{noun.word}Name"))

    return called


def _policy_called(call: Call, request: Any) -> str:
    return f"policy {request.PolicyArn}"


def _key_called(call: Call, request: Any) -> str:
    return f"access key {request.AccessKeyId}"


def _key_owner(call: Call, request: Any) -> str:
    directory, account = call.site.identities.directory, call.principal.account
    key = directory.keys.get(request.AccessKeyId)
    if key is None or key.account != account:
        return EVERYTHING
    user = directory.user(account, key.user)
    return user.arn if user else f"arn:aws:iam::{account}:root"


def _everything(call: Call, request: Any) -> str:
    return EVERYTHING


BY_MEMBER: tuple[tuple[str, Resource, Resource], ...] = (
    ("GroupName", _of(GROUPS), _called(GROUPS)),
    ("RoleName", _of(ROLES), _called(ROLES)),
    ("UserName", _of(USERS), _called(USERS)),
    ("PolicyArn", _policy, _policy_called),
    ("PolicySourceArn", _source, _source),
)
"""The first of these members that an operation has says what it is about, and what a refusal calls that: to put a user
into a group is about the group, to attach a policy is about whom it is attached to."""

EXCEPTIONS: dict[str, tuple[Resource, Resource]] = {
    "CreateGroup": (_of(GROUPS), _to_be(GROUPS)),
    "CreatePolicy": (_new_policy, _new_policy),
    "CreateRole": (_of(ROLES), _to_be(ROLES)),
    "CreateUser": (_of(USERS), _to_be(USERS)),
    "GetAccessKeyLastUsed": (_key_owner, _key_called),
}


def _about(action: str) -> tuple[Resource, Resource]:
    operation = SERVICE.operations[action]
    members = SERVICE.shape(operation.input_shape)["members"] if operation.input_shape else {}
    found = ((resource, called) for member, resource, called in BY_MEMBER if member in members)
    return EXCEPTIONS.get(action) or next(found, (_everything, _everything))


RESOURCES: dict[str, Resource] = {action: _about(action)[0] for action in SERVICE.operations}
CALLED: dict[str, Resource] = {action: _about(action)[1] for action in SERVICE.operations}


def _new_name(noun: Noun[Titled]) -> Resource:
    kind, find = noun.word.lower(), noun.find

    def resource(call: Call, request: Any) -> str:
        name = getattr(request, f"{noun.word}Name")
        found = find(call.site.identities.directory, call.principal.account, name)
        path = request.NewPath or (found.path if found else "/")
        return _arn(call, kind, path, getattr(request, f"New{noun.word}Name") or (found.name if found else name))

    return resource


ALSO: dict[str, tuple[Resource, Resource]] = {
    "UpdateUser": (_new_name(USERS), _called(USERS, "New")),
    "UpdateGroup": (_new_name(GROUPS), _called(GROUPS, "New")),
}
"""What an operation is about besides, and what a refusal calls that: who renames must have the right to the new name
too, or could take one that somebody else's policies trust."""

TAGGING: dict[str, str] = {"CreateUser": "TagUser", "CreateRole": "TagRole", "CreatePolicy": "TagPolicy"}
"""Who makes something with tags must have the right to tag it too: what they may do can depend on its tags."""
