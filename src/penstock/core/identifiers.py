"""Random identifiers."""

from collections.abc import Iterator
from secrets import choice, randbelow, token_bytes, token_urlsafe

DRAWN_AT_ONCE = 256
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def random_uuid() -> str:
    """A version 4 UUID as text. Every request and every message needs one, so the system is asked for many at once."""
    text = next(_random)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:]}"


def unique_id(prefix: str, letters: int = 17) -> str:
    """As Amazon's for users, groups, roles and policies: four letters that say what it is, then chance."""
    return prefix + "".join(choice(LETTERS) for _ in range(letters))


def new_key() -> tuple[str, str]:
    """An access key id, and its secret."""
    return unique_id("AKIA", 16), token_urlsafe(30)


def new_account() -> str:
    """Twelve digits, of which the first is none that people leave out."""
    return str(10**11 + randbelow(9 * 10**11))


def _draw() -> Iterator[str]:
    while True:
        drawn = token_bytes(16 * DRAWN_AT_ONCE).hex()
        for start in range(0, len(drawn), 32):
            yield drawn[start : start + 32]


_random = _draw()
_VARIANT = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}
