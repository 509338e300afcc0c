"""Windows of metrics that were put into the store in memory, by queue."""

from collections import defaultdict
from collections.abc import Sequence

from penstock.core.queue import QueueKey
from penstock.core.series import KEPT_DAYS, Metrics, Window, kept_from


class Series:
    def __init__(self) -> None:
        super().__init__()
        self.windows_keep_days = KEPT_DAYS
        self._windows: defaultdict[QueueKey, dict[tuple[int, int], Metrics]] = defaultdict(dict)
        """Of each queue: period and start → what was put last."""

    async def put_windows(self, windows: Sequence[Window]) -> None:
        for window in windows:
            self._windows[window.queue][window.period_seconds, window.start] = dict(window.metrics)

    async def windows(
        self, queue: QueueKey, period_seconds: int, start: int, end: int, limit: int = 1000
    ) -> dict[int, Metrics]:
        there = sorted(self._windows.get(queue, {}).items())
        found = [(at, metrics) for (period, at), metrics in there if period == period_seconds and start <= at < end]
        return dict(found[:limit])

    async def queues_with_windows(
        self, region: str, account: str, since: int, after: str = "", limit: int = 1000
    ) -> Sequence[str]:
        mine = [key for key in self._windows if key[:2] == (region, account) and key.name > after]
        return sorted(key.name for key in mine if any(at >= since for _, at in self._windows[key]))[:limit]

    def _forget_windows_of(self, account: str) -> None:
        for queue in [queue for queue in self._windows if queue.account == account]:
            del self._windows[queue]

    def _forget_windows(self, now: int) -> None:
        for queue, there in list(self._windows.items()):
            for period, at in list(there):
                if at < kept_from(period, self.windows_keep_days, now):
                    del there[period, at]
            if not there:
                del self._windows[queue]
