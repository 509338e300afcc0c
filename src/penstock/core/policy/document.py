"""Policy documents: from text to a `Policy`, or to the reason and the place of what is wrong with it.

What a statement may say is in `grammar`; here is what is true of the document: its JSON, its size, its version.
"""

import json
from dataclasses import dataclass
from typing import Any

from penstock.core.policy.grammar import Grammar, Known, Number
from penstock.core.policy.problem import PolicyError
from penstock.core.policy.statement import Policy, Statement, Use

DEEPEST = 10
VARIABLES_SINCE = "2012-10-17"
VERSIONS = ("2008-10-17", VARIABLES_SINCE)
_ELEMENTS = ("Version", "Id", "Statement")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a document may hold. None: as much as whoever takes it lets it."""

    characters: int | None = 20_480
    principals: int | None = None


BOUNDS = {Use.IDENTITY: Bounds(), Use.TRUST: Bounds(), Use.RESOURCE: Bounds(characters=None, principals=50)}


def read_policy(text: str, use: Use, name: str = "", known: Known | None = None) -> Policy:
    """`name` is what decisions call it. Raises PolicyError; UnknownPrincipal if `known` is given and says no."""
    bounds = BOUNDS[use]
    if bounds.characters is not None and len(text) > bounds.characters:
        raise PolicyError(f"It has {len(text)} characters, and {bounds.characters} are allowed")
    document = _parsed(text)
    if not isinstance(document, dict):
        raise PolicyError("It is not a JSON object")
    _check_structure(document, "", 1)
    for element in document:
        if element not in _ELEMENTS:
            raise PolicyError(
                f"A policy has no element {element!r}, only {', '.join(_ELEMENTS)}", element or "the document"
            )
    if type(document.get("Id", "")) is not str:
        raise PolicyError("Id is not a text", "Id")
    grammar = Grammar(use, _version(document) == VARIABLES_SINCE, bounds.principals, known)
    return Policy(name, use, _statements(document, grammar))


def _version(document: dict[str, Any]) -> str:
    version = document.get("Version", VERSIONS[0])
    if version not in VERSIONS:
        raise PolicyError(f"Version is {' or '.join(VERSIONS)}", "Version")
    return str(version)


def _statements(document: dict[str, Any], grammar: Grammar) -> tuple[Statement, ...]:
    if "Statement" not in document:
        raise PolicyError("Statement is missing")
    given = document["Statement"]
    if not isinstance(given, list):
        return (grammar.statement(given, "Statement"),)
    if not given:
        raise PolicyError("There is no statement", "Statement")
    return tuple(grammar.statement(statement, f"Statement[{index}]") for index, statement in enumerate(given))


class _Object(dict[str, Any]):
    """A JSON object that remembers a key that it was given twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.twice: str | None = None
        for name, value in pairs:
            if name in self:
                self.twice = name
            self[name] = value


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_Object, parse_int=Number, parse_float=Number, parse_constant=_no_constant
        )
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno} column {problem.colno}"
        raise PolicyError(f"It is not JSON ({problem.msg})", place) from None
    except RecursionError:
        raise _too_deep("the document") from None


def _no_constant(name: str) -> None:
    raise PolicyError(f"It is not JSON ({name} is no value)")


def _too_deep(place: str) -> PolicyError:
    return PolicyError(f"It is more than {DEEPEST} levels deep", place)


def _check_structure(node: Any, place: str, level: int) -> None:
    """What must be true of every part of a document, whatever it means."""
    if isinstance(node, str):
        _check_text(node, place)
    if not isinstance(node, dict | list):
        return
    if level > DEEPEST:
        raise _too_deep(place)
    if isinstance(node, list):
        for index, part in enumerate(node):
            _check_structure(part, f"{place}[{index}]", level + 1)
        return
    if isinstance(node, _Object) and node.twice is not None:
        raise PolicyError(f"{node.twice!r} is there twice", place or "the document")
    for name, part in node.items():
        _check_text(name, place)
        _check_structure(part, f"{place}.{name}" if place else name, level + 1)


def _check_text(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PolicyError("A text has half of a character (a lone surrogate)", place or "the document") from None
