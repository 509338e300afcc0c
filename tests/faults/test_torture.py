"""B9: FIFO torture. Fifty groups, ten thousand messages, consumers that crash with messages in hand, short windows,
partial deletes, changes of visibility in the middle, and a dead-letter queue after three receives."""

import random
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from server_process import Server
from tally import count

from .audit import faults_of
from .invariants import violations
from .run import size
from .workload import Workload

RUNS = size(gate=2, night=200)
PRODUCERS, CONSUMERS = 4, 4
TOTAL = 10_000
SECONDS = 60


@pytest.mark.parametrize("run", range(RUNS))
def test_no_crash_and_no_window_breaks_the_order_of_a_group(
    start: Callable[..., Server], folder: Path, rng: random.Random, run: int
) -> None:
    server = start(PENSTOCK_AUTH="on")
    with closing(Workload(server, folder / "history", str(rng.random()), "torture")) as work:
        work.prepare()
        work.start(PRODUCERS, CONSUMERS)
        deadline, crashes = time.monotonic() + SECONDS, 0
        while work.alive("producer"):
            assert time.monotonic() < deadline, "the producers never come to an end"
            time.sleep(rng.uniform(0.2, 1))
            work.crash(rng.choice(work.alive("consumer")))
            work.spawn("consumer")
            crashes += 1
        work.finish()
    operations = work.history()
    count(cycles=1)
    sent = sum(len(o.reply["results"]) for o in operations if o.op == "send" and o.ok)
    assert sent >= TOTAL
    assert crashes >= 5, "too few to prove anything"
    assert violations(operations) == {}
    assert server.stop() == 0
    assert faults_of(server.data / "penstock.db", folder) == []
