"""What producers and consumers do with which queues: a plan is a table, a queue a line of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """How a queue is used. Weights say how often it is chosen; `deleted` is how much of what they receive consumers
    delete; the window is drawn between its two ends, in seconds."""

    queue: str
    sends: int
    receives: int
    window: tuple[int, int]
    deleted: float
    groups: int = 0
    dead_letters: str | None = None
    max_receives: int = 0

    @property
    def fifo(self) -> bool:
        return self.queue.endswith(".fifo")


@dataclass(frozen=True)
class Plan:
    """`messages` is what each producer sends before it leaves; zero is: for as long as it is let."""

    lines: tuple[Line, ...]
    batches: tuple[int, ...] = (1, 1, 1, 5, 10)
    pace_seconds: float = 0.01
    messages: int = 0
    waits: tuple[int, ...] = (0, 0, 1, 3)
    """For how long a receive may be parked, in seconds."""
    patience_seconds: float = 30
    """How long anyone waits for a reply."""
    changes: float = 0.2
    """How often a consumer changes the visibility of something in hand."""
    mischief: float = 0.05
    """How often it tries a handle that is not good, or no longer."""

    @property
    def queues(self) -> tuple[str, ...]:
        return tuple(line.queue for line in self.lines)

    @property
    def longest_window(self) -> int:
        return max(line.window[1] for line in self.lines)


MIXED = (
    Line("plain", sends=3, receives=2, window=(2, 2), deleted=0.7),
    Line("ordered.fifo", sends=3, receives=2, window=(2, 2), deleted=0.7, groups=8),
    Line("dead", sends=0, receives=1, window=(2, 2), deleted=0.9),
    Line("dying", sends=1, receives=2, window=(1, 1), deleted=0.1, dead_letters="dead", max_receives=3),
)
PLANS = {
    "mixed": Plan(MIXED),
    "impatient": Plan(MIXED, patience_seconds=1.5, waits=(0, 0, 1)),
    "torture": Plan(
        (
            Line("dead.fifo", sends=0, receives=1, window=(1, 3), deleted=0.9),
            Line(
                "torture.fifo", sends=1, receives=6, window=(1, 3), deleted=0.8, groups=50, dead_letters="dead.fifo",
                max_receives=3,
            ),
        ),
        batches=(10,),
        pace_seconds=0.02,
        messages=2500,
        changes=0.05,
        mischief=0.01,
    ),
}  # fmt: skip
