"""Who is calling: a principal, and what its credentials say of it.

What a principal may do is decided in `core.policy`; which principals there are is in `core.directory`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    ROOT = "root"
    """The account itself: everything in its own account, but for what a queue's policy denies."""
    USER = "user"
    ROLE = "role"
    """A session of a role."""
    FEDERATED = "federated"
    """Someone a user vouches for, with a part of what that user may do."""
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class Session:
    """What temporary credentials carry. `policies` are documents that narrow what the owner may do, None if there are
    none: an empty one would allow nothing. `passed_on` are the tags that a role it assumes gets too. Times are
    epoch milliseconds."""

    issued: int
    expires: int
    policies: tuple[str, ...] | None = None
    passed_on: Mapping[str, str] = field(default_factory=dict, hash=False)
    source_identity: str = ""


@dataclass(frozen=True, slots=True)
class Principal:
    """`user_id` is what receivers see as a message's SenderId. `owner` is the name of the user or role whose policies
    hold for it; empty for an account itself and for nobody."""

    account: str
    arn: str
    user_id: str
    kind: Kind = Kind.ROOT
    owner: str = ""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    session: Session | None = field(default=None, hash=False)


NOBODY = Principal("", "", "", Kind.ANONYMOUS)
"""Who calls, until we know."""


def root_of(account: str) -> Principal:
    return Principal(account, f"arn:aws:iam::{account}:root", account)


def anonymous(address: str) -> Principal:
    """Someone without credentials. Receivers see the address it called from as the sender."""
    return Principal("", "", address, Kind.ANONYMOUS)
