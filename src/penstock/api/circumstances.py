"""What conditions of policies can ask about a request: by the names of their keys, in lower case, each worked out when
it is asked for. Most policies have no conditions, and then nothing is.

A key that does not apply (the name of a user who is none, a tag that is not there) is not in it.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from penstock.api.call import Call
from penstock.core.directory import Bounded, ManagedPolicy, Role, User
from penstock.core.identity import Kind
from penstock.core.queue import Queue

Value = str | tuple[str, ...]

KINDS = {
    Kind.ROOT: "Account",
    Kind.USER: "User",
    Kind.ROLE: "AssumedRole",
    Kind.FEDERATED: "FederatedUser",
    Kind.ANONYMOUS: "Anonymous",
}
ATTACHING = {f"{verb}{noun}Policy" for verb in ("Attach", "Detach") for noun in ("User", "Group", "Role")}
SETTING_BOUNDS = {"CreateUser", "CreateRole", "PutUserPermissionsBoundary", "PutRolePermissionsBoundary"}
WITHIN_BOUNDS = {
    action.format(noun)
    for action in ("Attach{}Policy", "Detach{}Policy", "Put{}Policy", "Delete{}Policy", "Delete{}PermissionsBoundary")
    for noun in ("User", "Role")
}
"""The operations that Amazon gives the keys iam:PolicyARN and iam:PermissionsBoundary to."""


class Circumstances(Mapping[str, Value]):
    """Of one request. `queue` is what was found of the queue that it is about, `owner` whose the thing is, `arn` which
    thing if it is one of IAM's."""

    __slots__ = ("arn", "call", "owner", "queue")

    def __init__(self, call: Call, queue: Queue | None, owner: str, arn: str = "") -> None:
        self.call, self.queue, self.owner, self.arn = call, queue, owner, arn

    @property
    def entity(self) -> User | Role | ManagedPolicy | None:
        """The user, role or policy that it is about, if there is one."""
        return self.call.site.identities.directory.tagged_at(self.arn) if self.arn else None

    def __getitem__(self, key: str) -> Value:
        value = finder(key)(self)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        tagged = (f"{family}/{name.lower()}" for family, tags in FAMILIES.items() for name in tags(self))
        return (key for key in (*KEYS, *tagged) if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def iso(milliseconds: int) -> str:
    return _iso(milliseconds // 1000)


@lru_cache(maxsize=256)
def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _principal_arn(of: Circumstances) -> str | None:
    """Of a session of a role it is the role's: what a policy can name before there is a session."""
    who = of.call.principal
    if who.kind is Kind.ROLE:
        role = of.call.site.identities.directory.role(who.account, who.owner)
        return role.arn if role else who.arn
    return who.arn or None


def _user_id(of: Circumstances) -> str:
    who = of.call.principal
    return "anonymous" if who.kind is Kind.ANONYMOUS else who.user_id


def _user_name(of: Circumstances) -> str | None:
    who = of.call.principal
    return who.owner if who.kind is Kind.USER else None


def _user_agent(of: Circumstances) -> str | None:
    given = of.call.http.headers.get(b"user-agent")
    return given.decode("latin-1") if given else None


def _issued(of: Circumstances) -> str | None:
    session = of.call.principal.session
    return iso(session.issued) if session else None


def _tag_keys(of: Circumstances) -> tuple[str, ...] | None:
    given = getattr(of.call.request, "TagKeys", None)
    return tuple(given or tags_brought(of.call)) or None


def tags_brought(call: Call) -> Mapping[str, str]:
    """The tags that the request would put on something: SQS writes them as a map, IAM and STS as a list."""
    request: Any = call.request
    given = getattr(request, "tags", None) or getattr(request, "Tags", None) or {}
    return given if isinstance(given, dict) else {tag.Key: tag.Value for tag in given}


def resource_tags(of: Circumstances) -> Mapping[str, str]:
    if of.queue:
        return of.queue.tags
    return entity_tags(of)


def entity_tags(of: Circumstances) -> Mapping[str, str]:
    return of.entity.tags if of.entity else {}


def _policy_arn(of: Circumstances) -> str | None:
    """Which policy is to be attached or detached."""
    return of.call.request.PolicyArn if of.call.action in ATTACHING else None


def _boundary(of: Circumstances) -> str | None:
    """The boundary that a request would set; of one that changes what somebody may, the boundary that is there."""
    if of.call.action in SETTING_BOUNDS:
        given: str | None = of.call.request.PermissionsBoundary
        return given
    entity = of.entity if of.call.action in WITHIN_BOUNDS else None
    return entity.boundary if isinstance(entity, Bounded) else None


def _tag(tags: Mapping[str, str], name: str) -> str | None:
    """Names of keys are the same in any case, those of tags are not: of several the first in order is meant."""
    found = [key for key in tags if key.lower() == name]
    return tags[min(found)] if found else None


Find = Callable[[Circumstances], Value | None]

KEYS: dict[str, Find] = {
    "aws:currenttime": lambda of: iso(of.call.arrived),
    "aws:epochtime": lambda of: str(of.call.arrived // 1000),
    "aws:principalaccount": lambda of: of.call.principal.account or None,
    "aws:principalarn": _principal_arn,
    "aws:principaltype": lambda of: KINDS[of.call.principal.kind],
    "aws:requestedregion": lambda of: of.call.region,
    "aws:resourceaccount": lambda of: of.owner,
    "aws:securetransport": lambda of: "true" if of.call.site.addresses.secure(of.call.http) else "false",
    "aws:sourceip": lambda of: of.call.site.addresses.peer_of(of.call.http),
    "aws:tagkeys": _tag_keys,
    "aws:tokenissuetime": _issued,
    "aws:useragent": _user_agent,
    "aws:userid": _user_id,
    "aws:username": _user_name,
    "iam:permissionsboundary": _boundary,
    "iam:policyarn": _policy_arn,
}
FAMILIES: dict[str, Callable[[Circumstances], Mapping[str, str]]] = {
    "aws:principaltag": lambda of: of.call.principal.tags,
    "aws:requesttag": lambda of: tags_brought(of.call),
    "aws:resourcetag": resource_tags,
    "iam:resourcetag": entity_tags,
}


@lru_cache(maxsize=4096)
def finder(key: str) -> Find:
    """How the value of a key is found. One that nothing is known of has none."""
    family, _, name = key.partition("/")
    tags = FAMILIES.get(family)
    if tags is None:
        return KEYS.get(key, lambda of: None)
    return lambda of: _tag(tags(of), name)
