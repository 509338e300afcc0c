"""Callers who ask for the same in one turn of the loop: one change is made for all of them, and has a result for each.

A statement for ten messages takes hardly longer than one for a single message, and so does what surrounds it. What
counts as the same is the business of whoever asks: it is told by the change and its arguments, all but the items.
"""

from collections.abc import Callable, Sequence
from typing import Any

SHARED_AT_MOST = 10
"""Items of one change: as many as a request may have, so no statement is longer than those that requests need."""

Change = Callable[..., Sequence[Any]]
Key = tuple[Change, tuple[Any, ...]]


class Party:
    """`changed` is true until it is known that nothing was changed: within a rollback members ask for it. `refusal` is
    why none of them has a result."""

    __slots__ = ("changed", "items", "key", "refusal", "results")

    def __init__(self, key: Key) -> None:
        self.key, self.changed = key, False
        self.items: list[Any] = []
        self.results: Sequence[Any] = ()
        self.refusal: Exception | None = None
