"""Plots over time as SVG: lines and stacked columns, with axes, and what a pointer finds over each bucket.

Colours are classes (`tone-…`), so that the page decides them for light, dark and paper. No script is needed: the value
under a pointer is the title of its bucket.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.pipeline.reporting.markup import Markup, element, joined
from penstock.pipeline.reporting.quantities import MINUTE, Quantity, landmarks, moment, moments, ticks

WIDTH, HEIGHT = 720, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 28, 30
INNER = WIDTH - LEFT - RIGHT
FLOOR = HEIGHT - BOTTOM
WIDE = 100
"""A greatest value so many times the smallest is shown on a logarithmic axis, where durations are meant."""


@dataclass(frozen=True)
class Span:
    """Time in buckets of one width; the first begins at `start_ms`."""

    start_ms: int
    bucket_ms: int
    buckets: int

    @property
    def end_ms(self) -> int:
        return self.start_ms + self.bucket_ms * self.buckets

    def x(self, ms: float) -> float:
        return LEFT + INNER * (ms - self.start_ms) / max(1, self.end_ms - self.start_ms)

    def middle(self, bucket: int) -> float:
        return self.x(self.start_ms + (bucket + 0.5) * self.bucket_ms)

    def named(self, bucket: int) -> str:
        """The time of a bucket, as a pointer finds it."""
        begin = self.start_ms + bucket * self.bucket_ms
        form = "%H:%M" if self.bucket_ms >= MINUTE else "%H:%M:%S"
        return f"{moment(begin, '%b %d')} {moment(begin, form)}–{moment(begin + self.bucket_ms, form)}"


@dataclass(frozen=True)
class Series:
    name: str
    tone: str
    values: Sequence[float | None]
    """One for each bucket; None where nothing is known."""
    said: str = ""
    """The sum of it, for the legend."""


@dataclass(frozen=True)
class Scale:
    """Value → height."""

    marks: Sequence[float]
    logarithmic: bool = False

    def y(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        if self.logarithmic:
            part = math.log(max(value, low) / low) / math.log(high / low)
        else:
            part = (value - low) / (high - low)
        return FLOOR - (FLOOR - TOP) * min(part, 1.0)


def legend(series: Sequence[Series]) -> Markup:
    return element(
        "ul",
        *(
            element(
                "li", element("i", class_=f"key {one.tone}"), one.name, element("b", one.said) if one.said else Markup()
            )
            for one in series
        ),
        class_="legend",
    )


def lines(span: Span, series: Sequence[Series], quantity: Quantity, may_be_logarithmic: bool = False) -> Markup:
    known = [value for one in series for value in one.values if value is not None]
    scale = _scale(known, quantity, may_be_logarithmic)
    drawn = [_line(span, one, scale) for one in series]
    return _plot(span, series, scale, quantity, drawn)


def columns(span: Span, series: Sequence[Series], quantity: Quantity) -> Markup:
    """Stacked, the first series at the bottom."""
    heights = [sum(one.values[bucket] or 0 for one in series) for bucket in range(span.buckets)]
    scale = _scale(heights, quantity, False)
    drawn = [_stack(span, series, bucket, scale) for bucket in range(span.buckets) if heights[bucket]]
    return _plot(span, series, scale, quantity, drawn)


def _scale(values: Sequence[float], quantity: Quantity, may_be_logarithmic: bool) -> Scale:
    above = [value for value in values if value > 0]
    if may_be_logarithmic and above and max(above) > WIDE * min(above):
        return Scale(landmarks(min(above), max(above)), logarithmic=True)
    return Scale(ticks(quantity, max(values, default=0)))


def _line(span: Span, one: Series, scale: Scale) -> Markup:
    """Unbroken where neighbours are known; a value without any is a dot."""
    strokes, dots, run = list[str](), list[Markup](), list[str]()
    for bucket, value in enumerate([*one.values, None]):
        if value is not None:
            run.append(f"{span.middle(bucket):.1f} {scale.y(value):.1f}")
        elif len(run) == 1:
            x, y = run.pop().split()
            dots.append(element("circle", cx=x, cy=y, r=3))
        elif run:
            strokes.append("M" + "L".join(run))
            run = []
    path = element("path", d="".join(strokes)) if strokes else Markup()
    return element("g", path, dots, class_=f"line {one.tone}")


def _stack(span: Span, series: Sequence[Series], bucket: int, scale: Scale) -> Markup:
    width = INNER / span.buckets
    gap = min(2.0, width / 8)
    at, pieces = 0.0, []
    for one in series:
        if value := one.values[bucket]:
            top, bottom = scale.y(at + value), scale.y(at)
            x = span.middle(bucket) - width / 2 + gap / 2
            shape = {"x": x, "y": top, "width": f"{width - gap:.2f}", "height": max(0.5, bottom - top)}
            pieces.append(element("rect", class_=f"column {one.tone}", **shape))
            at += value
    return joined(pieces)


def _plot(span: Span, series: Sequence[Series], scale: Scale, quantity: Quantity, drawn: Sequence[Markup]) -> Markup:
    label = f"{', '.join(one.name for one in series)}: {quantity.unit} over time"
    plot = element(
        "svg",
        element("text", quantity.unit, x=LEFT - 8, y=12, class_="unit"),
        _levels(scale, quantity),
        _times(span),
        drawn,
        [_bucket(span, series, quantity, bucket) for bucket in range(span.buckets)],
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=label,
    )
    return element("div", plot, class_="wide")


def _levels(scale: Scale, quantity: Quantity) -> Markup:
    drawn = []
    for mark in scale.marks:
        y = scale.y(mark)
        words = quantity.words(mark)
        if scale.logarithmic and mark == scale.marks[0]:
            words = f"≤ {words}"
        drawn.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="level"))
        drawn.append(element("text", words, x=LEFT - 8, y=y + 4, class_="mark"))
    return joined(drawn)


def _times(span: Span) -> Markup:
    drawn = []
    for at, words in moments(span.start_ms, span.end_ms):
        x = span.x(at)
        drawn.append(element("line", x1=x, x2=x, y1=FLOOR, y2=FLOOR + 4, class_="tick"))
        if LEFT + 10 <= x <= WIDTH - RIGHT - 26 - 4 * len(words):
            drawn.append(element("text", words, x=x, y=FLOOR + 18, class_="time"))
    drawn.append(element("text", "UTC", x=WIDTH - RIGHT, y=FLOOR + 18, class_="zone"))
    return joined(drawn)


def _bucket(span: Span, series: Sequence[Series], quantity: Quantity, bucket: int) -> Markup:
    """What a pointer finds; empty buckets have nothing to say."""
    known = [(one.name, value) for one in series if (value := one.values[bucket]) is not None]
    if not any(value for _, value in known):
        return Markup()
    words = "\n".join([span.named(bucket), *(f"{name}: {quantity.words(value)}" for name, value in known)])
    x, width = span.middle(bucket), INNER / span.buckets
    area = element("rect", x=x - width / 2, y=TOP, width=f"{width:.2f}", height=FLOOR - TOP)
    guide = element("line", x1=x, x2=x, y1=TOP, y2=FLOOR)
    return element("g", element("title", words), area, guide, class_="hit")
