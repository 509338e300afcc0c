"""Which policies hold for a principal: its own, its groups', its boundary, and those of its session.

Decisions and simulations both ask here. Documents were checked when they were set. One that cannot be read all the
same, as an older version may have let it in, denies everything, and a boundary that is not there allows nothing: what
is not understood never opens a door.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from penstock.core.directory import Bounded, Directory, Holder, User
from penstock.core.identity import Kind, Principal
from penstock.core.policy import Grants, Policy, PolicyError, Use, read_policy

_ALL = '{"Version":"2012-10-17","Statement":[{"Effect":"%s","Action":"*","Resource":"*"}]}'
EVERYTHING = read_policy(_ALL % "Allow", Use.IDENTITY, "everything")
NO_GRANTS = Grants()
MANAGED = "user-managed"


class Standing:
    """What a principal has been granted, until something in the directory changes. `asked` are the keys of conditions
    and the variables in it. A standing equals itself alone."""

    __slots__ = ("asked", "grants")

    def __init__(self, grants: Grants) -> None:
        self.grants = grants
        bound = () if grants.boundary is None else (grants.boundary,)
        policies = (*grants.identity, *bound, *(grants.session or ()))
        self.asked = tuple(sorted({key for policy in policies for key in policy.keys}))


class Held(NamedTuple):
    """A policy, its text, and where it is from: its own name is what decisions call it, `kind` what simulations do."""

    policy: Policy
    kind: str
    document: str


@lru_cache(maxsize=4096)
def compiled(document: str, name: str) -> Policy:
    try:
        return read_policy(document, Use.IDENTITY, name)
    except PolicyError:
        return read_policy(_ALL % "Deny", Use.IDENTITY, name)


def grants_of(principal: Principal, directory: Directory) -> Grants:
    """What an account itself may is not a matter of policies; but whom it vouches for may what the session says."""
    session = principal.session.policies if principal.session else None
    narrowed = None if session is None else tuple(compiled(document, "") for document in session)
    holder = _holder(principal, directory)
    if holder is not None:
        boundary = boundary_of(holder, directory)
        return Grants(
            tuple(held.policy for held in held_by(holder, directory)), boundary.policy if boundary else None, narrowed
        )
    if principal.kind is Kind.FEDERATED and not principal.owner:
        return Grants((EVERYTHING,), None, narrowed)
    return NO_GRANTS if narrowed is None else Grants((), None, narrowed)


def _holder(principal: Principal, directory: Directory) -> Bounded | None:
    if not principal.owner:
        return None
    find = directory.role if principal.kind is Kind.ROLE else directory.user
    return find(principal.account, principal.owner)


def held_by(holder: Holder, directory: Directory) -> Iterator[Held]:
    """Those that hang on somebody, and on the groups it is in."""
    groups: Iterable[Holder] = directory.groups_of(holder) if isinstance(holder, User) else ()
    for each in (holder, *groups):
        word = type(each).__name__.lower()
        for name, document in each.inline.items():
            yield Held(compiled(document, f"{word}_{each.name}_{name}"), word, document)
        for arn in each.attached:
            if managed := directory.policy_by_arn.get(arn):
                yield Held(compiled(managed.document, arn), MANAGED, managed.document)


def boundary_of(holder: Holder, directory: Directory) -> Held | None:
    if not isinstance(holder, Bounded) or holder.boundary is None:
        return None
    managed = directory.policy_by_arn.get(holder.boundary)
    document = managed.document if managed else _ALL % "Deny"
    return Held(compiled(document, holder.boundary), MANAGED, document)
