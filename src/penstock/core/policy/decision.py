"""The decision: may this caller do this to that? Every policy that has a say is heard; nothing else is known here.

    a Deny in any policy                                       no
    the caller's account owns the resource                     the identity's policies or the resource's policy
    another account owns it                                    both
    the caller is nobody (or a service, without an account)    the resource's policy alone

What an identity's policies grant holds as far as its boundary and its session's policies allow it too. What the
resource's policy grants within the account depends on whom it names (`principals.Closeness`). A trust policy must
always allow. The owner's root may do everything that the resource's policy does not deny, and can always mend that.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from penstock.core.identity import Kind, Principal
from penstock.core.policy.principals import Closeness
from penstock.core.policy.statement import Policy, Statement, Use
from penstock.core.policy.template import Context

MENDING = ("sqs:setqueueattributes", "sqs:removepermission")
"""What no queue policy can deny to the root of the account that owns the queue: it would lock everyone out."""


class Source(StrEnum):
    IDENTITY = "identity"
    BOUNDARY = "boundary"
    SESSION = "session"
    RESOURCE = "resource"


class Reason(StrEnum):
    ALLOWED = "allowed"
    IDENTITY_DENIES = "identity denies"
    BOUNDARY_DENIES = "boundary denies"
    SESSION_DENIES = "session denies"
    RESOURCE_DENIES = "resource denies"
    IDENTITY_SILENT = "identity silent"
    BOUNDARY_SILENT = "boundary silent"
    SESSION_SILENT = "session silent"
    RESOURCE_SILENT = "resource silent"

    @property
    def explicit(self) -> bool:
        """Whether a Deny said so, rather than the want of an Allow."""
        return self.value.endswith("denies")


class Ask(msgspec.Struct, frozen=True):
    """`resource` is an ARN, or `*` for what has none."""

    principal: Principal
    action: str
    resource: str
    context: Context = {}


class Grants(msgspec.Struct, frozen=True):
    """What holds for a caller. `session` is None without session policies; an empty tuple allows nothing. A federated
    user has what its session policies allow, so without any it has nothing. For a session that a root vouched for,
    `identity` must say what a root may do: everything."""

    identity: tuple[Policy, ...] = ()
    boundary: Policy | None = None
    session: tuple[Policy, ...] | None = None


class Match(msgspec.Struct, frozen=True):
    """A statement that had a say."""

    policy: str
    sid: str
    effect: str
    source: Source


class Decision(msgspec.Struct, frozen=True):
    """`matched` are the Denies if there are any, otherwise the Allows, also those that were not enough."""

    allowed: bool
    reason: Reason
    matched: tuple[Match, ...] = ()


def decide(ask: Ask, grants: Grants, resource_policy: Policy | None = None, owner: str = "") -> Decision:
    """`owner` is the account that owns the resource; empty: the caller's own."""
    principal, hearing = ask.principal, _Hearing(ask)
    own = principal.account == (owner or principal.account)
    if principal.kind is Kind.ANONYMOUS:
        closeness = hearing.resource(resource_policy, bounded=False)
        return hearing.decision(None if closeness else Reason.RESOURCE_SILENT)
    missing = None
    if not hearing.allows(grants.identity, Source.IDENTITY) and principal.kind is not Kind.ROOT:
        missing = Reason.IDENTITY_SILENT
    beyond = _beyond_limits(hearing, grants)
    if own and principal.kind is Kind.ROOT and hearing.action in MENDING:
        resource_policy = None
    closeness = hearing.resource(resource_policy, bounded=grants.boundary is not None)
    if own and closeness is Closeness.ITSELF:
        return hearing.decision(None)
    if own and closeness is Closeness.BEHIND:
        return hearing.decision(beyond)
    must_be_named = not own or (resource_policy is not None and resource_policy.use is Use.TRUST)
    if must_be_named and closeness is Closeness.NOT_NAMED:
        return hearing.decision(Reason.RESOURCE_SILENT)
    return hearing.decision(missing or beyond)


def _beyond_limits(hearing: "_Hearing", grants: Grants) -> Reason | None:
    """Which of the boundary and the session's policies does not allow it. Both are heard: they may deny."""
    session = () if grants.session is None and hearing.principal.kind is Kind.FEDERATED else grants.session
    bounded = grants.boundary is not None and not hearing.allows((grants.boundary,), Source.BOUNDARY)
    narrowed = session is not None and not hearing.allows(session, Source.SESSION)
    return Reason.BOUNDARY_SILENT if bounded else Reason.SESSION_SILENT if narrowed else None


class _Hearing:
    """The statements that speak of one request, as they are found."""

    __slots__ = ("_allows", "_context", "_denies", "_resource", "action", "principal")

    def __init__(self, ask: Ask) -> None:
        self.principal = ask.principal
        self.action = ask.action.lower()
        self._resource = ask.resource
        self._context = ask.context
        self._allows: list[Match] = []
        self._denies: list[Match] = []

    def allows(self, policies: Iterable[Policy], source: Source) -> bool:
        allowed = False
        for policy in policies:
            for statement in policy.statements:
                if statement.speaks_of(self.action, self._resource, self._context):
                    self._note(policy, statement, source)
                    allowed = allowed or statement.allows
        return allowed

    def resource(self, policy: Policy | None, bounded: bool) -> Closeness:
        """How closely the Allows of a resource's policy name the caller."""
        closest = Closeness.NOT_NAMED
        for statement in policy.statements if policy else ():
            closeness = statement.closeness(self.principal, bounded)
            if closeness and statement.speaks_of(self.action, self._resource, self._context):
                assert policy is not None
                self._note(policy, statement, Source.RESOURCE)
                if statement.allows and closeness > closest:
                    closest = closeness
        return closest

    def _note(self, policy: Policy, statement: Statement, source: Source) -> None:
        matched, effect = (self._allows, "Allow") if statement.allows else (self._denies, "Deny")
        matched.append(Match(policy.name, statement.sid, effect, source))

    def decision(self, missing: Reason | None) -> Decision:
        """`missing` is what stands in the way if nothing denies."""
        if self._denies:
            return Decision(False, Reason(f"{self._denies[0].source} denies"), tuple(self._denies))
        return Decision(missing is None, missing or Reason.ALLOWED, tuple(self._allows))
