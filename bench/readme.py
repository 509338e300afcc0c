"""The figures in the README: tables and pictures made from a results file, and from nothing else."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from penstock.bench.plots import draw
from penstock.bench.report import ACROSS, figure, found, markdown
from penstock.bench.results import Point, Results, Server

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FIGURES = ROOT / "docs" / "figures"
KEPT = "readme.json"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"

COLUMNS: tuple[tuple[str, tuple[str, int, int | None]], ...] = (
    ("cycle ×64", ("cycle", 64, None)),
    ("cycle ×1", ("cycle", 1, None)),
    ("cycle10 ×16", ("cycle10", 16, None)),
    ("fifo ×16", ("fifo", 16, None)),
    ("100 k stored", ("backlog", 16, 100_000)),
    ("long poll, ms", ("longpoll", 4, None)),
)


def write(results: Path) -> Path:
    """Keep the newest results as those of the README, and write them into it."""
    candidates = [path for path in results.glob("*.json") if path.name != KEPT]
    if not candidates:
        raise SystemExit("there are no results yet: run `make bench` or `make bench-quick` first")
    newest = max(candidates, key=lambda path: path.stat().st_mtime)
    try:
        measured = Results.read(newest)
        block(measured)
    except (msgspec.DecodeError, KeyError, IndexError) as error:
        raise SystemExit(f"{newest} has another form than results have now ({error}): measure anew") from None
    measured.write(results / KEPT)
    draw(measured, FIGURES)
    text = README.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    README.write_text(f"{before}{BEGIN}\n\n{block(measured)}\n\n{END}{after}")
    return newest


def block(results: Results) -> str:
    return "\n".join(_lines(results))


def _lines(results: Results) -> Iterator[str]:
    facts = results.machine
    yield f"`{results.command}` on {facts['processors']} processors ({facts['processor']}), {facts['kernel']},"
    yield f"Python {facts['python']}, where one fdatasync takes {facts['fdatasync_us']:.0f} µs."
    yield "Messages a second, each round; for long polls p50 / p99 from the send to the reply."
    yield ""
    headings = ("SERVER", "on disk", *(name for name, _ in COLUMNS))
    yield from markdown(headings, [_row(server, server is results.servers[0]) for server in results.servers])
    yield ""
    for server in results.servers:
        for mode, reason in server.reasons.items():
            yield f"- {server.title}{f', {mode}' if mode else ''}: {reason}"
        for remark in filter(None, (server.note, _wrong(server))):
            yield f"- {server.title}: {remark}"
    growth = results.servers[0].of("backlog")
    if growth:
        yield ""
        yield from _growth(growth)
    for name in ("throughput", "latency", "backlog"):
        if (FIGURES / f"{name}.svg").exists():
            yield ""
            yield f"![{name}](docs/figures/{name}.svg)"


def _row(server: Server, ours: bool) -> tuple[str, ...]:
    cells = [_cell(found(server, key)) for _, key in COLUMNS]
    title = f"**{server.title}**" if ours else server.title
    return (title, "yes" if server.durable else "no", *(f"**{cell}**" if ours and cell else cell for cell in cells))


def _cell(points: list[Point]) -> str:
    if points and ACROSS in points[0].latencies:
        return ", ".join(f"{p.latencies[ACROSS].p50:.1f} / {p.latencies[ACROSS].p99:.1f}" for p in points)
    return ", ".join(f"{figure(point):,.0f}" for point in points) or "–"


def _wrong(server: Server) -> str:
    """What the checks found over all measurements."""
    total: dict[str, int] = {}
    for point in server.points:
        for name, count in point.problems.items():
            total[name] = total.get(name, 0) + count
    return ", ".join(f"{count:,} {name}" for name, count in total.items() if count)


def _growth(points: list[Point]) -> Iterator[str]:
    places = list(dict.fromkeys(point.at or 0 for point in points))
    cells = []
    for place in places:
        there = [point for point in points if point.at == place]
        peak = max((point.peak_bytes or 0 for point in there), default=0) >> 20
        cells.append((f"{place:,}", ", ".join(f"{point.per_second:,.0f}" for point in there), f"{peak:,}"))
    yield from markdown(("stored", "messages/s in batches of ten", "peak resident, MiB"), cells)
