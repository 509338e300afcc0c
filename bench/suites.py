"""What the comparison measures: the whole of it, and the quick part."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One row of a suite. `steps` are ours; peers go up to `peer_steps`, what most of them can hold in memory."""

    mode: str
    connections: int = 0
    steps: tuple[int, ...] = ()
    peer_steps: int = 100_000


@dataclass(frozen=True)
class Suite:
    """`together`: one start of a server serves all items, which saves the starts and warms up what must be warm."""

    items: tuple[Item, ...]
    seconds: float
    warmup: float
    patience_seconds: float
    most_warming_seconds: float
    rounds: int
    together: bool
    left_out: frozenset[str] = frozenset()
    most: int = 10_000_000


FULL = Suite(
    items=(
        Item("cycle", 64),
        Item("cycle", 1),
        Item("cycle10", 16),
        Item("fifo", 16),
        Item("longpoll", 4),
        Item("backlog", 16),
        Item("queues", 16, peer_steps=1_000),
        Item("inflight", 16),
        Item("large", 4),
        Item("connections", peer_steps=1_000),
    ),
    seconds=5,
    warmup=2,
    patience_seconds=120,
    most_warming_seconds=30,
    rounds=2,
    together=False,
)
QUICK = Suite(
    items=(
        Item("cycle", 64),
        Item("cycle", 1),
        Item("cycle10", 16),
        Item("fifo", 16),
        Item("longpoll", 4),
        Item("backlog", 16, steps=(0, 10_000, 100_000)),
    ),
    seconds=1,
    warmup=0.5,
    patience_seconds=10,
    most_warming_seconds=15,
    rounds=1,
    together=True,
    left_out=frozenset(("moto", "ministack")),
)
