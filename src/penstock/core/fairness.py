"""Fair queues: which groups of a standard queue are noisy neighbours, and so wait behind the quiet ones.

A group is a tenant; a message without a group is a tenant of its own and never noisy. A group turns noisy when
it holds a large share of what is in flight, or took a large share of the recent processing time. It is quiet again
when its backlog is consumed or nothing was sent to it for a while. Nothing is dropped or slowed down: noise only
decides who goes first when there is a choice. Among noisy groups the one with the fewest messages in flight goes first.

Processing time is remembered in memory for one to two minutes: after a restart a group has to be noisy again to count.
"""

from dataclasses import dataclass, field

SHARE = 10
"""A group is noisy with more than one tenth…"""
FEWEST = 30
"""…but not while it has fewer messages in flight, or the queue fewer recent deliveries, than this."""
QUIET_AFTER_MS = 300_000
RECENT_MS = 60_000


@dataclass(slots=True)
class _Work:
    busy_ms: int = 0
    deliveries: int = 0
    by_group: dict[str, int] = field(default_factory=dict)

    def add(self, group: str | None, busy_ms: int) -> None:
        self.busy_ms += busy_ms
        self.deliveries += 1
        if group is not None:
            self.by_group[group] = self.by_group.get(group, 0) + busy_ms


class RecentWork:
    """Processing time of one queue, by group, over the last one to two minutes."""

    def __init__(self) -> None:
        self._now, self._before, self._turned = _Work(), _Work(), 0

    def add(self, group: str | None, busy_ms: int, now: int) -> None:
        self._turn(now)
        self._now.add(group, busy_ms)

    def dominated_by(self, group: str, now: int) -> bool:
        self._turn(now)
        if self._now.deliveries + self._before.deliveries < FEWEST:
            return False
        mine = self._now.by_group.get(group, 0) + self._before.by_group.get(group, 0)
        return mine * SHARE > self._now.busy_ms + self._before.busy_ms

    def _turn(self, now: int) -> None:
        passed = now - self._turned
        if passed >= RECENT_MS:
            self._before = self._now if passed < 2 * RECENT_MS else _Work()
            self._now, self._turned = _Work(), now


def dominates_in_flight(group_in_flight: int, queue_in_flight: int) -> bool:
    return group_in_flight >= FEWEST and group_in_flight * SHARE > queue_in_flight


def calmed(backlog: int, last_sent: int, now: int) -> bool:
    """Whether a noisy group may count as quiet again."""
    return backlog == 0 or now - last_sent >= QUIET_AFTER_MS
