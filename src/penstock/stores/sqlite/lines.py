"""The order in which a queue's ready messages are handed out. Reads only; the caller decides what becomes of them.

A standard queue without groups is one line, by the time since which a message is visible. With groups, the quiet ones
and the messages without a group are merged by that time, and the noisy ones follow, fewest in flight first. A FIFO
queue gives, group by group, the messages from a group's head up to the first that is hidden.
"""

import heapq
from collections.abc import Iterator
from itertools import chain

from penstock.stores.sqlite.catalogue import READY, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.shelves import COLUMNS, Card

_LINE = f"SELECT {COLUMNS} FROM message WHERE shelf=? AND grp=? AND place IS NOT NULL ORDER BY place, enqueued, number"
_QUIET = (
    "SELECT id FROM message_group WHERE shelf=? AND noisy=0 AND available IS NOT NULL ORDER BY available, head LIMIT ?"
)
_NOISY = "SELECT id, in_flight FROM message_group WHERE shelf=? AND noisy=1 AND available IS NOT NULL"


def _turn(card: Card) -> tuple[int, int, int]:
    return card.place or 0, card.enqueued, card.number


class Lines:
    def __init__(self, db: Database) -> None:
        self._db = db

    def ready(self, entry: Entry, limit: int) -> Iterator[Card]:
        """Ready messages in the order of hand-out; of each line at least `limit`, if there are so many."""
        if entry.queue.fifo:
            return self._fifo(entry, limit)
        if entry.groups:
            return chain(self._quiet(entry, limit), self._noisy(entry))
        return self._line(entry, 0)

    def _line(self, entry: Entry, group: int) -> Iterator[Card]:
        return map(Card._make, self._db.execute(_LINE, (entry.shelf, group)))

    def _quiet(self, entry: Entry, limit: int) -> Iterator[Card]:
        groups = self._db.execute(_QUIET, (entry.shelf, limit)).fetchall()
        return heapq.merge(*(self._line(entry, group) for group in (0, *(row[0] for row in groups))), key=_turn)

    def _noisy(self, entry: Entry) -> Iterator[Card]:
        """There are few: each holds over a tenth of something."""
        heap = [
            (in_flight, group, self._line(entry, group))
            for group, in_flight in self._db.execute(_NOISY, (entry.shelf,)).fetchall()
        ]
        heapq.heapify(heap)
        while heap:
            in_flight, group, line = heap[0]
            if (card := next(line, None)) is None:
                heapq.heappop(heap)
            else:
                yield card
                heapq.heapreplace(heap, (in_flight + 1, group, line))

    def _fifo(self, entry: Entry, limit: int) -> Iterator[Card]:
        for (group,) in self._db.execute(_QUIET, (entry.shelf, limit)).fetchall():
            for card in self._line(entry, group):
                if card.state != READY:
                    break
                yield card
