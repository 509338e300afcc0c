"""A journal that only remembers what it was told."""

import msgspec
import pytest

from penstock.core.journal import EVENTS, Event
from penstock.core.outbox import unpacked
from penstock.core.store import Store

decode = msgspec.json.Decoder(Event).decode


class Notebook:
    """A journal that only remembers what it was told."""

    def __init__(self, level: int = EVENTS, node: str = "node-1") -> None:
        self.level, self.node = level, node
        self.batches: list[tuple[int, int, bytes]] = []
        self._seen = 0

    def committed(self, first: int, last: int, lines: bytes) -> None:
        self.batches.append((first, last, lines))

    @property
    def events(self) -> list[Event]:
        return [decode(line) for _, _, lines in self.batches for line in unpacked(lines).splitlines()]

    def news(self) -> list[Event]:
        """The events since this was last asked."""
        events = self.events
        fresh, self._seen = events[self._seen :], len(events)
        return fresh


def excuse(store: Store) -> None:
    if not store.capabilities.journal:
        pytest.skip("this store does not claim to have a journal")
