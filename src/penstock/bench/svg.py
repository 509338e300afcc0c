"""A few shapes of SVG, and the colours of all pictures: readable on light and on dark."""

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

OURS = "var(--ours)"
COLOURS = ("#1c7ed6", "#2f9e44", "#ae3ec9", "#e0a106", "#0ca678", "#e64980", "#7950f2", "#868e96")

STYLE = """
svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #d8dee4;
      --ours: #e8590c; --disk: #4c8fd0; --memory: #a9b8c6;
      font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --line: #30363d;
        --ours: #ff8a3d; --disk: #5aa2e6; --memory: #5d6b79; } }
text { fill: var(--ink); } .soft { fill: var(--soft); } .small { font-size: 11px; }
.title { font-size: 17px; font-weight: 600; } .head, .ours { font-weight: 600; }
.line { stroke: var(--line); stroke-width: 1; } polyline { fill: none; stroke-linejoin: round; }
"""


def document(width: float, height: float, title: str, shapes: Iterable[str]) -> str:
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" rx="8" style="fill: var(--paper)"/>',
            text(24, 34, title, "title"),
            *shapes,
            "</svg>\n",
        )
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start", colour: str = "") -> str:
    style = f' style="fill: {colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="line"/>'


def bar(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1.0) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(1.0, width):.1f}" height="{height:.1f}" rx="2" '
        f'style="fill: {colour}" opacity="{opacity}"/>'
    )


def path(points: Sequence[tuple[float, float]], colour: str, width: float) -> Iterator[str]:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{way}" style="stroke: {colour}; stroke-width: {width}"/>'
    for x, y in points:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 1.2:.1f}" style="fill: {colour}"/>'
