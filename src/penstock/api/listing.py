"""Pages of a list that is sorted by texts: how many to give, where to go on, and the token that says so."""

import base64
from typing import TypeVar

import msgspec

from penstock.core.errors import invalid_parameter, invalid_value

MOST = 1000

P = TypeVar("P", bound=tuple[object, ...])

Place = tuple[str, ...]
"""Of an item in the order of its list."""


def page(most: int | None, token: str | None) -> tuple[int, Place]:
    """How many items to give, and the place after which to begin."""
    if most is not None and not 1 <= most <= MOST:
        raise invalid_value(most, "MaxResults", f"Must be between 1 and {MOST}, if provided.")
    return most or MOST, checked_place(token, Place) if token else ()


def token_of(place: tuple[object, ...]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode()


def place_of(token: str, kind: type[P]) -> P | None:
    """The place of that kind in a token; None if there is none."""
    try:
        return msgspec.json.decode(base64.b64decode(token, b"-_", validate=True), type=kind)
    except (msgspec.MsgspecError, ValueError):
        return None


def checked_place(token: str, kind: type[P]) -> P:
    if (place := place_of(token, kind)) is None:
        raise invalid_parameter("Value for parameter NextToken is invalid.")
    return place
