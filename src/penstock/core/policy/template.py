"""Texts of a policy: what in them is a wildcard, what a variable, and whether they match once the variables are known.

`${aws:username}` is put in as it is: a star in a user's name is no wildcard. A variable without a value, and without a
default, matches nothing; `Template.matches` says None then, and who asked decides what that means.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from penstock.core.policy.matching import Letters, Match, Wild, match_of

Context = Mapping[str, str | tuple[str, ...]]
"""What is known of a request, by condition key in lower case. Several values are a tuple."""

_VARIABLE = re.compile(r"([A-Za-z0-9-]+:[A-Za-z0-9_.:=+@-]+(?:/[\w .:/=+@-]+)?)(?:, *'([^']*)')?")
_ARN_PARTS = 6


class Variable(NamedTuple):
    key: str
    default: str | None


Token = str | Wild | Variable


class TemplateError(Exception):
    """The text is no template; the message says why."""


def tokens_of(text: str, *, wild: bool, variables: bool) -> list[Token]:
    """`wild`: stars and question marks are wildcards. `variables`: `${…}` is one, as since Version 2012-10-17."""
    tokens: list[Token] = []
    rest = text
    while variables and "${" in rest:
        before, _, rest = rest.partition("${")
        inside, closed, rest = rest.partition("}")
        if not closed:
            raise TemplateError("The variable that starts with ${ has no end")
        tokens += _plain(before, wild)
        tokens.append(_variable(inside))
    return tokens + _plain(rest, wild)


def _variable(inside: str) -> Token:
    if inside in ("*", "?", "$"):
        return inside
    found = _VARIABLE.fullmatch(inside)
    if not found:
        raise TemplateError(
            f"${{{inside}}} is no variable: one is written ${{prefix:name}} or ${{prefix:name, 'default'}}"
        )
    return Variable(found[1].lower(), found[2])


def _plain(text: str, wild: bool) -> list[Token]:
    if not wild:
        return [text] if text else []
    return [{"*": Wild.ANY, "?": Wild.ONE}.get(part, part) for part in re.split(r"([*?])", text) if part]


class Template:
    """One text, ready to be matched. `fixed` is how it matches if it has no variables."""

    __slots__ = ("_tokens", "fixed", "keys")

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self.keys = frozenset(token.key for token in tokens if isinstance(token, Variable))
        self.fixed: Match | None = None if self.keys else match_of(_resolved(tokens, {}) or ())

    def matches(self, text: str, context: Context) -> bool | None:
        if self.fixed is not None:
            return self.fixed(text)
        letters = _resolved(self._tokens, context)
        return None if letters is None else match_of(letters)(text)

    def matches_in_any_case(self, text: str, context: Context) -> bool | None:
        letters = _resolved(self._tokens, context)
        if letters is None:
            return None
        return match_of(tuple(one.lower() if isinstance(one, str) else one for one in letters))(text.lower())


class ArnTemplate:
    """Six templates, one for each part of an ARN: a star does not reach over a colon, but for the last part."""

    __slots__ = ("_parts", "keys")

    def __init__(self, tokens: list[Token]) -> None:
        parts = [tokens] * _ARN_PARTS if tokens == [Wild.ANY] else _arn_parts(tokens)
        if len(parts) != _ARN_PARTS:
            raise TemplateError("It is no ARN, which has six parts: arn:partition:service:region:account:resource")
        self._parts = tuple(Template(part) for part in parts)
        self.keys = frozenset().union(*(part.keys for part in self._parts))

    def matches(self, text: str, context: Context) -> bool | None:
        values = text.split(":", _ARN_PARTS - 1)
        if len(values) != _ARN_PARTS:
            return False
        answers = [part.matches(value, context) for part, value in zip(self._parts, values, strict=True)]
        return None if None in answers else all(answers)


def _arn_parts(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if not isinstance(token, str):
            parts[-1].append(token)
            continue
        first, *others = token.split(":", _ARN_PARTS - len(parts))
        parts[-1].append(first)
        parts += [[other] for other in others]
    return parts


def _resolved(tokens: list[Token], context: Context) -> Letters | None:
    letters: list[str | Wild] = []
    for token in tokens:
        if isinstance(token, Variable):
            value = context.get(token.key, token.default)
            if isinstance(value, tuple):
                value = value[0] if len(value) == 1 else token.default
            if value is None:
                return None
            letters.append(value)
        else:
            letters.append(token)
    return tuple(letters)
