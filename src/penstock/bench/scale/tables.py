"""The report of a large run for people, in the manner of the scale test of Comcast's CMB."""

from collections.abc import Iterator

from penstock.bench.report import aligned
from penstock.bench.scale.operations import ratios
from penstock.bench.scale.report import COARSE_MS, FINE_MS, SLOW_MS, Cost, Histogram, ScaleReport

BAR = 40


def lines(report: ScaleReport) -> Iterator[str]:
    yield "Messages"
    rows = [(name, f"{count:,}") for name, count in (report.counts | report.problems).items()]
    yield from _indented(aligned(("WHAT", "COUNT"), rows))
    if report.empty or report.loaded:
        yield from (
            "",
            "Cost of one call: latency in ms, processor time of the server in µs; × is loaded to the same queues",
            "without messages, and in the last column to a store that has a few queues only",
        )
        yield from _indented(_costs(report))
    yield from ("", "Response times")
    yield from _indented(_histogram(report.whole()))
    yield from ("", "By action")
    rows_by_action = [
        (action, f"{one.count:,}", f"{one.mean_ms:.2f}", f"{one.max_ms:.1f}", f"{one.slow:,}")
        for action, one in report.histograms.items()
    ]
    yield from _indented(aligned(("ACTION", "CALLS", "MEAN ms", "MAX ms", f"OVER {SLOW_MS} ms"), rows_by_action))
    yield from ("", "Figures")
    yield from _indented(
        aligned(
            ("WHAT", "VALUE"),
            [(name, f"{value:,.{1 if value < 1000 else 0}f}") for name, value in report.figures.items()],
        )
    )
    yield from ("", "Must hold")
    verdicts = [(row.what, row.limit, row.measured, "ok" if row.ok else "NOT") for row in report.requirements]
    yield from _indented(aligned(("WHAT", "LIMIT", "MEASURED", "CHECKS"), verdicts))


def _costs(report: ScaleReport) -> Iterator[str]:
    headings = (
        "ACTION",
        "p50",
        "p95",
        "p99",
        "CPU",
        "p50 loaded",
        "p95 loaded",
        "p99 loaded",
        "CPU loaded",
        "× p50",
        "× CPU",
        "× CPU of few",
    )
    by_operation = {operation: (p50, cpu) for operation, p50, cpu in ratios(report.empty, report.loaded)}
    of_few = {operation: cpu for operation, _, cpu in ratios(report.few, report.loaded)}
    rows = []
    for operation in report.loaded or report.empty:
        p50, cpu = by_operation.get(operation, (None, None))
        rows.append(
            (
                operation,
                *_cost(report.empty.get(operation)),
                *_cost(report.loaded.get(operation)),
                *("" if ratio is None else f"{ratio:.2f}" for ratio in (p50, cpu, of_few.get(operation))),
            )
        )
    return aligned(headings, rows)


def _cost(cost: Cost | None) -> tuple[str, str, str, str]:
    if cost is None:
        return "", "", "", ""
    return f"{cost.p50:.2f}", f"{cost.p95:.2f}", f"{cost.p99:.2f}", "" if cost.cpu_us is None else f"{cost.cpu_us:.0f}"


def _histogram(whole: Histogram) -> Iterator[str]:
    """Buckets of 10 ms up to 100 ms, of 100 ms up to a second."""
    buckets = [(f"{at * FINE_MS}–{(at + 1) * FINE_MS} ms", count) for at, count in enumerate(whole.fine)]
    buckets += [(f"{at * COARSE_MS}–{(at + 1) * COARSE_MS} ms", count) for at, count in enumerate(whole.coarse)]
    buckets.append(("over 1,000 ms", whole.above))
    for name, count in buckets:
        share = count / max(1, whole.count)
        yield f"{name:>14}  {count:>12,}  {share:8.3%}  {'#' * round(share * BAR)}".rstrip()
    yield f"{whole.count:,} calls, {whole.slow:,} over {SLOW_MS} ms, mean {whole.mean_ms:.2f} ms"


def _indented(some: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in some)
