"""The order in which a queue's ready messages are handed out. Reads only; the caller decides what becomes of them.

A standard queue without groups is one line, by the time since which a message is visible. With groups, the quiet ones and
the messages without a group are merged by that time, and the noisy ones follow, fewest in flight first. A FIFO queue gives,
group by group, the messages from a group's head up to the first that is hidden.
"""

import heapq
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from penstock.stores.sqlite.catalogue import READY, Entry
from penstock.stores.sqlite.database import Database

_COLUMNS = "place, enqueued, number, state, grp, size, receives, first_received"
_LINE = f"SELECT {_COLUMNS} FROM message WHERE shelf=? AND grp=? AND place IS NOT NULL ORDER BY place, enqueued, number"
_QUIET = (
    "SELECT id FROM message_group WHERE shelf=? AND noisy=0 AND available IS NOT NULL ORDER BY available, id LIMIT ?"
)
_NOISY = "SELECT id, in_flight FROM message_group WHERE shelf=? AND noisy=1 AND available IS NOT NULL"


class Waiting(NamedTuple):
    """A message that may be handed out."""

    place: int
    enqueued: int
    number: int
    state: int
    group: int
    size: int
    receives: int
    first_received: int | None


class Lines:
    def __init__(self, db: Database) -> None:
        self._db = db

    def ready(self, entry: Entry, limit: int) -> Iterator[Waiting]:
        """Ready messages in the order of hand-out; of each line at least `limit`, if there are so many."""
        if entry.queue.fifo:
            return self._fifo(entry, limit)
        if entry.groups:
            return chain(self._quiet(entry, limit), self._noisy(entry))
        return self._line(entry, 0)

    def _line(self, entry: Entry, group: int) -> Iterator[Waiting]:
        return map(Waiting._make, self._db.execute(_LINE, (entry.shelf, group)))

    def _quiet(self, entry: Entry, limit: int) -> Iterator[Waiting]:
        groups = self._db.execute(_QUIET, (entry.shelf, limit)).fetchall()
        return heapq.merge(*(self._line(entry, group) for group in (0, *(row[0] for row in groups))))

    def _noisy(self, entry: Entry) -> Iterator[Waiting]:
        """There are few: each holds over a tenth of something."""
        heap = [
            (in_flight, group, self._line(entry, group))
            for group, in_flight in self._db.execute(_NOISY, (entry.shelf,)).fetchall()
        ]
        heapq.heapify(heap)
        while heap:
            in_flight, group, line = heap[0]
            if (waiting := next(line, None)) is None:
                heapq.heappop(heap)
            else:
                yield waiting
                heapq.heapreplace(heap, (in_flight + 1, group, line))

    def _fifo(self, entry: Entry, limit: int) -> Iterator[Waiting]:
        for (group,) in self._db.execute(_QUIET, (entry.shelf, limit)).fetchall():
            for waiting in self._line(entry, group):
                if waiting.state != READY:
                    break
                yield waiting
