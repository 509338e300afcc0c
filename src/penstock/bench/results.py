"""What was measured, as plain data: points, grouped by server. This is the form of the JSON file."""

import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec


@dataclass(frozen=True)
class Latency:
    """Of one action, in milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Latency":
        ordered = sorted(seconds)
        p50, p95, p99 = (ordered[int(len(ordered) * share)] * 1e3 for share in (0.5, 0.95, 0.99))
        return cls(len(ordered), p50, p95, p99, ordered[-1] * 1e3)


@dataclass(frozen=True)
class Point:
    """One measurement. `at` is what its mode varies: messages stored, queues, connections; None if it varies nothing.

    What the machine could not tell (a server elsewhere) is None. `problems` is the ledger's verdict.
    """

    mode: str
    at: int | None
    connections: int
    size: int
    seconds: float
    messages: int
    latencies: dict[str, Latency]
    problems: dict[str, int]
    empty_receives: int = 0
    cpu_per_1000: float | None = None
    peak_bytes: int | None = None
    disk_per_message: float | None = None
    client_us_per_request: float = 0.0

    @property
    def per_second(self) -> float:
        return self.messages / self.seconds if self.seconds else 0.0

    @property
    def violations(self) -> int:
        return sum(self.problems.values())


@dataclass
class Server:
    """One server's points, and why there are fewer than asked for."""

    name: str
    title: str
    durable: bool = True
    signs: bool = True
    note: str = ""
    points: list[Point] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """Mode → why it could not be measured; under "" why nothing could."""

    def of(self, mode: str, connections: int | None = None) -> list[Point]:
        wanted = (point for point in self.points if point.mode == mode)
        return [point for point in wanted if connections is None or point.connections == connections]


@dataclass
class Results:
    command: str
    machine: dict[str, Any]
    servers: list[Server]
    created: str = field(default_factory=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        plain = asdict(self)
        for server, kept in zip(plain["servers"], self.servers, strict=True):
            for point, whole in zip(server["points"], kept.points, strict=True):
                point["per_second"] = whole.per_second
        path.write_bytes(msgspec.json.encode(plain).replace(b',{"', b',\n{"') + b"\n")  # a line for each point

    @classmethod
    def read(cls, path: Path) -> "Results":
        return msgspec.json.decode(path.read_bytes(), type=cls)


def machine(folder: Path) -> dict[str, Any]:
    """What a reader must know to compare: processors, kernel, Python, and what this disk takes to be sure."""
    models = [line.partition(":")[2].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")]
    return {
        "processors": os.cpu_count(),
        "processor": models[0] if models else platform.machine(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "fdatasync_us": round(bare_fdatasync(folder), 1),
    }


def _lines(path: Path) -> Sequence[str]:
    return path.read_text().splitlines() if path.exists() else ()


def bare_fdatasync(folder: Path, times: int = 200) -> float:
    """The median time of bringing one page to the disk under `folder`, in microseconds."""
    taken = []
    path = folder / "fdatasync"
    with path.open("wb") as file:
        for number in range(times):
            os.pwrite(file.fileno(), b"x" * 4096, number * 4096)
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - started)
    path.unlink()
    return sorted(taken)[times // 2] * 1e6
