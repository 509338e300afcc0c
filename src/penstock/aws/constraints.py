"""What a service's model says of values: how long, between which numbers, of which characters, one of which words.

Everything that is wrong with a request is named at once, in the words that Amazon's framework has for it; names and
paths that cannot be have IAM's own. A value is judged as it came, before anything is made of it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from penstock.aws.contract import Model, Service
from penstock.core.errors import ServiceError

MOST_SHOWN = 256
"""So many characters of a wrong value are repeated to whoever sent it."""

_NAMES = (
    "The specified value for {} is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"
)
_PATHS = (
    "The specified value for {} is invalid. It must begin and end with / and contain only alphanumeric characters "
    "and/or / characters."
)
OWN_WORDS = {
    r"[\w+=,.@-]+": _NAMES,
    r"(\u002F)|(\u002F[\u0021-\u007E]+\u002F)": _PATHS,
    r"((/[A-Za-z0-9\.,\+@=_-]+)*)/": _PATHS,
}
"""Patterns whose violation IAM tells in a sentence of its own."""

_SEPARATORS = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"


class _Telling(Exception):
    """A violation that is told alone."""


def check(service: Service, shape_name: str, given: Model) -> None:
    try:
        found = list(_structure(service, shape_name, given, ""))
    except _Telling as sentence:
        raise ServiceError("ValidationError", str(sentence)) from None
    if found:
        errors = "error" if len(found) == 1 else "errors"
        raise ServiceError("ValidationError", f"{len(found)} validation {errors} detected: {'; '.join(found)}")


def _structure(service: Service, shape_name: str, given: Model, before: str) -> Iterator[str]:
    shape = service.shape(shape_name)
    for member, reference in shape["members"].items():
        path = f"{before}{member[0].lower()}{member[1:]}"
        if member in given:
            yield from _value(service, reference["shape"], given[member], path)
        elif member in shape.get("required", ()):
            yield f"Value null at '{path}' failed to satisfy constraint: Member must not be null"


def _value(service: Service, shape_name: str, value: Any, path: str) -> Iterator[str]:
    shape = service.shape(shape_name)
    match shape["type"]:
        case "structure":
            yield from _structure(service, shape_name, value, f"{path}.")
            return
        case "list":
            for number, item in enumerate(value, 1):
                yield from _value(service, shape["member"]["shape"], item, f"{path}.{number}.member")
            broken = list(_bounds(shape, len(value), "length"))
        case "string":
            broken = list(_bounds(shape, len(value), "length"))
            if not broken:
                broken = list(_spelling(shape, value, path))
        case _:
            broken = list(_bounds(shape, value, "value"))
    for rule in broken:
        yield f"Value '{str(value)[:MOST_SHOWN]}' at '{path}' failed to satisfy constraint: Member must {rule}"


def _bounds(shape: Model, size: int, of: str) -> Iterator[str]:
    if size > shape.get("max", size):
        yield f"have {of} less than or equal to {shape['max']}"
    if size < shape.get("min", size):
        yield f"have {of} greater than or equal to {shape['min']}"


def _spelling(shape: Model, value: str, path: str) -> Iterator[str]:
    if "enum" in shape and value not in shape["enum"]:
        yield f"satisfy enum value set: [{', '.join(shape['enum'])}]"
    pattern = shape.get("pattern")
    if pattern and not _compiled(pattern).fullmatch(value):
        if pattern in OWN_WORDS:
            raise _Telling(OWN_WORDS[pattern].format(path))
        yield f"satisfy regular expression pattern: {pattern}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    r"""The model writes Java's expressions: there, `\w` is ASCII, and classes of Unicode have names."""
    if r"\p{" not in pattern:
        return re.compile(pattern, re.ASCII)
    return re.compile(pattern.replace(r"\p{L}", r"\w").replace(r"\p{N}", "").replace(r"\p{Z}", _SEPARATORS))
