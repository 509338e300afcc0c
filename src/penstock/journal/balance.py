"""Bookkeeping over the journal: how many messages each queue holds, worked out from the events alone.

Wherever an event says how many there are, that is compared with the sum. It refuses to know files and stores: it is
fed the events of one node, in order, and says what does not add up.
"""

from collections.abc import Callable, Iterator

from penstock.core import journal
from penstock.core.journal import BASELINE, Event
from penstock.core.queue import QueueKey

LEAVES = {journal.DELETED, journal.EXPIRED, journal.DAMAGED}
CHANGES_QUEUE = {journal.DEAD_LETTERED, journal.MOVED, journal.REROUTED}


class Balance:
    """`held` has the queues whose number is known; a queue met in the middle of its life is not, until a GAUGE."""

    def __init__(self) -> None:
        self.held: dict[QueueKey, int] = {}
        self._steps: dict[str, Callable[[QueueKey, Event], Iterator[str]]] = {
            journal.QUEUE_CREATED: self._created,
            journal.QUEUE_CHANGED: self._stated,
            journal.GAUGE: self._stated,
            journal.PURGED: self._emptied,
            journal.QUEUE_DELETED: self._removed,
        }

    def add(self, event: Event) -> list[str]:
        """What this event shows to be wrong, as sentences."""
        kind = event.event
        if event.queue is None:
            return []
        key = QueueKey(event.region, event.account, event.queue)
        if kind == journal.SENT:
            self._change(key, +1)
        elif kind in LEAVES:
            self._change(key, -1)
        elif kind in CHANGES_QUEUE:
            self._change(key, -1)
            target = QueueKey.from_arn(event.endpoint or "")
            if target is None:
                return [f"{_name(event)}: {event.endpoint!r} is not a queue"]
            self._change(target, +1)
        elif kind in self._steps:
            return list(self._steps[kind](key, event))
        if self.held.get(key, 0) < 0:
            return [f"{_name(event)}: {key.arn} would hold {self.held.pop(key)} messages"]
        return []

    def _change(self, key: QueueKey, by: int) -> None:
        if key in self.held:
            self.held[key] += by

    def _created(self, key: QueueKey, event: Event) -> Iterator[str]:
        if key in self.held:
            yield f"{_name(event)}: {key.arn} was there already"
        self.held[key] = 0

    def _stated(self, key: QueueKey, event: Event) -> Iterator[str]:
        if event.reason != BASELINE:
            yield from self._compare(key, event)
        self.held[key] = event.count or 0
        if event.reason == "off":
            del self.held[key]

    def _emptied(self, key: QueueKey, event: Event) -> Iterator[str]:
        yield from self._compare(key, event)
        self.held[key] = 0

    def _removed(self, key: QueueKey, event: Event) -> Iterator[str]:
        yield from self._compare(key, event)
        self.held.pop(key, None)

    def _compare(self, key: QueueKey, event: Event) -> Iterator[str]:
        known = self.held.get(key, event.count)
        if known != event.count:
            yield f"{_name(event)}: {key.arn} holds {event.count}, but the events before it make {known}"


def _name(event: Event) -> str:
    return f"event {event.seq} ({event.event})"
