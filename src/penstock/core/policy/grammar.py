"""What a statement of a policy may say, by what the policy is for; a good one comes out compiled.

Every refusal names the place, as a path from the document's start.
"""

import re
from collections.abc import Callable
from typing import Any

from penstock.core.policy import conditions
from penstock.core.policy.principals import SERVICE, Principals, is_principal
from penstock.core.policy.problem import PolicyError, UnknownPrincipal
from penstock.core.policy.statement import Choice, Statement, Use
from penstock.core.policy.template import Template, TemplateError, tokens_of

_ELEMENTS = (
    "Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition",
)  # fmt: skip
_ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")
_KEY = re.compile(r"[A-Za-z0-9-]+:[^\s*?${}/]+(?:/[^\t\r\n*?${}]+)?")
"""After a slash is the key of a tag, which may have spaces in it."""
_VARIABLE = re.compile(r"\$\{[^}]*\}")
_SID = re.compile(r"[A-Za-z0-9]*")


Known = Callable[[str], bool]
"""Whether there is whom a value of `AWS` names."""


class Number(str):
    """A number of a document, as it was written there: it is nowhere needed as anything else."""


class Grammar:
    """The rules for one document; it remembers what must not come twice, and how many principals there were."""

    def __init__(
        self, use: Use, variables: bool, most_principals: int | None = None, known: Known | None = None
    ) -> None:
        self._use = use
        self._known = known
        self._variables = variables
        self._most_principals = most_principals
        self._principals = 0
        self._sids: set[str] = set()

    def statement(self, given: Any, place: str) -> Statement:
        if not isinstance(given, dict):
            raise PolicyError("A statement is not a JSON object", place)
        for element in given:
            if element not in _ELEMENTS:
                raise PolicyError(f"A statement has no element {element!r}", f"{place}.{element}")
        allows = self._allows(given, place)
        principals, spares = self._whom(given, place, allows)
        return Statement(
            sid=self._sid(given, place),
            allows=allows,
            actions=self._actions(given, place),
            resources=self._resources(given, place),
            principals=principals,
            spares=spares,
            conditions=self._conditions(given.get("Condition", {}), f"{place}.Condition"),
        )

    def _allows(self, given: dict[str, Any], place: str) -> bool:
        if "Effect" not in given:
            raise PolicyError("Effect is missing", place)
        if given["Effect"] not in ("Allow", "Deny"):
            raise PolicyError("Effect is Allow or Deny", f"{place}.Effect")
        return bool(given["Effect"] == "Allow")

    def _sid(self, given: dict[str, Any], place: str) -> str:
        """A queue's policy may have any text here, as SQS has it; IAM knows letters and digits only."""
        sid, place = given.get("Sid", ""), f"{place}.Sid"
        if type(sid) is not str:
            raise PolicyError("Sid is not a text", place)
        if self._use is Use.RESOURCE:
            if not sid.isprintable():
                raise PolicyError("Sid has characters that cannot be seen", place)
        elif not _SID.fullmatch(sid):
            raise PolicyError("Sid has other characters than letters and digits", place)
        if sid and sid in self._sids:
            raise PolicyError(f"The Sid {sid!r} is there twice", place)
        self._sids.add(sid)
        return sid

    def _whom(self, given: dict[str, Any], place: str, allows: bool) -> tuple[Principals | None, Principals | None]:
        if self._use is Use.IDENTITY:
            for element in ("Principal", "NotPrincipal"):
                if element in given:
                    reason = f"A policy of an identity has no {element}: it holds for whom it is attached to"
                    raise PolicyError(reason, f"{place}.{element}")
            return None, None
        element = _either(given, "Principal", "NotPrincipal", place)
        where = f"{place}.{element}"
        if element == "NotPrincipal" and allows:
            raise PolicyError("NotPrincipal with Allow would allow everyone else in the world", where)
        values = self._principal_values(given[element], where)
        self._principals += len(values)
        if self._most_principals is not None and self._principals > self._most_principals:
            raise PolicyError(f"There are more than {self._most_principals} principals", where)
        return (Principals(values), None) if element == "Principal" else (None, Principals(values))

    def _principal_values(self, given: Any, place: str) -> list[str]:
        if given == "*":
            return ["*"]
        if not isinstance(given, dict) or not given:
            raise PolicyError('It is neither "*" nor an object such as {"AWS": "111122223333"}', place)
        found = []
        for kind, values in given.items():
            if kind not in _PRINCIPALS:
                raise PolicyError(f"There are principals of the kinds AWS and Service, not {kind!r}", f"{place}.{kind}")
            check, wants = _PRINCIPALS[kind]
            for value, where in _texts(values, f"{place}.{kind}"):
                if not check(value):
                    raise PolicyError(f"{value!r} is not {wants}", where)
                if kind == "AWS" and self._known is not None and not self._known(value):
                    raise UnknownPrincipal(value, where)
                found.append(value)
        return found

    def _actions(self, given: dict[str, Any], place: str) -> Choice:
        element = _either(given, "Action", "NotAction", place)
        exact, patterns = [], []
        for value, where in _texts(given[element], f"{place}.{element}"):
            if not _ACTION.fullmatch(value):
                raise PolicyError(f"{value!r} is no action: one is written service:name", where)
            if self._use is Use.TRUST and not value.lower().startswith("sts:"):
                raise PolicyError(f"A trust policy is about actions of sts, not about {value!r}", where)
            if "*" in value or "?" in value:
                patterns.append(Template(tokens_of(value.lower(), wild=True, variables=False)))
            else:
                exact.append(value.lower())
        return Choice(exact, patterns, negated=element == "NotAction")

    def _resources(self, given: dict[str, Any], place: str) -> Choice | None:
        if self._use is Use.TRUST:
            for element in ("Resource", "NotResource"):
                if element in given:
                    raise PolicyError(f"A trust policy has no {element}: it is its role's", f"{place}.{element}")
            return None
        element = _either(given, "Resource", "NotResource", place)
        exact, templates = [], []
        for value, where in _texts(given[element], f"{place}.{element}"):
            template = self._resource(value, where)
            if template.fixed is None or "*" in value or "?" in value or "${" in value:
                templates.append(template)
            else:
                exact.append(value)
        return Choice(exact, templates, negated=element == "NotResource")

    def _resource(self, value: str, place: str) -> Template:
        try:
            template = Template(tokens_of(value, wild=True, variables=self._variables))
        except TemplateError as problem:
            raise PolicyError(str(problem), place) from None
        # A variable has colons of its own, which part nothing.
        bare = _VARIABLE.sub("x", value) if self._variables else value
        if value != "*" and not (bare.startswith("arn:") and (bare.count(":") >= 5 or bare.endswith("*"))):
            raise PolicyError(f'{value!r} is neither "*" nor an ARN: arn:aws:service:region:account:name', place)
        return template

    def _conditions(self, given: Any, place: str) -> tuple[conditions.Condition | conditions.Absence, ...]:
        if not isinstance(given, dict):
            raise PolicyError("Condition is not a JSON object", place)
        found = []
        for operator, tests in given.items():
            where = f"{place}.{operator}"
            if not conditions.is_known(operator):
                raise PolicyError(f"There is no condition operator {operator!r}", where)
            if not isinstance(tests, dict) or not tests:
                raise PolicyError('It is not a JSON object of keys and values, such as {"aws:SourceIp": "…"}', where)
            for key, values in tests.items():
                if not _KEY.fullmatch(key):
                    raise PolicyError(f"{key!r} is no condition key: one is written prefix:name", f"{where}.{key}")
                texts = self._condition_values(operator, values, f"{where}.{key}")
                found.append(conditions.condition_of(operator, key, texts, self._variables))
        return tuple(found)

    def _condition_values(self, operator: str, given: Any, place: str) -> list[str]:
        texts = []
        for value, where in _one_or_many(given, place):
            if not isinstance(value, str | bool):
                raise PolicyError("A value is neither a text nor a number nor true or false", where)
            text = str(value).lower() if isinstance(value, bool) else str(value)
            problem = conditions.problem_with(operator, text, self._variables)
            if problem:
                raise PolicyError(problem, where)
            texts.append(text)
        return texts


_PRINCIPALS: dict[str, tuple[Callable[[str], object], str]] = {
    "AWS": (
        is_principal,
        '"*", an account of twelve digits, or the ARN of an account, user, role or session without wildcards',
    ),
    "Service": (SERVICE.fullmatch, "a service such as sns.amazonaws.com"),
}


def _either(given: dict[str, Any], element: str, complement: str, place: str) -> str:
    if element in given and complement in given:
        raise PolicyError(f"{element} and {complement} exclude each other", place)
    if element not in given and complement not in given:
        raise PolicyError(f"{element} is missing", place)
    return element if element in given else complement


def _one_or_many(given: Any, place: str) -> list[tuple[Any, str]]:
    if not isinstance(given, list):
        return [(given, place)]
    if not given:
        raise PolicyError("There is no value", place)
    return [(value, f"{place}[{index}]") for index, value in enumerate(given)]


def _texts(given: Any, place: str) -> list[tuple[str, str]]:
    values = _one_or_many(given, place)
    for value, where in values:
        if type(value) is not str:
            raise PolicyError("It is not a text", where)
    return values
