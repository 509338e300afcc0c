"""The accounts, users, groups, roles, policies and keys that there are, in memory.

A `Directory` is what the records of a store say, indexed for those who ask on every request; it is changed only by
records (`take`, `drop`), and refuses to know what a valid change is: operations check that, and stores keep it.

Names of users, groups, roles and policies are the same when they differ only in case, as with Amazon, so they are
looked up through `named`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from penstock.core.identity import Kind, Principal


class RecordKey(NamedTuple):
    """Under what a record is kept."""

    kind: str
    account: str
    name: str


class Record(NamedTuple):
    key: RecordKey
    value: bytes


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """What all of them have. `created` is epoch milliseconds."""

    account: str
    name: str
    created: int = 0

    @property
    def key(self) -> RecordKey:
        return RecordKey(KINDS[type(self)], self.account, named(self.name))


class Account(Entity, frozen=True, kw_only=True):
    """`account` is its twelve digits, `name` the same again; `title` what people call it."""

    title: str = ""
    most_queues: int | None = None


class Titled(Entity, frozen=True, kw_only=True):
    """What has a path and an id of its own, which outlives no deletion."""

    id: str
    path: str = "/"

    @property
    def arn(self) -> str:
        return f"arn:aws:iam::{self.account}:{KINDS[type(self)]}{self.path}{self.name}"


class Holder(Titled, frozen=True, kw_only=True):
    """What policies hang on: inline ones by name, as documents; attached ones by ARN."""

    inline: dict[str, str] = {}
    attached: tuple[str, ...] = ()


class Bounded(Holder, frozen=True, kw_only=True):
    boundary: str | None = None
    """The ARN of a managed policy that says the most it can be allowed."""
    tags: dict[str, str] = {}


class User(Bounded, frozen=True, kw_only=True):
    groups: tuple[str, ...] = ()

    @property
    def principal(self) -> Principal:
        """As whom it calls."""
        return Principal(self.account, self.arn, self.id, Kind.USER, self.name, self.tags)


class Group(Holder, frozen=True, kw_only=True):
    """Who is in it, its users know."""


class Role(Bounded, frozen=True, kw_only=True):
    trust: str
    """The document that says who may assume it."""
    description: str = ""
    most_session_seconds: int = 3600


class Version(msgspec.Struct, frozen=True):
    document: str
    created: int


class ManagedPolicy(Titled, frozen=True, kw_only=True):
    versions: dict[str, Version]
    default: str
    """Which of the versions is in force: `v1`, `v2`, …"""
    last: int = 1
    """The number of the newest version there ever was."""
    description: str = ""
    updated: int = 0
    tags: dict[str, str] = {}

    @property
    def document(self) -> str:
        return self.versions[self.default].document


class AccessKey(Entity, frozen=True, kw_only=True):
    """`name` is the access key id; `user` is empty for a key of the account itself. `secret` is sealed."""

    user: str = ""
    secret: bytes = b""
    active: bool = True
    used: int | None = None
    used_region: str = ""
    used_service: str = ""


KINDS: dict[type[Entity], str] = {
    Account: "account",
    User: "user",
    Group: "group",
    Role: "role",
    ManagedPolicy: "policy",
    AccessKey: "key",
}
_DECODERS = {kind: msgspec.msgpack.Decoder(entity).decode for entity, kind in KINDS.items()}


def named(name: str) -> str:
    return name.lower()


def written(entity: Entity) -> Record:
    return Record(entity.key, msgspec.msgpack.encode(entity))


def read(record: Record) -> Any:
    return _DECODERS[record.key.kind](record.value)


E = TypeVar("E", bound=Entity)


class Directory:
    """Everything by (account, name), the name as `named` has it; keys by their id, policies also by their ARN."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.users: dict[tuple[str, str], User] = {}
        self.groups: dict[tuple[str, str], Group] = {}
        self.roles: dict[tuple[str, str], Role] = {}
        self.policies: dict[tuple[str, str], ManagedPolicy] = {}
        self.keys: dict[str, AccessKey] = {}
        self.policy_by_arn: dict[str, ManagedPolicy] = {}
        self._keys_of: dict[tuple[str, str], dict[str, AccessKey]] = {}
        self._of: dict[tuple[str, str], dict[RecordKey, Any]] = {}
        self._places: Mapping[str, dict[Any, Any]] = {
            "account": self.accounts,
            "user": self.users,
            "group": self.groups,
            "role": self.roles,
            "policy": self.policies,
            "key": self.keys,
        }

    def take(self, entity: Entity) -> None:
        """It is there now, in place of an older state of itself."""
        place = self._places[entity.key.kind]
        if earlier := place.get(_place(entity)):
            self.drop(earlier)
        place[_place(entity)] = entity
        self._of.setdefault((entity.key.kind, entity.account), {})[entity.key] = entity
        match entity:
            case ManagedPolicy():
                self.policy_by_arn[entity.arn] = entity
            case AccessKey():
                self._keys_of.setdefault((entity.account, named(entity.user)), {})[entity.name] = entity

    def drop(self, entity: Entity) -> None:
        self._places[entity.key.kind].pop(_place(entity), None)
        self._of.get((entity.key.kind, entity.account), {}).pop(entity.key, None)
        match entity:
            case ManagedPolicy():
                self.policy_by_arn.pop(entity.arn, None)
            case AccessKey():
                self._keys_of.get((entity.account, named(entity.user)), {}).pop(entity.name, None)

    def user(self, account: str, name: str) -> User | None:
        return self.users.get((account, named(name)))

    def group(self, account: str, name: str) -> Group | None:
        return self.groups.get((account, named(name)))

    def role(self, account: str, name: str) -> Role | None:
        return self.roles.get((account, named(name)))

    def policy(self, account: str, name: str) -> ManagedPolicy | None:
        return self.policies.get((account, named(name)))

    def tagged_at(self, arn: str) -> User | Role | ManagedPolicy | None:
        """The user, role or policy with exactly this ARN."""
        kind, _, name = arn.rpartition(":")[2].partition("/")
        account, name = arn.removeprefix("arn:aws:iam::").partition(":")[0], name.rpartition("/")[2]
        found: User | Role | ManagedPolicy | None = None
        if kind == "user":
            found = self.user(account, name)
        elif kind == "role":
            found = self.role(account, name)
        elif kind == "policy":
            found = self.policy(account, name)
        return found if found is not None and found.arn == arn else None

    def keys_of(self, account: str, user: str) -> list[AccessKey]:
        """Oldest first; those of the account itself if `user` is empty."""
        return sorted(self._keys_of.get((account, named(user)), {}).values(), key=lambda key: (key.created, key.name))

    def groups_of(self, user: User) -> list[Group]:
        found = (self.group(user.account, name) for name in user.groups)
        return [group for group in found if group is not None]

    def all_of(self, kind: type[E], account: str) -> Collection[E]:
        """Those of one kind, in no order."""
        return self._of.get((KINDS[kind], account), {}).values()

    def everything(self) -> Iterator[Entity]:
        for place in self._places.values():
            yield from list(place.values())

    def everything_of(self, account: str) -> Iterator[Entity]:
        for kind in KINDS:
            yield from list(self.all_of(kind, account))


def _place(entity: Entity) -> Any:
    match entity:
        case Account():
            return entity.account
        case AccessKey():
            return entity.name
    return entity.account, named(entity.name)
