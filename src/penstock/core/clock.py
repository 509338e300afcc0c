"""The one source of time: epoch milliseconds that never run backwards.

The wall clock is read once and carried forward by the monotonic clock, so that a step of the
system's time cannot make every hidden message visible at once. Whatever drift builds up between the two is
paid back slowly, at most one millisecond for each thousand that pass.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Epoch milliseconds, never less than what an earlier call returned."""
        ...

    def wall(self) -> int:
        """What the system's clock says: for comparing with the clocks of other machines."""
        ...


_steady = partial(time.clock_gettime_ns, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
"""Never steps, and goes on while the machine sleeps where the system has such a clock."""


class AnchoredClock:
    PAYBACK = 1000

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = _steady,
    ) -> None:
        self._wall, self._monotonic, self._unpaid = wall, monotonic, 0
        self._read_at = monotonic() // 1_000_000
        self._now = self.wall()

    def wall(self) -> int:
        return self._wall() // 1_000_000

    def start_from(self, known: int) -> None:
        """Time has come at least this far before, in an earlier process."""
        self._now = max(self._now, known)

    def now(self) -> int:
        read_at = self._monotonic() // 1_000_000
        if read_at > self._read_at:
            self._pass(read_at - self._read_at)
            self._read_at = read_at
        return self._now

    def _pass(self, passed: int) -> None:
        self._now += passed
        room, self._unpaid = divmod(self._unpaid + passed, self.PAYBACK)
        if room:
            drift = self.wall() - self._now
            self._now += max(-room, min(room, drift))


class ManualClock:
    """A clock that moves when told to; every test that needs time to pass uses it."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def wall(self) -> int:
        return self._now

    def advance(self, seconds: float) -> int:
        self._now += round(seconds * 1000)
        return self._now
