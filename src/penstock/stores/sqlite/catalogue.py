"""What the store knows of each queue in memory: its settings, its shelf, and its counters.

Counters change with every message and are written once per commit, for the queues that the commit touched, in
the same transaction as the messages they count (`tally`). After a rollback they are read again.
"""

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.core.errors import QueueGone
from penstock.core.fairness import RecentWork
from penstock.core.queue import Queue, QueueKey
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.tally import COUNTERS, Counters, Ring, Tally

READY, IN_FLIGHT, DELAYED, DAMAGED = 0, 1, 2, 3
BYTES, GROUPS, FRESH, REACH, PLACED, AGED, OLDEST, REVISION = range(4, 12)
"""Where in an entry's numbers what is (`native/src/permit.rs` reads and writes them as well)."""
NEVER, NOTHING = 2**63 - 1, -1
UNKNOWN_AGE = 0
_NEW = 0, 0, 0, 0, 0, 0, NOTHING, NOTHING, True, True, UNKNOWN_AGE, 0
_COUNTERS = ", ".join(COUNTERS)
_COUNTED = READY, IN_FLIGHT, DELAYED, BYTES, GROUPS


@dataclass(slots=True)
class Entry:
    """A queue's live record. What every request asks of the queue's settings is worked out when they are set. What
    changes with messages is one array of numbers, so that native code can have it in hand, too: `counts` has how many
    there are in each state, and behind these what the properties below are about."""

    queue: Queue
    shelf: int
    purged: int | None = None
    counts: "array[int]" = field(default_factory=lambda: array("q", _NEW))
    check_at: int = 0
    work: RecentWork = field(default_factory=RecentWork)
    id: int = 0
    fifo: bool = False
    retention_ms: int = 0

    def __post_init__(self) -> None:
        self.describe(self.queue)

    @property
    def bytes(self) -> int:
        return self.counts[BYTES]

    @bytes.setter
    def bytes(self, size: int) -> None:
        self.counts[BYTES] = size

    @property
    def groups(self) -> int:
        return self.counts[GROUPS]

    @groups.setter
    def groups(self, number: int) -> None:
        self.counts[GROUPS] = number

    @property
    def fresh(self) -> int | None:
        """No higher than the number of the first message that stands in line as it came; None if none does."""
        number = self.counts[FRESH]
        return None if number == NOTHING else number

    @fresh.setter
    def fresh(self, number: int | None) -> None:
        self.counts[FRESH], self.reach = NOTHING if number is None else number, NOTHING

    @property
    def reach(self) -> int:
        """The end of the run in which `fresh` is, if that is known: up to there one need not ask for runs."""
        return self.counts[REACH]

    @reach.setter
    def reach(self, number: int) -> None:
        self.counts[REACH] = number

    @property
    def placed(self) -> bool:
        """Whether there may be messages with a place in line and without a group."""
        return self.counts[PLACED] != 0

    @placed.setter
    def placed(self, placed: bool) -> None:
        self.counts[PLACED] = placed

    @property
    def aged(self) -> bool:
        """Whether there may be messages that kept their age when they came from another queue."""
        return self.counts[AGED] != 0

    @aged.setter
    def aged(self, aged: bool) -> None:
        self.counts[AGED] = aged

    @property
    def oldest(self) -> int:
        """No later than the enqueue time of the oldest message; NEVER if there is none."""
        return self.counts[OLDEST]

    @oldest.setter
    def oldest(self, enqueued: int) -> None:
        self.counts[OLDEST] = enqueued

    @property
    def counters(self) -> Counters:
        """As `COUNTERS` names them."""
        return *[self.counts[which] for which in _COUNTED], self.fresh

    @counters.setter
    def counters(self, counters: Any) -> None:
        ready, in_flight, delayed, size, groups, number = counters
        fresh = NOTHING if number is None else number
        self._count(ready, in_flight, delayed, 0, size, groups, fresh, NOTHING, True, True, UNKNOWN_AGE)

    def empty(self) -> None:
        """There is nothing in it any more."""
        self._count(0, 0, 0, 0, 0, 0, NOTHING, NOTHING, True, True, NEVER)

    def _count(self, *numbers: int) -> None:
        self.counts[:REVISION] = array("q", numbers)
        self.revise()

    def revise(self) -> None:
        """Whatever was decided by what is known of this queue is to be decided again."""
        self.counts[REVISION] += 1

    def describe(self, queue: Queue) -> None:
        self.queue, self.id, self.fifo = queue, queue.id, queue.fifo
        self.retention_ms = queue.retention_seconds * 1000
        self.revise()

    @property
    def held(self) -> int:
        return sum(self.counts[:DAMAGED])


class Catalogue:
    def __init__(self, db: Database) -> None:
        self._db, self.tally = db, Tally(db)
        self._clear()

    def _clear(self) -> None:
        self._dirty: set[int] = set()
        self._restructured = False
        self.by_id: dict[int, Entry] = {}
        self.by_key: dict[QueueKey, Entry] = {}
        self.by_shelf: dict[int, Entry] = {}
        self.owned: Counter[str] = Counter()
        self._sources: dict[str, set[int]] = defaultdict(set)

    def count_natively(self, ring: type[Ring]) -> None:
        self.tally.new_ring = ring
        self.tally.load()

    def load(self) -> None:
        self._revise()
        self._clear()
        tallied = self.tally.load()
        for row in self._db.execute(
            "SELECT id, region, account, name, attributes, tags, created, modified, purged, shelf,"
            f" {_COUNTERS} FROM queue"
        ):
            queue_id, region, account, name, attributes, tags, created, modified, purged, shelf, *counters = row
            key = QueueKey(region, account, name)
            queue = Queue(queue_id, key, json.loads(attributes), json.loads(tags), created, modified)
            entry = Entry(queue, shelf, purged)
            entry.counters = tallied.get(queue_id, counters)
            self._enter(entry)

    def load_again(self) -> None:
        """After a rollback: the counters of the queues that were touched, or everything if queues came or went."""
        if self._restructured:
            return self.load()
        self._revise()
        tallied = self.tally.load()
        for queue_id in self._dirty:
            row = self._db.execute(f"SELECT {_COUNTERS} FROM queue WHERE id=?", (queue_id,)).get
            entry = self.by_id[queue_id]
            entry.counters = tallied.get(queue_id, row)
        return self._dirty.clear()

    def _revise(self) -> None:
        for entry in self.by_id.values():
            entry.revise()

    def live(self, queue_id: int) -> Entry:
        entry = self.by_id.get(queue_id)
        if entry is None:
            raise QueueGone(queue_id)
        return entry

    def held_on(self, shelf: int) -> int | None:
        """How many messages are on a shelf, if it is a queue's."""
        entry = self.by_shelf.get(shelf)
        return None if entry is None else entry.held

    def touch(self, entry: Entry) -> None:
        self._dirty.add(entry.id)

    def touch_all(self, queue_ids: Iterable[int]) -> None:
        self._dirty.update(queue_ids)

    def flush(self) -> None:
        touched = [(entry.id, *entry.counters) for id in self._dirty if (entry := self.by_id.get(id))]
        if touched:
            self.tally.write(touched)

    def committed(self) -> None:
        self._dirty.clear()
        self._restructured = False

    def create(self, key: QueueKey, attributes: dict[str, str], tags: dict[str, str], now: int) -> Queue:
        shelf = self._new_shelf()
        self._restructured = True
        self._db.execute(
            "INSERT INTO queue (region, account, name, attributes, tags, created, modified, shelf)"
            " VALUES (?,?,?,?,?,?,?,?)",
            (*key, json.dumps(attributes), json.dumps(tags), now, now, shelf),
        )
        queue_id = self._db.execute("SELECT last_insert_rowid()").get
        queue = Queue(queue_id, key, attributes, tags, now, now)
        entry = Entry(queue, shelf)
        entry.empty()
        self._enter(entry)
        return queue

    def alter(self, entry: Entry, attributes: dict[str, str], tags: dict[str, str], now: int) -> None:
        old, queue_id = entry.queue, entry.queue.id
        self._restructured = True
        modified = now if attributes != old.attributes else old.modified
        self._db.execute(
            "UPDATE queue SET attributes=?, tags=?, modified=? WHERE id=?",
            (json.dumps(attributes), json.dumps(tags), modified, queue_id),
        )
        self._unlink(entry)
        entry.describe(Queue(queue_id, old.key, attributes, tags, old.created, modified))
        self._link(entry)

    def delete(self, queue_id: int, now: int) -> None:
        entry = self.live(queue_id)
        self._restructured = True
        self._db.execute("INSERT INTO litter VALUES (?)", (entry.shelf,))
        self._db.execute("INSERT OR REPLACE INTO tombstone VALUES (?,?,?,?)", (*entry.queue.key, now))
        self._db.execute("DELETE FROM queue WHERE id=?", (queue_id,))
        del self.by_id[queue_id], self.by_key[entry.queue.key], self.by_shelf[entry.shelf]
        entry.revise()
        self.owned[entry.queue.key.account] -= 1
        self._unlink(entry)

    def deleted_at(self, key: QueueKey) -> int | None:
        found: int | None = self._db.execute(
            "SELECT deleted FROM tombstone WHERE region=? AND account=? AND name=?", tuple(key)
        ).get
        return found

    def purge(self, queue_id: int, now: int) -> Entry:
        """Give the queue an empty shelf; the old one becomes litter."""
        entry = self.live(queue_id)
        self._restructured = True
        self._db.execute("INSERT INTO litter VALUES (?)", (entry.shelf,))
        del self.by_shelf[entry.shelf]
        entry.shelf, entry.purged = self._new_shelf(), now
        entry.empty()
        self.by_shelf[entry.shelf] = entry
        self._db.execute("UPDATE queue SET shelf=?, purged=? WHERE id=?", (entry.shelf, now, queue_id))
        self.touch(entry)
        return entry

    def names(self, region: str, account: str, prefix: str, after: str, limit: int) -> Iterable[Queue]:
        rows = self._db.execute(
            "SELECT name FROM queue WHERE region=? AND account=? AND name>? AND name>=? AND name<?"
            " ORDER BY name LIMIT ?",
            (region, account, after, prefix, prefix + "\U0010ffff", limit),
        ).fetchall()
        return [self.by_key[QueueKey(region, account, name)].queue for (name,) in rows]

    def sources(self, target: Queue) -> Iterable[Queue]:
        return sorted(
            (self.by_id[i].queue for i in self._sources.get(target.arn, ())), key=lambda queue: queue.key.name
        )

    def _new_shelf(self) -> int:
        self._db.execute("INSERT OR IGNORE INTO keepsake VALUES ('shelves', 0)")
        shelf: int = self._db.execute("UPDATE keepsake SET value = value + 1 WHERE name='shelves' RETURNING value").get
        return shelf

    def _enter(self, entry: Entry) -> None:
        self.by_id[entry.queue.id] = self.by_key[entry.queue.key] = self.by_shelf[entry.shelf] = entry
        self.owned[entry.queue.key.account] += 1
        self._link(entry)

    def _link(self, entry: Entry) -> None:
        if entry.queue.redrive:
            self._sources[entry.queue.redrive.target_arn].add(entry.queue.id)

    def _unlink(self, entry: Entry) -> None:
        if entry.queue.redrive:
            self._sources[entry.queue.redrive.target_arn].discard(entry.queue.id)
