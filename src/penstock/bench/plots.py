"""Results as pictures: throughput side by side, latency, and growth with what is stored. Knows no servers by name; the
first one is ours."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from penstock.bench import svg
from penstock.bench.modes import MODES
from penstock.bench.report import ACROSS, figure, found, keys
from penstock.bench.results import Point, Results, Server

WIDTH = 820.0
NAMES = 232.0
ROOM = WIDTH - NAMES - 150
ROW = 24.0
Key = tuple[str, int, int | None]
Label = tuple[float, float, str, str]
"""Height, place from the left, words, colour."""


def draw(results: Results, folder: Path) -> list[Path]:
    """Write every picture that these results are enough for."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, str | None] = {"throughput": throughput(results), "latency": latency(results)}
    pictures |= {name: growth(results, name) for name, mode in MODES.items() if mode.axis}
    written = []
    for name, picture in pictures.items():
        if picture is not None:
            path = folder / f"{name}.svg"
            path.write_text(picture)
            written.append(path)
    return written


def throughput(results: Results) -> str | None:
    """Bars: messages a second, a panel for each measurement that varies nothing."""
    panels = [key for key in keys(results) if key[2] is None and not _measures_delay(results, key)]
    if not panels:
        return None
    shapes: list[str] = [*_legend(results)]
    top = 84.0
    for key in panels:
        rows = _rows(results, key, figure)
        most = max((max(values) for _, values, _ in rows if values), default=0.0) or 1.0
        shapes.append(svg.text(24, top, _heading(results, key), "head"))
        for number, (server, values, reason) in enumerate(rows):
            shapes += _bar(server, values, reason, top + 12 + number * ROW, most, server is results.servers[0])
        top += 12 + len(rows) * ROW + 30
    for server in results.servers:
        if "" in server.reasons:
            shapes.append(svg.text(24, top - 8, _cut(f"{server.title}: {server.reasons['']}", 120), "soft small"))
            top += 18
    return svg.document(WIDTH, top - 10, "Messages per second (more is better)", shapes)


def latency(results: Results) -> str | None:
    """Spans from p50 to p99 on a logarithmic scale: the long poll, and the slowest action of one lone connection."""
    panels = [key for key in keys(results) if key[2] is None and (_measures_delay(results, key) or key[1] == 1)]
    if not panels:
        return None
    shapes: list[str] = []
    top = 76.0
    for key in panels:
        rows = [(s, [_span(point) for point in found(s, key)]) for s in results.servers if found(s, key)]
        rows.sort(key=lambda row: row[1][0][0])
        every = [value for _, spans in rows for span in spans for value in span]
        low, high = 10 ** math.floor(math.log10(min(every))), 10 ** math.ceil(math.log10(max(every)))
        scale = _logarithmic(low, max(high, low * 10), NAMES, NAMES + ROOM)
        what = "from a send to the reply of a parked receiver" if key[0] == "longpoll" else "the slowest call of three"
        shapes.append(svg.text(24, top, f"{_heading(results, key)}: {what}, p50 to p99", "head"))
        shapes += _scale(low, high, scale, top + 8, top + 16 + len(rows) * ROW)
        for number, (server, spans) in enumerate(rows):
            shapes += _spans(server, spans, scale, top + 14 + number * ROW, server is results.servers[0])
        top += len(rows) * ROW + 62
    return svg.document(WIDTH, top - 20, "Latency in milliseconds (less is better)", shapes)


def growth(results: Results, mode: str) -> str | None:
    """Lines: messages a second against what the mode varies, both on logarithmic scales."""
    lines = [(server, _means(server.of(mode))) for server in results.servers]
    lines = [(server, points) for server, points in lines if len(points) > 1]
    if not lines:
        return None
    top, bottom, left, right = 70.0, 400.0, 80.0, WIDTH - 215
    places = sorted({at for _, points in lines for at, _ in points})
    speeds = [speed for _, points in lines for _, speed in points if speed > 0]
    low, high = 10 ** math.floor(math.log10(min(speeds))), 10 ** math.ceil(math.log10(max(speeds)))
    along = _along(places, left, right)
    upward = _logarithmic(low, max(high, low * 10), bottom, top)
    shapes = [svg.text((left + right) / 2, bottom + 46, MODES[mode].axis, "soft", "middle")]
    for power in range(round(math.log10(low)), round(math.log10(max(high, low * 10))) + 1):
        y = upward(10.0**power)
        shapes += [svg.line(left, y, right, y), svg.text(left - 10, y + 4, _short(10.0**power), "soft", "end")]
    shapes += [svg.text(along(at), bottom + 22, _short(at), "soft", "middle") for at in places]
    labels: list[Label] = []
    for number, (server, points) in enumerate(lines):
        ours = server is results.servers[0]
        colour = svg.OURS if ours else svg.COLOURS[(number - 1) % len(svg.COLOURS)]
        way = [(along(at), upward(max(speed, low))) for at, speed in points]
        shapes += svg.path(way, colour, 3 if ours else 2)
        labels.append((way[-1][1], way[-1][0] + 12, server.title, colour))
    shapes += [svg.text(x, y + 4, words, colour=colour) for y, x, words, colour in _apart(labels)]
    title = f"Messages per second by {MODES[mode].axis} (flat is good, high is better)"
    return svg.document(WIDTH, bottom + 66, title, shapes)


def _legend(results: Results) -> Iterator[str]:
    x = 24.0
    kinds = [("ours, on disk", svg.OURS)]
    if any(not server.durable for server in results.servers[1:]):
        kinds.append(("in memory: a crash loses all", "var(--memory)"))
    if any(server.durable for server in results.servers[1:]):
        kinds.append(("writes to disk", "var(--disk)"))
    for words, colour in kinds if len(results.servers) > 1 else ():
        yield svg.bar(x, 48, 12, 12, colour)
        yield svg.text(x + 18, 58, words, "soft")
        x += 18 + 7.4 * len(words) + 22


def _bar(server: Server, values: Sequence[float], reason: str, y: float, most: float, ours: bool) -> Iterator[str]:
    yield svg.text(NAMES - 12, y + 14, server.title, "ours" if ours else "", "end")
    if not values:
        yield svg.text(NAMES, y + 14, _cut(reason, 80), "soft small")
        return
    colour = svg.OURS if ours else "var(--disk)" if server.durable else "var(--memory)"
    mean = sum(values) / len(values)
    yield svg.bar(NAMES, y, mean / most * ROOM, ROW - 6, colour)
    yield svg.text(NAMES + mean / most * ROOM + 8, y + 14, f"{mean:,.0f}", "ours" if ours else "soft")


def _spans(
    server: Server, spans: Sequence[tuple[float, float]], scale: Callable[[float], float], y: float, ours: bool
) -> Iterator[str]:
    yield svg.text(NAMES - 12, y + 14, server.title, "ours" if ours else "", "end")
    p50 = sum(span[0] for span in spans) / len(spans)
    p99 = sum(span[1] for span in spans) / len(spans)
    colour = svg.OURS if ours else "var(--disk)" if server.durable else "var(--memory)"
    yield svg.bar(scale(p50), y + 3, scale(p99) - scale(p50), ROW - 12, colour)
    yield svg.text(scale(p99) + 8, y + 14, f"{_ms(p50)} – {_ms(p99)}", "ours" if ours else "soft")


def _scale(low: float, high: float, scale: Callable[[float], float], top: float, bottom: float) -> Iterator[str]:
    for power in range(round(math.log10(low)), round(math.log10(max(high, low * 10))) + 1):
        x = scale(10.0**power)
        yield svg.line(x, top, x, bottom)
        yield svg.text(x, bottom + 14, f"{10.0**power:g}", "soft small", "middle")


def _rows(results: Results, key: Key, of: Callable[[Point], float]) -> list[tuple[Server, list[float], str]]:
    """Every server that could be measured at all, the fastest first; those without a figure last, with the reason."""
    rows = []
    for server in results.servers:
        values = [of(point) for point in found(server, key)]
        if values or "" not in server.reasons:
            rows.append((server, values, server.reasons.get(key[0], "not measured")))
    return sorted(rows, key=lambda row: -sum(row[1]) / max(1, len(row[1])))


def _heading(results: Results, key: Key) -> str:
    mode, connections, _ = key
    point = next(point for server in results.servers for point in found(server, key))
    size = f"{point.size >> 20} MiB" if point.size >= 1 << 20 else f"{point.size} bytes"
    return f"{mode}, {connections} connection{'s' if connections > 1 else ''}, {size}"


def _measures_delay(results: Results, key: Key) -> bool:
    return any(ACROSS in point.latencies for server in results.servers for point in found(server, key))


def _span(point: Point) -> tuple[float, float]:
    if ACROSS in point.latencies:
        return point.latencies[ACROSS].p50, point.latencies[ACROSS].p99
    every = point.latencies.values()
    return max(one.p50 for one in every), max(one.p99 for one in every)


def _means(points: Sequence[Point]) -> list[tuple[int, float]]:
    by_place: dict[int, list[float]] = {}
    for point in points:
        if point.at is not None:
            by_place.setdefault(point.at, []).append(point.per_second)
    return [(at, sum(values) / len(values)) for at, values in sorted(by_place.items())]


def _logarithmic(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = math.log10(high) - math.log10(low)
    return lambda value: start + (math.log10(value) - math.log10(low)) / span * (end - start)


def _along(places: Sequence[int], left: float, right: float) -> Callable[[float], float]:
    """Logarithmic, with nothing at all one decade before the first something."""
    something = [at for at in places if at > 0]
    least = min(something) / 10 if 0 in places else min(something)
    if least == max(something):
        return lambda at: (left + right) / 2
    scale = _logarithmic(least, max(something), left + 20, right - 20)
    return lambda at: scale(at if at > 0 else least)


def _apart(labels: list[Label], gap: float = 16.0) -> list[Label]:
    """Labels from top to bottom, moved down where they would overlap."""
    placed: list[Label] = []
    for y, x, words, colour in sorted(labels):
        placed.append((max(y, placed[-1][0] + gap) if placed else y, x, words, colour))
    return placed


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {letter}"
    return f"{value:g}"


def _ms(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
