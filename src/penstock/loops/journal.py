"""What the journal needs done in the background: lines made to last, segments published, old ones deleted, gauges.

It sleeps while nothing happens: the journal wakes it with the first event after a pause.
"""

import asyncio

from penstock.core.errors import QueueGone
from penstock.core.queue import Counts
from penstock.core.store import Store
from penstock.journal.keeping import QUEUES_AT_ONCE, JournalOfServer
from penstock.journal.writer import FULL_DISK

SYNC_EVERY_MS = 1000
MINUTE_MS = 60_000


class JournalKeeper:
    name = "journal"

    def __init__(self, journal: JournalOfServer, store: Store) -> None:
        self._journal, self._store = journal, store
        self._gauge_at = self._retain_at = 0
        self._gauged: dict[int, Counts] = {}
        self._gauged_seq = -1

    async def run_once(self, now: int) -> int | None:
        writer = self._journal.writer
        try:
            await self._journal.settle(now)
            await writer.catch_up(self._store)
            opened = writer.open
            if opened and opened.since + self._journal.keeping.segment_seconds * 1000 <= now:
                writer.roll()
            await writer.sync(self._store)
            await writer.publish()
            if self._retain_at <= now:
                self._retain_at = now + MINUTE_MS
                await self._journal.enforce_retention()
        except OSError as error:
            if error.errno not in FULL_DISK:
                self._journal.on_fatal(error)
            writer.full = True
        else:
            writer.full = writer.full and writer.behind
        if self._gauge_at <= now:
            self._gauge_at = now - now % MINUTE_MS + MINUTE_MS
            await self._gauge(now)
        return self._next(now)

    def _next(self, now: int) -> int:
        """A second later while there is something to make last; else when a segment or a minute is over."""
        writer = self._journal.writer
        if not self._journal.idle:
            return now + SYNC_EVERY_MS
        due = [self._gauge_at, self._retain_at]
        if writer.open:
            due.append(writer.open.since + self._journal.keeping.segment_seconds * 1000)
        return max(now + 1, min(due))

    async def _gauge(self, now: int) -> None:
        """Of every queue that holds something, or whose counts are not those of its last gauge."""
        if self._gauged_seq == self._store.journal_seq() and not any(sum(c[:3]) for c in self._gauged.values()):
            return
        due: list[int] = []
        counted: dict[int, Counts] = {}
        for number, queue in enumerate(await self._store.all_queues()):
            if number % QUEUES_AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                counted[queue.id] = counts = await self._store.counts(queue.id, now)
            except QueueGone:
                continue
            if sum(counts[:3]) or counts != self._gauged.get(queue.id):
                due.append(queue.id)
        for start in range(0, len(due), QUEUES_AT_ONCE):
            await self._store.gauge(due[start : start + QUEUES_AT_ONCE], now)
        self._gauged, self._gauged_seq = counted, self._store.journal_seq()
