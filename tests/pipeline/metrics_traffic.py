"""Events as queues make them, drawn by Hypothesis or by chance: for tests of metrics."""

import random
from typing import Any

from hypothesis import strategies as st

from pipeline.journals import Line, line

TYPES = (None, "order", "refund")
GROUPS = (None, "a", "b", "c")
KINDS = ("SENT", "RECEIVED", "DELETED", "EMPTY_RECEIVE", "DEAD_LETTERED", "EXPIRED", "GAUGE", "DEDUPLICATED", "PURGED")


def fields(kind: str, draw: "Draw") -> dict[str, Any]:
    """What a line of this kind has besides what every line has."""
    about = {"type": draw.one(TYPES), "group": draw.one(GROUPS), "size": draw.number(1, 2000)}
    match kind:
        case "SENT" | "DEDUPLICATED":
            chosen = about
        case "RECEIVED":
            times = {"receive_count": draw.number(1, 3), "duration_ms": draw.number(0, 900)}
            chosen = about | times | {"reason": draw.one((None, None, None, "repeat"))}
        case "DELETED" | "DEAD_LETTERED" | "EXPIRED":
            chosen = {"receive_count": draw.number(0, 3), "duration_ms": draw.number(0, 900)}
        case "GAUGE":
            depths = {name: draw.number(0, 50) for name in ("visible", "in_flight", "delayed")}
            age = draw.one((None, draw.number(0, 99_999)))
            chosen = depths | {"duration_ms": age, "reason": draw.one((None, None, "baseline"))}
        case _:
            chosen = {}
    return {name: value for name, value in chosen.items() if value is not None}


class Draw:
    def __init__(self, random: random.Random) -> None:
        self._random = random

    def one(self, values: tuple[Any, ...]) -> Any:
        return self._random.choice(values)

    def number(self, least: int, greatest: int) -> int:
        return self._random.randint(least, greatest)


def traffic(seed: int, events: int, minutes: int, queues: int = 3) -> list[Line]:
    """Events in the order of their time, over so many minutes."""
    chance = random.Random(seed)
    draw = Draw(chance)
    times = sorted(chance.randrange(minutes * 60_000) for _ in range(events))
    return [_line(number, after, draw, f"queue-{chance.randrange(queues)}") for number, after in enumerate(times, 1)]


def _line(number: int, after: int, draw: Draw, queue: str) -> Line:
    kind = draw.one(KINDS)
    return line(number, kind, after, **fields(kind, draw), queue=queue)


class Cases(list[Line]):
    """Shown by its length: Hypothesis would print all of it."""

    def __repr__(self) -> str:
        return f"{len(self)} events"


@st.composite
def cases(draw: st.DrawFn) -> Cases:
    """Many queues, each a case of its own: a call of Spark costs as much for one as for all."""
    randoms = Draw(random.Random(draw(st.integers(0, 2**32))))
    sizes = draw(st.lists(st.integers(1, 40), min_size=20, max_size=40))
    return Cases(
        _line(1 + 1000 * case + number, randoms.number(0, 11 * 60_000), randoms, f"case-{case}")
        for case, size in enumerate(sizes)
        for number in range(size)
    )
