"""Numbers as a page says them: counts, bytes, durations, shares and moments, and the round steps of an axis of each."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
DURATIONS = [
    *(step for power in (1, 10, 100) for step in (power, 2 * power, 5 * power)),
    *(step * SECOND for step in (1, 2, 5, 10, 15, 30)),
    *(step * MINUTE for step in (1, 2, 5, 10, 15, 30)),
    *(step * HOUR for step in (1, 2, 3, 6, 12)),
    *(step * DAY for step in (1, 2, 5, 7, 14, 30, 90, 365)),
]
"""Round ones, in milliseconds."""
LANDMARKS = (1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY)
"""What a logarithmic axis of durations shows."""


def count(number: float) -> str:
    return f"{number:,.0f}"


def short(number: float) -> str:
    """For an axis or a headline: 1,234 · 12.3 k · 4.57 M."""
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(number) >= limit:
            return f"{_three_digits(number / (1e3 if unit == ' k' else limit))}{unit}"
    return f"{number:,.0f}" if number == round(number) or number >= 100 else f"{number:.3g}"


def headline(number: float) -> str:
    """Exact as long as a person reads it at a glance."""
    return count(number) if number < 1e6 else short(number)


def size(number: float) -> str:
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if number >= 1024**power:
            return f"{_three_digits(number / 1024**power)} {unit}"
    return f"{number:.0f} B"


def duration(ms: float | None) -> str:
    """Two units at most: 240 ms · 1.5 s · 12 s · 3 min 20 s · 5 h · 2 d 6 h."""
    if ms is None:
        return "–"
    if ms < SECOND:
        return f"{ms:.3g} ms"
    if ms < MINUTE:
        return f"{ms / SECOND:.3g} s"
    for unit, name, smaller, small in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", SECOND, "s")):
        if ms >= unit:
            whole, rest = divmod(round(ms / smaller), unit // smaller)
            return f"{whole} {name} {rest} {small}" if rest else f"{whole} {name}"
    raise AssertionError(ms)


def share(part: float, whole: float) -> str:
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.99 < percent < 100:
        return "> 99.99 %"
    return f"{percent:.3g} %"


def moment(ms: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    return f"{datetime.fromtimestamp(ms / SECOND, UTC):{form}}"


def _three_digits(number: float) -> str:
    text = f"{number:.{max(0, 2 - int(math.log10(abs(number))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class Quantity(NamedTuple):
    """What an axis measures."""

    unit: str
    words: Callable[[float], str]
    steps: Callable[[float], float]
    """The smallest round step that is at least so large."""


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step for factor in (1, 2, 5, 10) if (step := max(1.0, factor * power)) >= least)


def _round_duration(least: float) -> float:
    return next((step for step in DURATIONS if step >= least), math.ceil(least / DAY) * DAY)


def counted(unit: str) -> Quantity:
    return Quantity(unit, short, _round_step)


def timed(unit: str) -> Quantity:
    return Quantity(unit, duration, _round_duration)


def ticks(quantity: Quantity, highest: float, about: int = 4) -> Sequence[float]:
    """From 0 to the first one that is not below the highest value."""
    step = quantity.steps(max(highest, 1) / about)
    return [step * number for number in range(math.ceil(max(highest, 1) / step) + 1)]


def landmarks(lowest: float, highest: float) -> Sequence[float]:
    """For a logarithmic axis of durations: from the last one that is not above the lowest value."""
    first = max((mark for mark in LANDMARKS if mark <= lowest), default=LANDMARKS[0])
    last = min((mark for mark in LANDMARKS if mark >= highest), default=LANDMARKS[-1])
    return [mark for mark in LANDMARKS if first <= mark <= last]


def moments(start_ms: int, end_ms: int, about: int = 8) -> Sequence[tuple[int, str]]:
    """Round moments between two, with what an axis says of each: a day's first one has its date."""
    step = int(_round_duration(max((end_ms - start_ms) / about, SECOND)))
    form = "%b %d" if step >= DAY else "%H:%M" if step >= MINUTE else "%H:%M:%S"
    found, day = [], moment(start_ms, "%b %d")
    for at in range(-(-start_ms // step) * step, end_ms + 1, step):
        words = moment(at, form)
        if step < DAY and moment(at, "%b %d") != day:
            day = words = moment(at, "%b %d")
        found.append((at, words))
    return found
