"""What must hold at scale, as a table: a figure of the report, its limit, and how it is said."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from penstock.bench.scale.ledger import ScaleLedger
from penstock.bench.scale.operations import ratios
from penstock.bench.scale.report import Requirement, ScaleReport

MIB = 1 << 20
RATIO = 1.3
PROBLEMS = (
    "lost",
    "duplicates",
    "out of order",
    "came back after delete",
    "damaged or foreign",
    "visible too early",
    "queues with wrong counts",
    "parked receives not woken",
)
"""Any of these breaks a promise."""


@dataclass(frozen=True)
class Limit:
    """`figure` must be below `most`; shown divided by `unit`."""

    what: str
    figure: str
    most: float
    words: str
    unit: float = 1
    digits: int = 1


LIMITS = (
    Limit("resident memory at its peak, load", "peak memory bytes", 1500 * MIB, "MiB", MIB, 0),
    Limit("resident memory at its peak, work", "peak memory at work bytes", 1500 * MIB, "MiB", MIB, 0),
    Limit("disk above the body", "disk bytes per message above the body", 600, "bytes per message", 1, 0),
    Limit("processor while nothing happens", "idle CPU %", 1, "%"),
    Limit("ready again after kill -9", "ready again s", 10, "s", 1, 2),
    Limit("storm: all visible again after", "storm visible again s", 30, "s"),
    Limit("storm: p99 of other calls", "storm p99 ms", 500, "ms"),
    Limit("parked: resident memory", "parked resident bytes", 300 * MIB, "MiB", MIB, 0),
    Limit("parked: processor while nothing happens", "parked idle CPU %", 1, "%"),
)


def noted(report: ScaleReport, ledger: ScaleLedger) -> None:
    """What the ledger has counted goes into the report."""
    report.counts = {
        "sent": ledger.sent,
        "received": ledger.received,
        "deleted": ledger.deleted,
        "made visible again": ledger.visible_again,
        "empty receives": ledger.empty,
        "out of order in standard queues, which promise none": ledger.standard_out_of_order,
    }
    report.problems |= {
        "duplicates": ledger.duplicates,
        "out of order": ledger.out_of_order,
        "came back after delete": ledger.came_back,
        "damaged or foreign": ledger.damaged,
    }


def judged(report: ScaleReport) -> Iterator[Requirement]:
    for name in PROBLEMS:
        count = report.problems[name]
        yield Requirement(name, "0", f"{count:,}", count == 0, hard=True)
    for operation, p50, cpu in ratios(report.empty, report.loaded):
        ratio = p50 if cpu is None else cpu
        kind = "p50" if cpu is None else "processor time"
        yield Requirement(
            f"{operation}: {kind} to that on an empty store", f"{RATIO} ×", f"{ratio:.2f} ×", ratio <= RATIO
        )
    if "GetQueueAttributes" in report.loaded:
        p99 = report.loaded["GetQueueAttributes"].p99
        yield Requirement("GetQueueAttributes: p99", "10 ms", f"{p99:.2f} ms", p99 < 10)
    for limit in LIMITS:
        if limit.figure in report.figures:
            yield _held(limit, report.figures[limit.figure])


def _held(limit: Limit, value: float) -> Requirement:
    say: Callable[[float, int], str] = lambda number, digits: f"{number / limit.unit:,.{digits}f} {limit.words}"  # noqa: E731
    return Requirement(limit.what, say(limit.most, 0), say(value, limit.digits), value < limit.most)
