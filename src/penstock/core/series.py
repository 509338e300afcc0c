"""A queue's metrics over time: windows that were put into a store, and how a question of any period is answered.

Whoever counts from the journal puts windows there, of one or of five minutes, when they are over. They outlive the
process and the three hours of the server's own counters (`core.traffic`), which answer where no window was put. Nothing
is ever counted twice: of a minute there is one cell, and five minutes that were put as one take the place of theirs.
"""

from collections.abc import Mapping
from typing import NamedTuple

from penstock.core.metrics import Statistics
from penstock.core.queue import QueueKey

MINUTE_SECONDS, FIVE_SECONDS = PERIODS = (60, 300)
"""Windows are this long, and begin at multiples of it since the epoch."""
FIVE_MS = FIVE_SECONDS * 1000
KEPT_DAYS, MINUTES_KEPT_DAYS = 63, 15
"""As Amazon keeps them: windows of one minute for a shorter time."""
DAY_MS = 86_400_000

Metrics = Mapping[str, Statistics]
"""By Amazon's name. A metric without a sample is not there."""
Cells = Mapping[int, Metrics]
"""By the time at which each begins."""


class Window(NamedTuple):
    """`start` is epoch milliseconds."""

    queue: QueueKey
    period_seconds: int
    start: int
    metrics: Metrics


def kept_from(period_seconds: int, days: int, now: int) -> int:
    """Windows that begin earlier are to be forgotten. Without a number of days, none is."""
    if not days:
        return 0
    return now - (min(days, MINUTES_KEPT_DAYS) if period_seconds == MINUTE_SECONDS else days) * DAY_MS


def joined(counted: Cells, minutes: Cells, fives: Cells) -> dict[int, Metrics]:
    """What was counted here, minute by minute, with what was put in its place: each moment is in one cell. `fives` is
    empty for a question whose period is not made of five minutes."""
    cells = {**counted, **minutes}
    return {start: metrics for start, metrics in cells.items() if start - start % FIVE_MS not in fives} | dict(fives)


def points(cells: Cells, name: str, period_ms: int) -> dict[int, Statistics]:
    """One metric, window by window, in order. No cell is longer than the period, or lies across its bounds."""
    found: dict[int, Statistics] = {}
    for start in sorted(cells):
        if one := cells[start].get(name):
            point = start - start % period_ms
            found[point] = merged(found[point], one) if point in found else one
    return found


def merged(one: Statistics, other: Statistics) -> Statistics:
    return Statistics(
        one.samples + other.samples,
        one.sum + other.sum,
        min(one.minimum, other.minimum),
        max(one.maximum, other.maximum),
    )
