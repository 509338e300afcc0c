"""A statement, compiled: whether it speaks of a request. What follows from that is decided in `decision`.

What cannot be told (see `conditions`) fails closed: an Allow does not hold, a Deny does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from penstock.core.identity import Principal
from penstock.core.policy.conditions import Absence, Answer, Condition
from penstock.core.policy.principals import Closeness, Principals
from penstock.core.policy.template import Context, Template


class Use(StrEnum):
    """What a policy is for."""

    IDENTITY = "identity"
    """It hangs on a user, group or role, or bounds one, or narrows a session."""
    RESOURCE = "resource"
    TRUST = "trust"
    """It says who may assume a role."""


class Choice:
    """The values of `Action` or `Resource`, or of their complements."""

    __slots__ = ("_exact", "_negated", "_open", "_patterns", "keys")

    def __init__(self, exact: Iterable[str], templates: Iterable[Template] = (), negated: bool = False) -> None:
        templates = list(templates)
        self._exact = frozenset(exact)
        self._patterns = tuple(one.fixed for one in templates if one.fixed is not None)
        self._open = tuple(one for one in templates if one.fixed is None)
        self._negated = negated
        self.keys: frozenset[str] = frozenset().union(*(one.keys for one in self._open))

    def has(self, text: str, context: Context) -> Answer:
        """None for a complement that would be wider for want of a variable's value."""
        if text in self._exact:
            return not self._negated
        for matches in self._patterns:
            if matches(text):
                return not self._negated
        if self._open:
            answers = [template.matches(text, context) for template in self._open]
            if True in answers:
                return not self._negated
            if self._negated and None in answers:
                return None
        return self._negated


@dataclass(frozen=True, slots=True)
class Statement:
    """`resources` is None in a trust policy, and `principals` in an identity's: they go without saying."""

    sid: str
    allows: bool
    actions: Choice
    resources: Choice | None = None
    principals: Principals | None = None
    spares: Principals | None = None
    """Those of `NotPrincipal`."""
    conditions: Sequence[Condition | Absence] = ()

    @property
    def keys(self) -> frozenset[str]:
        """The condition keys that matter to it, in lower case."""
        keys = self.resources.keys if self.resources else frozenset[str]()
        return keys.union(*(condition.keys for condition in self.conditions))

    def speaks_of(self, action: str, resource: str, context: Context) -> bool:
        """`action` in lower case."""
        if not self.actions.has(action, context):
            return False
        sure: Answer = True
        if self.resources is not None:
            sure = self.resources.has(resource, context)
            if sure is False:
                return False
        for condition in self.conditions:
            met = condition.met(context)
            if met is False:
                return False
            if met is None:
                sure = None
        return sure is True or not self.allows

    def closeness(self, principal: Principal, bounded: bool) -> Closeness:
        """How closely it names a caller. With Amazon, `NotPrincipal` spares nobody who has a boundary."""
        if self.spares is not None:
            spared = not bounded and self.spares.spares(principal)
            return Closeness.NOT_NAMED if spared else Closeness.ITSELF
        return self.principals.closeness(principal) if self.principals else Closeness.NOT_NAMED


class Policy:
    """A document that was read. `keys` are the condition keys and variables that it asks for: who has none of them to
    give need not gather any."""

    __slots__ = ("keys", "name", "statements", "use")

    def __init__(self, name: str, use: Use, statements: tuple[Statement, ...]) -> None:
        self.name = name
        self.use = use
        self.statements = statements
        self.keys: frozenset[str] = frozenset().union(*(statement.keys for statement in statements))
