"""Which policies hold for a principal: its own, its groups', its boundary, and those of its session, to decide by.

Documents were checked when they were set. One that cannot be read all the same, as an older version may have let it
in, denies everything, and a boundary that is not there allows nothing: what is not understood never opens a door.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from penstock.core.directory import Bounded, Directory, Holder, User
from penstock.core.identity import Kind, Principal
from penstock.core.policy import Grants, Policy, PolicyError, Use, read_policy

_ALL = '{"Version":"2012-10-17","Statement":[{"Effect":"%s","Action":"*","Resource":"*"}]}'
EVERYTHING = read_policy(_ALL % "Allow", Use.IDENTITY, "everything")
NOTHING = read_policy(_ALL % "Deny", Use.IDENTITY, "nothing")
NO_GRANTS = Grants()


@lru_cache(maxsize=4096)
def compiled(document: str, name: str) -> Policy:
    try:
        return read_policy(document, Use.IDENTITY, name)
    except PolicyError:
        return NOTHING


def grants_of(principal: Principal, directory: Directory) -> Grants:
    """What an account itself may is not a matter of policies; but whom it vouches for may what the session says."""
    session = principal.session.policies if principal.session else None
    narrowed = None if session is None else tuple(compiled(document, "") for document in session)
    holder = _holder(principal, directory)
    if holder is not None:
        return Grants(tuple(_identity(holder, directory)), _boundary(holder, directory), narrowed)
    if principal.kind is Kind.FEDERATED and not principal.owner:
        return Grants((EVERYTHING,), None, narrowed)
    return NO_GRANTS if narrowed is None else Grants((), None, narrowed)


def _holder(principal: Principal, directory: Directory) -> Bounded | None:
    if not principal.owner:
        return None
    find = directory.role if principal.kind is Kind.ROLE else directory.user
    return find(principal.account, principal.owner)


def _identity(holder: Bounded, directory: Directory) -> Iterator[Policy]:
    groups: Iterable[Holder] = directory.groups_of(holder) if isinstance(holder, User) else ()
    for each in (holder, *groups):
        for name, document in each.inline.items():
            yield compiled(document, name)
        for arn in each.attached:
            if managed := directory.policy_by_arn.get(arn):
                yield compiled(managed.document, managed.name)


def _boundary(holder: Bounded, directory: Directory) -> Policy | None:
    if holder.boundary is None:
        return None
    managed = directory.policy_by_arn.get(holder.boundary)
    return compiled(managed.document, managed.name) if managed else NOTHING
