"""What a large run found, as plain data: this is the form of its JSON. Knows no client and no server."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

FINE_MS, COARSE_MS, SLOW_MS = 10, 100, 500


@dataclass
class Histogram:
    """Response times of one action: in buckets of 10 ms up to 100 ms, of 100 ms up to a second, and above."""

    fine: list[int] = field(default_factory=lambda: [0] * 10)
    coarse: list[int] = field(default_factory=lambda: [0] * 10)
    above: int = 0
    slow: int = 0
    count: int = 0
    seconds: float = 0.0
    max_ms: float = 0.0

    def add(self, seconds: Iterable[float]) -> None:
        for value in seconds:
            ms = value * 1e3
            self.count += 1
            self.seconds += value
            self.slow += ms > SLOW_MS
            self.max_ms = max(self.max_ms, ms)
            if ms < COARSE_MS:
                self.fine[int(ms) // FINE_MS] += 1
            if ms < 1000:
                self.coarse[int(ms) // COARSE_MS] += 1
            else:
                self.above += 1

    def join(self, other: "Histogram") -> None:
        self.fine = [one + more for one, more in zip(self.fine, other.fine, strict=True)]
        self.coarse = [one + more for one, more in zip(self.coarse, other.coarse, strict=True)]
        self.above, self.slow, self.count = self.above + other.above, self.slow + other.slow, self.count + other.count
        self.seconds, self.max_ms = self.seconds + other.seconds, max(self.max_ms, other.max_ms)

    @property
    def mean_ms(self) -> float:
        return self.seconds / self.count * 1e3 if self.count else 0.0


@dataclass(frozen=True)
class Cost:
    """Of one operation, while nothing else runs: latencies in milliseconds, and the server's time for one call."""

    count: int
    p50: float
    p95: float
    p99: float
    cpu_us: float | None


@dataclass(frozen=True)
class Requirement:
    """`hard`: a promise of the protocol, which no machine is too slow for."""

    what: str
    limit: str
    measured: str
    ok: bool
    hard: bool = False


@dataclass
class ScaleReport:
    command: str
    machine: dict[str, Any]
    plan: dict[str, Any]
    phases: dict[str, str] = field(default_factory=dict)
    """What each phase had to say, in one line; or why it was left out."""
    counts: dict[str, int] = field(default_factory=dict)
    problems: dict[str, int] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    few: dict[str, Cost] = field(default_factory=dict)
    """On a store with a few queues, without messages; and on one with as many queues, without messages."""
    empty: dict[str, Cost] = field(default_factory=dict)
    loaded: dict[str, Cost] = field(default_factory=dict)
    histograms: dict[str, Histogram] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)

    def whole(self) -> Histogram:
        """All actions together."""
        total = Histogram()
        for histogram in self.histograms.values():
            total.join(histogram)
        return total

    def failed(self, *, strict: bool) -> bool:
        return any(not row.ok for row in self.requirements if row.hard or strict)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(asdict(self))) + b"\n")

    @classmethod
    def read(cls, path: Path) -> "ScaleReport":
        return msgspec.json.decode(path.read_bytes(), type=cls)
