"""Random identifiers."""

from collections.abc import Callable
from itertools import chain
from secrets import choice, randbelow, token_bytes, token_urlsafe
from struct import Struct

DRAWN_AT_ONCE = 256
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BYTES = 16 * DRAWN_AT_ONCE
_CHANCE = int.from_bytes(bytes.fromhex("ffffffffffff0fff3fffffffffffffff") * DRAWN_AT_ONCE)
_VERSION_4 = int.from_bytes(bytes.fromhex("00000000000040008000000000000000") * DRAWN_AT_ONCE)
"""Of so many UUIDs, the bits that are drawn and those that are always set."""
_groups = Struct("8s4s4s4s12s").iter_unpack


def _drawn() -> list[str]:
    bits = int.from_bytes(token_bytes(_BYTES)) & _CHANCE | _VERSION_4
    digits = bits.to_bytes(_BYTES).hex().encode()
    return b" ".join(map(b"-".join, _groups(digits))).decode().split()


random_uuid: Callable[[], str] = chain.from_iterable(iter(_drawn, [])).__next__
"""A version 4 UUID as text. Every request and every message needs one, so they are made many at once, without a step of
Python for each."""


def unique_id(prefix: str, letters: int = 17) -> str:
    """As Amazon's for users, groups, roles and policies: four letters that say what it is, then chance."""
    return prefix + "".join(choice(LETTERS) for _ in range(letters))


def new_key() -> tuple[str, str]:
    """An access key id, and its secret."""
    return unique_id("AKIA", 16), token_urlsafe(30)


def new_account() -> str:
    """Twelve digits, of which the first is none that people leave out."""
    return str(10**11 + randbelow(9 * 10**11))
