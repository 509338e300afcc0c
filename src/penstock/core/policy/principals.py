"""Whom a resource's policy names, and how closely: a caller itself, the role or user behind it, or only its account.

The closeness matters within an account. Naming a user or a session grants it by itself; naming a role grants its
sessions no more than their boundary and session policies allow; naming an account leaves it to the policies there.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from penstock.core.identity import Kind, Principal
from penstock.core.naming import is_account

_ARN = re.compile(
    r"arn:aws:(?:iam::(?P<root>[0-9]{12}):root"
    r"|iam::(?P<account>[0-9]{12}):(?P<kind>user|role)/(?:[!-)+->@-~]+/)?(?P<name>[A-Za-z0-9_+=,.@-]+)"
    r"|sts::(?P<vouching>[0-9]{12}):(?:assumed-role/(?P<assumed>[A-Za-z0-9_+=,.@-]+)|federated-user)"
    r"/[A-Za-z0-9_+=,.@-]+)"
)
SERVICE = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com")


class Closeness(IntEnum):
    NOT_NAMED = 0
    ACCOUNT = 1
    BEHIND = 2
    """The role of a session, or the user who vouched for it."""
    ITSELF = 3


class Principals:
    """The values of `Principal` or `NotPrincipal`, which `is_principal` has found good; services by their names."""

    __slots__ = ("_accounts", "_arns", "_behind", "_everyone")

    def __init__(self, values: Iterable[str]) -> None:
        accounts, arns, behind = set(), set(), set()
        self._everyone = False
        for value in values:
            arn = _ARN.fullmatch(value)
            if value == "*":
                self._everyone = True
            elif is_account(value):
                accounts.add(value)
            elif arn and arn["root"]:
                accounts.add(arn["root"])
            else:
                arns.add(value)
                if arn and arn["kind"]:
                    # A session does not tell the path of its role. Names are unique in an account, whatever the path
                    # and case.
                    behind.add((_BEHIND[arn["kind"]], arn["account"], arn["name"].lower()))
        self._accounts, self._arns, self._behind = frozenset(accounts), frozenset(arns), frozenset(behind)

    def closeness(self, principal: Principal) -> Closeness:
        if self._everyone or (principal.arn and principal.arn in self._arns):
            return Closeness.ITSELF
        if self._behind and (principal.kind, principal.account, principal.owner.lower()) in self._behind:
            return Closeness.BEHIND
        if principal.account in self._accounts:
            return Closeness.ITSELF if principal.kind is Kind.ROOT else Closeness.ACCOUNT
        return Closeness.NOT_NAMED

    def spares(self, principal: Principal) -> bool:
        """Whether `NotPrincipal` spares it: its account must be named and it itself, and a session's role too."""
        if self._everyone or principal.account == "":
            return self._everyone or (bool(principal.arn) and principal.arn in self._arns)
        if principal.account not in self._accounts:
            return False
        if principal.kind is Kind.ROOT:
            return True
        behind = (principal.kind, principal.account, principal.owner.lower()) in self._behind
        return principal.arn in self._arns and (behind or principal.kind is not Kind.ROLE)


_BEHIND = {"role": Kind.ROLE, "user": Kind.FEDERATED}


def is_principal(value: str) -> bool:
    """Whether a value of `AWS` can name someone."""
    return value == "*" or is_account(value) or _ARN.fullmatch(value) is not None


class Named(NamedTuple):
    """Whom a value of `AWS` names, for those who know who there is. `kind` is user or role, or empty for an account and
    for sessions that users vouch for; `arn` is that of the user or role, and empty where the value does not tell it."""

    account: str
    kind: str = ""
    name: str = ""
    arn: str = ""


def named_by(value: str) -> Named | None:
    """None for everyone."""
    if is_account(value):
        return Named(value)
    arn = _ARN.fullmatch(value)
    if arn is None:
        return None
    if arn["kind"]:
        return Named(arn["account"], arn["kind"], arn["name"], value)
    if arn["assumed"]:
        return Named(arn["vouching"], "role", arn["assumed"])
    return Named(arn["root"] or arn["vouching"])
