"""The counters of queues as each commit leaves them, in one row for a commit.

A queue's own row is large, and among ten thousand queues each lies on another page: writing counters there makes every
request of a commit write a page of its own. Here the counters of all queues that a commit touched are one blob, in a
ring of rows. Before a row is written over, the queues whose latest counters are in it, and they are few, get them into
their own rows. So a queue's counters are in the latest row of the ring that has the queue, or else in its own row.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import pack

ROWS = 1000
COUNTERS = "ready", "in_flight", "delayed", "bytes", "groups", "fresh_number"

Counters = tuple[int | None, ...]

_unpack = msgspec.msgpack.Decoder(list[Counters]).decode
_SETTLE = f"UPDATE queue SET {', '.join(f'{name}=?' for name in COUNTERS)} WHERE id=?"


class Ring(Protocol):
    """What is in which row. `last` is the number of the latest commit."""

    last: int

    def note(self, number: int, rows: Sequence[Counters]) -> None:
        """A commit left queues with these counters, each behind the queue's id."""

    def take(self, number: int) -> Iterable[tuple[int, Counters]]:
        """The queues that no later commit has than this one, whose row is about to be written over."""

    def latest(self) -> dict[int, Counters]: ...


class Tally:
    """`new_ring` may make one that native code has a hand in."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.new_ring: type[Ring] = PlainRing
        self.ring: Ring = PlainRing()

    def load(self) -> dict[int, Counters]:
        """The counters of the queues that are in the ring."""
        self.ring = self.new_ring()
        for number, counters in self._db.execute("SELECT number, counters FROM tally ORDER BY number"):
            try:
                self.ring.note(number, _unpack(counters))
            except msgspec.DecodeError as error:
                raise ValueError(f"counters of commit {number}: {error}") from error
        return self.ring.latest()

    def write(self, rows: list[Counters]) -> None:
        """Into the transaction that is about to be committed: queues, each with its counters."""
        number = self.ring.last + 1
        for queue, counters in self.ring.take(number - ROWS):
            self._db.execute(_SETTLE, (*counters, queue))
        self._db.execute("INSERT OR REPLACE INTO tally VALUES (?,?,?)", (number % ROWS, number, pack(rows)))
        self.ring.note(number, rows)


class PlainRing:
    def __init__(self) -> None:
        self.last = 0
        self._latest: dict[int, tuple[int, Counters]] = {}
        """By queue: the commit that touched it last, and how it left the counters."""
        self._queues: dict[int, list[int]] = {}
        """By commit."""

    def note(self, number: int, rows: Sequence[Counters]) -> None:
        self.last = number
        queues = self._queues[number] = []
        for queue, *counters in rows:
            assert queue is not None
            self._latest[queue] = number, tuple(counters)
            queues.append(queue)

    def take(self, number: int) -> Iterable[tuple[int, Counters]]:
        mine = [queue for queue in self._queues.pop(number, ()) if self._latest[queue][0] == number]
        return [(queue, self._latest.pop(queue)[1]) for queue in mine]

    def latest(self) -> dict[int, Counters]:
        return {queue: counters for queue, (_, counters) in self._latest.items()}
