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
    """Each of `starts` has the items that one start of a server serves. A server is first put under load until
    for `stalled_seconds` it got no faster, or for `most_warming_seconds`."""

    starts: tuple[tuple[Item, ...], ...]
    seconds: float
    warmup: float
    patience_seconds: float
    stalled_seconds: float
    most_warming_seconds: float
    rounds: int
    left_out: frozenset[str] = frozenset()
    most: int = 10_000_000


SPEED = (Item("cycle", 64), Item("cycle", 1), Item("cycle10", 16), Item("fifo", 16), Item("longpoll", 4))
FULL = Suite(
    starts=(
        SPEED,
        (Item("backlog", 16),),
        (Item("queues", 16, peer_steps=1_000),),
        (Item("inflight", 16),),
        (Item("large", 4),),
        (Item("connections", peer_steps=1_000),),
    ),
    seconds=5,
    warmup=2,
    patience_seconds=120,
    stalled_seconds=30,
    most_warming_seconds=180,
    rounds=2,
)
QUICK = Suite(
    starts=((*SPEED, Item("backlog", 16, steps=(0, 100_000))),),
    seconds=1,
    warmup=0.5,
    patience_seconds=10,
    stalled_seconds=2,
    most_warming_seconds=15,
    rounds=1,
    left_out=frozenset(("elasticmq-h2", "moto", "ministack")),
)
