"""Staying awake between requests that follow one another closely.

A client that sends its next request as soon as it is answered leaves the server idle for some tenths of a millisecond.
A processor that idles is halted, on a virtual machine by its host, and comes back late, with its caches full of what
others did. So for a moment after a request the loop looks for the next one instead of going to sleep, if this one and
several before it came within a moment of each other. Whoever comes less often, or a few times only, lets it sleep. A
machine's only processor is left to the client, and a container's share of one is not spent on waiting.

While a change is written to the disk the loop is not there to look. Then native code keeps its processor awake, and
that on which the client's bytes arrive, with threads that take no time from anybody (`native/src/wakeful.rs`).
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter

MOMENT_SECONDS = 0.0003
SEVERAL = 8
FEW = 2
"""At once: where more come, nobody's processor is idle for long."""
DISK_SECONDS = 0.001
"""Most disks have answered by then."""
QUOTA = Path("/sys/fs/cgroup/cpu.max")


class Vigil:
    """`call_soon` is the loop's: what it is given runs in the next turn, and until then the loop does not sleep.
    `keep_awake` keeps the processor from sleeping for some seconds while the loop waits for something else."""

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], object],
        clock: Callable[[], float] = perf_counter,
        keep_awake: Callable[[float], None] | None = None,
    ) -> None:
        self._call_soon, self._clock, self._worthwhile = call_soon, clock, processors() > 1
        self._keep_awake = keep_awake if self._worthwhile else None
        self._served, self._in_a_row, self._awake = 0.0, 0, False

    def requests_came(self, number: int) -> None:
        self._in_a_row = self._in_a_row + 1 if self._clock() - self._served < MOMENT_SECONDS else 0
        if self._in_a_row >= SEVERAL and number <= FEW and self._keep_awake is not None:
            self._keep_awake(DISK_SECONDS)

    def requests_served(self) -> None:
        self._served = self._clock()
        if self._in_a_row >= SEVERAL and self._worthwhile and not self._awake:
            self._look()

    def _look(self) -> None:
        self._awake = self._clock() - self._served < MOMENT_SECONDS
        if self._awake:
            self._call_soon(self._look)


def processors() -> float:
    """How many this process may use: those it may run on, or as much of them as its container may have."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # no such file, or "max"
        quota, period = map(int, QUOTA.read_text().split())
        return min(number, quota / period)
    return number
