"""Pages of a list that is sorted by texts: how many to give, where to go on, and the token that says so."""

import base64
import binascii

import msgspec

from penstock.core.errors import invalid_parameter, invalid_value

MOST = 1000

Place = tuple[str, ...]
"""Of an item in the order of its list."""


def page(most: int | None, token: str | None) -> tuple[int, Place]:
    """How many items to give, and the place after which to begin."""
    if most is not None and not 1 <= most <= MOST:
        raise invalid_value(most, "MaxResults", f"Must be between 1 and {MOST}, if provided.")
    if not token:
        return most or MOST, ()
    try:
        return most or MOST, msgspec.json.decode(base64.urlsafe_b64decode(token), type=Place)
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        raise invalid_parameter("Value for parameter NextToken is invalid.") from None


def token_of(last: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(last)).decode()
