"""Samples, once a minute, how full queues are and how old their oldest message is: once, for the server's own counters
and for the journal alike.

A queue is sampled while it holds something, and once more when it no longer does: one that nobody uses costs nothing.
"""

import asyncio

from penstock.core.errors import QueueGone
from penstock.core.queue import Counts
from penstock.core.store import Store
from penstock.core.traffic import MINUTE_MS

QUEUES_AT_ONCE = 100


class Gauges:
    name = "gauges"

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: dict[int, Counts] = {}
        self._seen = (-1, -1)

    async def run_once(self, now: int) -> int:
        """At the start, and whenever a minute begins."""
        self._store.traffic.forget(now)
        if self._changes() != self._seen or any(counts.held for counts in self._last.values()):
            await self._sample(now)
        return now - now % MINUTE_MS + MINUTE_MS

    def _changes(self) -> tuple[int, int]:
        """The same as long as nothing came into a queue; the journal, where there is one, also tells of new queues."""
        return self._store.journal_seq(), self._store.traffic.sends

    async def _sample(self, now: int) -> None:
        """Every queue that holds something, or whose counts are not those of its last sample."""
        due: list[int] = []
        counted: dict[int, Counts] = {}
        queues = await self._store.all_queues()
        self._store.traffic.forget_use_but_of({queue.key for queue in queues})
        for number, queue in enumerate(queues):
            if number % QUEUES_AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                counted[queue.id] = counts = await self._store.counts(queue.id, now)
            except QueueGone:
                continue
            if counts.held or counts != self._last.get(queue.id):
                due.append(queue.id)
        for start in range(0, len(due), QUEUES_AT_ONCE):
            await self._store.gauge(due[start : start + QUEUES_AT_ONCE], now)
        self._last, self._seen = counted, self._changes()
