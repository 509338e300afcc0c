"""Callers who ask for the same before one commit: one change is made for all of them, and has a result for each.

A statement for ten messages takes hardly longer than one for a single message, and so does what surrounds it. What
counts as the same is the business of whoever asks: it is told by the change and its arguments, all but the items.
"""

from collections.abc import Callable, Sequence
from typing import Any

MOST_ITEMS = 32
"""Items of one change. There is a statement for each number of them: long ones take long to compile and gain little."""

Change = Callable[..., Sequence[Any]]
Key = tuple[Change, tuple[Any, ...]]


class Party:
    """`changed` is true until it is known that nothing was changed: within a rollback members ask for it. `refusal` is
    why none of them has a result."""

    __slots__ = ("changed", "items", "key", "now", "refusal", "results")

    def __init__(self, key: Key) -> None:
        self.key, self.now, self.changed = key, 0, False
        self.items: list[Any] = []
        self.results: Sequence[Any] = ()
        self.refusal: Exception | None = None

    def join(self, items: Sequence[Any], now: int) -> int:
        """Where the results of these items will be. What is done for all is done at the time of the latest."""
        place = len(self.items)
        self.items += items
        if now > self.now:
            self.now = now
        return place
