"""Results as tables: for a terminal, or in Markdown."""

from collections.abc import Iterator, Sequence

from penstock.bench.results import Latency, Point, Results, Server

MIB = 1 << 20
ACROSS = "send to reply"
"""The latency that counts in long polling: from the send to the reply of whoever waited."""
DETAILS = ("ACTION", "p50 ms", "p95 ms", "p99 ms")
HEADINGS = (
    "MODE",
    "AT",
    "CONNECTIONS",
    "MESSAGES/S",
    "RATIO",
    *DETAILS,
    "CPU s/1,000",
    "PEAK MiB",
    "DISK B/MSG",
    "CHECKS",
)
LEFT = {"MODE", "ACTION", "CHECKS", "SERVER", "WHAT", "CASE", "STEP", "UNIT", "MEANING"}


def tables(results: Results) -> Iterator[str]:
    """Everything that was measured at each server. RATIO is to the first line of the mode."""
    for server in results.servers:
        yield f"{server.title}{f' ({server.note})' if server.note else ''}"
        if server.points:
            yield from aligned(HEADINGS, [row for point in server.points for row in rows(point, server)])
        for mode, reason in server.reasons.items():
            yield f"{mode or 'all'}: not measured, {reason}"
        yield ""


def rows(point: Point, server: Server) -> Iterator[tuple[str, ...]]:
    first = next(other for other in server.points if other.mode == point.mode)
    ratio = "" if first is point or not first.per_second else f"{point.per_second / first.per_second:.2f}"
    at = "" if point.at is None else f"{point.at:,}"
    head = (point.mode, at, f"{point.connections:,}", f"{point.per_second:,.0f}", ratio)
    tail = (
        _number(point.cpu_per_1000, 3),
        _number(point.peak_bytes and point.peak_bytes / MIB, 0),
        _number(point.disk_per_message, 0),
        checks(point),
    )
    for number, (action, latency) in enumerate(sorted(point.latencies.items(), key=_order)):
        middle = (action, *(f"{value:.2f}" for value in (latency.p50, latency.p95, latency.p99)))
        yield (*head, *middle, *tail) if number == 0 else (*[""] * len(head), *middle, *[""] * len(tail))


def checks(point: Point) -> str:
    wrong = [f"{count:,} {name}" for name, count in point.problems.items() if count]
    return ", ".join(wrong) or "ok"


def _order(pair: tuple[str, Latency]) -> tuple[bool, int]:
    """The latency that counts first, then the way of a message."""
    way = ("Send", "Receive", "Delete")
    return pair[0] != ACROSS, next((number for number, verb in enumerate(way) if pair[0].startswith(verb)), len(way))


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def aligned(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as they must be, numbers to the right; a column that nobody fills is left out."""
    columns = [column for column in zip(headings, *cells, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        pairs = zip(line, widths, columns, strict=True)
        yield "  ".join(f"{cell:{'<' if column[0] in LEFT else '>'}{width}}" for cell, width, column in pairs).rstrip()


def markdown(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join('---' if name in LEFT else '---:' for name in headings)}|"
    for line in cells:
        yield f"| {' | '.join(line)} |"


# Several servers beside each other


def figure(point: Point) -> float:
    """The one number that a mode is about: messages a second, or the milliseconds of a long poll."""
    return point.latencies[ACROSS].p50 if ACROSS in point.latencies else point.per_second


def comparison(results: Results, key: tuple[str, int, int | None]) -> list[tuple[str, ...]]:
    """One measurement at every server, the first of which is ours: each round's figure, and how much better we are."""
    mode = key[0]
    ours = _mean([figure(point) for point in found(results.servers[0], key)])
    lines: list[tuple[str, ...]] = []
    for server in results.servers:
        points = found(server, key)
        figures = [figure(point) for point in points]
        if not figures:
            reason = server.reasons.get(mode) or server.reasons.get("") or "not measured"
            lines.append((server.title, "", "", "", "", "", "", reason))
            continue
        mean = _mean(figures)
        less_is_better = ACROSS in points[0].latencies
        ratio = (mean / ours if less_is_better else ours / mean) if ours and mean else 0.0
        lines.append(
            (
                server.title,
                " / ".join(f"{value:,.2f}" if less_is_better else f"{value:,.0f}" for value in figures),
                "" if server is results.servers[0] or not ratio else f"{ratio:.2f}",
                _tail(points),
                _number(_least([point.cpu_per_1000 for point in points]), 3),
                _number(_least([point.peak_bytes and point.peak_bytes / MIB for point in points]), 0),
                _number(_least([point.disk_per_message for point in points]), 0),
                "; ".join(sorted({checks(point) for point in points})),
            )
        )
    return lines


def found(server: Server, key: tuple[str, int, int | None]) -> list[Point]:
    mode, connections, at = key
    return [point for point in server.of(mode, connections) if point.at == at]


def keys(results: Results) -> list[tuple[str, int, int | None]]:
    """Every measurement that some server has, in the order in which they were made."""
    every = [(point.mode, point.connections, point.at) for server in results.servers for point in server.points]
    return list(dict.fromkeys(every))


def heading(key: tuple[str, int, int | None]) -> tuple[str, ...]:
    unit = "SEND TO REPLY p50 ms" if key[0] == "longpoll" else "MESSAGES/S"
    return "SERVER", unit, "OURS IS ×", "p99 ms", "CPU s/1,000", "PEAK MiB", "DISK B/MSG", "CHECKS"


def _tail(points: Sequence[Point]) -> str:
    """The slowest action's p99, or that of the long poll."""
    return f"{max(_p99(point) for point in points):,.2f}"


def _p99(point: Point) -> float:
    if ACROSS in point.latencies:
        return point.latencies[ACROSS].p99
    return max((latency.p99 for latency in point.latencies.values()), default=0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _least(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
