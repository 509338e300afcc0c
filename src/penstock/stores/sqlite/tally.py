"""The counters of queues as each commit leaves them, in one row for a commit.

A queue's own row is large, and among ten thousand queues each lies on another page: writing counters there makes every
request of a commit write a page of its own. Here the counters of all queues that a commit touched are one blob, in a
ring of rows. Before a row is written over, the queues whose latest counters are in it, and they are few, get them into
their own rows. So a queue's counters are in the latest row of the ring that has the queue, or else in its own row.
"""

import msgspec

from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.packing import pack

ROWS = 1000
COUNTERS = "ready", "in_flight", "delayed", "bytes", "groups", "fresh_enqueued", "fresh_number"

Counters = tuple[int | None, ...]

_unpack = msgspec.msgpack.Decoder(list[Counters]).decode
_SETTLE = f"UPDATE queue SET {', '.join(f'{name}=?' for name in COUNTERS)} WHERE id=?"


class Tally:
    def __init__(self, db: Database) -> None:
        self._db = db
        self._commit = 0
        self._latest: dict[int, tuple[int, Counters]] = {}
        """By queue: the commit that touched it last, and how it left the counters."""
        self._queues: dict[int, list[int]] = {}
        """By commit."""

    def load(self) -> dict[int, Counters]:
        """The counters of the queues that are in the ring."""
        self._commit, self._latest, self._queues = 0, {}, {}
        for number, counters in self._db.execute("SELECT number, counters FROM tally ORDER BY number"):
            try:
                self._note(number, _unpack(counters))
            except msgspec.DecodeError as error:
                raise ValueError(f"counters of commit {number}: {error}") from error
        return {queue: counters for queue, (_, counters) in self._latest.items()}

    def write(self, rows: list[Counters]) -> None:
        """Into the transaction that is about to be committed: queues, each with its counters."""
        number = self._commit + 1
        self._settle(number - ROWS)
        self._db.execute("INSERT OR REPLACE INTO tally VALUES (?,?,?)", (number % ROWS, number, pack(rows)))
        self._note(number, rows)

    def _note(self, number: int, rows: list[Counters]) -> None:
        self._commit = number
        queues = self._queues[number] = []
        for queue, *counters in rows:
            assert queue is not None
            self._latest[queue] = number, tuple(counters)
            queues.append(queue)

    def _settle(self, number: int) -> None:
        for queue in self._queues.pop(number, ()):
            latest, counters = self._latest[queue]
            if latest == number:
                del self._latest[queue]
                self._db.execute(_SETTLE, (*counters, queue))
