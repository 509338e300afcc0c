"""Work that is nobody's request: making messages ready on time, dropping expired ones, clearing litter.

Each step does a little and says when the next is due, so that no request waits long behind it.
"""

import heapq
import math
from itertools import islice

from penstock.stores.sqlite.catalogue import Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.series import Series
from penstock.stores.sqlite.shelves import EXPIRED_AT_ONCE, Shelves

ROWS_AT_ONCE = 500
QUEUES_AT_ONCE = 100
FORGET_EVERY_MS = 60_000
LOOK_FOR_SPACE_EVERY_MS = 1000
SPACE_NEEDED = 262_144
"""Bytes: a disk that takes this much again is not full."""
TOMBSTONE_MS = 120_000
KEYS = {"message_group": "shelf, name", "deduplication": "shelf, scope, name", "attempt": "shelf, name"}
"""By table: the columns that a row of it is told by."""


class Upkeep:
    def __init__(self, db: Database, catalogue: Catalogue, shelves: Shelves, series: Series) -> None:
        self._db, self._catalogue, self._shelves, self._series = db, catalogue, shelves, series
        self._checks: list[tuple[int, int]] = []
        self._forget_at = 0

    def load(self) -> None:
        for entry in self._catalogue.by_id.values():
            entry.check_at = 0
        self._checks = [(0, queue_id) for queue_id in self._catalogue.by_id]
        self._forget_at = 0

    def check(self, entry: Entry) -> None:
        """Look at this queue's retention soon: it was created, or its settings changed."""
        entry.check_at = 0
        heapq.heappush(self._checks, (0, entry.queue.id))

    def step(self, now: int) -> int:
        if self._db.disk_full and self._db.look_for_room():
            self._db.execute("INSERT OR REPLACE INTO keepsake VALUES ('space', zeroblob(?))", (SPACE_NEEDED,))
            return now + LOOK_FOR_SPACE_EVERY_MS
        if not self._db.disk_full:
            self._db.set_room_aside()
        self._shelves.catch_up(now)
        expiring = self._expire(now)
        littered = self._clear_litter() or self._shelves.runs.sweep()
        forgetting = self._forget(now)
        if expiring or littered or forgetting:
            return now
        next_check = self._checks[0][0] if self._checks else math.inf
        look_again = now + (LOOK_FOR_SPACE_EVERY_MS if self._db.disk_full else FORGET_EVERY_MS)
        return int(min(self._shelves.next_due, next_check, self._forget_at, look_again))

    def _expire(self, now: int) -> bool:
        expired = 0
        for _ in range(QUEUES_AT_ONCE):
            if expired >= EXPIRED_AT_ONCE:
                return True
            if not self._checks or self._checks[0][0] > now:
                return False
            at, queue_id = heapq.heappop(self._checks)
            entry = self._catalogue.by_id.get(queue_id)
            if entry is None or entry.check_at != at:
                continue
            dropped = self._shelves.expire(entry, now)
            expired += dropped
            oldest = min(entry.oldest, now)
            entry.check_at = now if dropped == EXPIRED_AT_ONCE else max(oldest + entry.retention_ms, now + 1)
            heapq.heappush(self._checks, (entry.check_at, queue_id))
        return True

    def _clear_litter(self) -> bool:
        """A few rows of one abandoned shelf; whether there may be more."""
        shelf = self._db.execute("SELECT shelf FROM litter LIMIT 1").get
        if shelf is None:
            return False
        runs = self._shelves.runs
        numbers = list(islice(runs.rows(shelf, runs.floor(shelf), "number"), ROWS_AT_ONCE))
        for number in numbers:
            self._db.execute("DELETE FROM bulk WHERE number=?", number)
            self._db.execute("DELETE FROM message WHERE number=?", number)
        if len(numbers) == ROWS_AT_ONCE:
            runs.raise_floor(shelf, numbers[-1][0])
            return True
        if not runs.forget(shelf) and not any(self._drop(table, "shelf=?", shelf) for table in KEYS):
            self._db.execute("DELETE FROM litter WHERE shelf=?", (shelf,))
        return True

    def _forget(self, now: int) -> bool:
        """Drop deduplication ids, receive attempts, tombstones and windows that are past their time."""
        if self._forget_at > now:
            return False
        self._drop_old_checks()
        self._db.fit_to_size()
        self._db.execute("DELETE FROM keepsake WHERE name='space'")
        self._db.execute("DELETE FROM tombstone WHERE deleted<=?", (now - TOMBSTONE_MS,))
        expiring = [self._drop(table, "expires<=?", now) for table in ("deduplication", "attempt")]
        more = self._series.forget(now) or any(expiring)
        oldest = self._db.execute("SELECT min(deleted) FROM tombstone").get
        self._forget_at = now if more else min(now + FORGET_EVERY_MS, (oldest or now) + TOMBSTONE_MS)
        return more

    def _drop_old_checks(self) -> None:
        """Of queues that are gone, and of settings that have changed since: some would lie there for a fortnight."""
        entries = self._catalogue.by_id
        if len(self._checks) > 2 * len(entries) + QUEUES_AT_ONCE:
            self._checks = [(entry.check_at, queue_id) for queue_id, entry in entries.items()]
            heapq.heapify(self._checks)

    def _drop(self, table: str, condition: str, bound: int) -> bool:
        """Some of the rows for which it holds; whether there may be more."""
        key = KEYS[table]
        rows = self._db.execute(
            f"SELECT {key} FROM {table} WHERE {condition} LIMIT ?", (bound, ROWS_AT_ONCE)
        ).fetchall()
        where = " AND ".join(f"{column}=?" for column in key.split(", "))
        for row in rows:
            self._db.execute(f"DELETE FROM {table} WHERE {where}", row)
        return len(rows) == ROWS_AT_ONCE
