"""The numbers that CloudWatch is asked for: from windows that were put here, and else from the server's own counters.

A question in steps of five minutes, or of a multiple, is answered from windows of five minutes; where there is none,
from those of one minute; and where there is none of these either, from what was counted. `core.series` joins them.
"""

import asyncio

from penstock.api.call import Site
from penstock.api.cloudwatch.questions import Question
from penstock.core.metrics import Statistics, windows
from penstock.core.queue import QueueKey
from penstock.core.series import FIVE_MS, FIVE_SECONDS, MINUTE_SECONDS, Cells, Metrics, joined, points
from penstock.core.traffic import MINUTE_MS

WINDOWS_AT_ONCE = 500
"""Are read before others have their turn: some milliseconds."""


class Answers:
    """Of one request. Several questions about the same queue and time, one after the other, are read once. `read` says
    how many windows were, for whoever has to come to an end."""

    def __init__(self, site: Site, now: int) -> None:
        self._site, self._now = site, now
        self._last: tuple[QueueKey, int, int, bool] | None = None
        self._cells: Cells = {}
        self.read = 0

    async def points(self, asked: Question) -> dict[int, Statistics]:
        """By the time at which each begins, in order."""
        if asked.queue is None:
            return {}
        which = asked.queue, asked.start, asked.end, asked.period_ms % FIVE_MS == 0
        if which != self._last:
            self._last, self._cells = which, await self._joined(*which)
        return points(self._cells, asked.metric, asked.period_ms)

    async def _joined(self, queue: QueueKey, start: int, end: int, in_fives: bool) -> Cells:
        minutes = await self._put(queue, MINUTE_SECONDS, start, end)
        fives = await self._put(queue, FIVE_SECONDS, start, end) if in_fives else {}
        counted = windows(self._site.store.traffic.minutes(queue, start // MINUTE_MS, self._now), MINUTE_MS)
        return joined({at: metrics for at, metrics in counted.items() if at < end}, minutes, fives)

    async def _put(self, queue: QueueKey, period_seconds: int, start: int, end: int) -> dict[int, Metrics]:
        found: dict[int, Metrics] = {}
        while True:
            piece = await self._site.store.windows(queue, period_seconds, start, end, WINDOWS_AT_ONCE)
            found.update(piece)
            self.read += len(piece)
            if len(piece) < WINDOWS_AT_ONCE:
                return found
            start = next(reversed(found)) + 1
            await asyncio.sleep(0)
