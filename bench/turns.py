"""Two ways to do a thing, measured in turn: rows of figures for `bench/storage.py`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

Figures = dict[str, float]


@dataclass(frozen=True)
class Size:
    """How much is done: rounds (of what waits for the disk, which is restless, more), batches in each, messages in the
    backlog."""

    rounds: int = 11
    disk_rounds: int = 41
    batches: int = 20
    backlog: int = 100_000


QUICK = Size(1, 1, 2, 200)


class Row(NamedTuple):
    choice: str
    case: str
    step: str
    kept: float
    other: float
    unit: str = "µs"

    @property
    def cells(self) -> tuple[str, ...]:
        digits = 0 if self.unit == "bytes" else 2
        ratio = f"{self.other / self.kept:.2f}" if self.kept >= 0.005 and self.other >= 0.005 else "–"
        return self.case, self.step, f"{self.kept:,.{digits}f}", f"{self.other:,.{digits}f}", self.unit, ratio


class Choice(NamedTuple):
    kept: str
    other: str
    measure: Callable[[Size, Path], Iterator[Row]]


def in_turn(
    rounds: int, kept: Callable[[], Figures], other: Callable[[], Figures], over: Callable[[list[float]], float] = min
) -> dict[str, tuple[float, float]]:
    """Both, round by round, each first as often as second: what disturbs the machine disturbs both."""
    found: tuple[list[Figures], list[Figures]] = ([], [])
    for number in range(rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            figures = (kept, other)[which]()
            if number or rounds == 1:  # the first is for the caches
                found[which].append(figures)
    steps = found[0][0]
    first, second = ({step: over([each[step] for each in figures]) for step in steps} for figures in found)
    return {step: (first[step], second[step]) for step in steps}
