"""B6: processes that stop for longer than any window lasts, and go on as if nothing had been.

A server that was stopped may not show a message early, nor late. A consumer that was stopped holds handles that have
been superseded, and deletes with them when it wakes up: nothing may come of that.
"""

import random
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from server_process import Server
from tally import count

from .invariants import violations
from .run import size
from .workload import Workload

PAUSES = size(gate=5, night=200)
SECONDS = (1.0, 3.0)
"""Windows last one and two."""


def test_nothing_comes_of_a_pause_but_delay(start: Callable[..., Server], folder: Path, rng: random.Random) -> None:
    server = start(PENSTOCK_AUTH="on")
    with closing(Workload(server, folder / "history", str(rng.random()))) as work:
        work.prepare()
        work.start(producers=2, consumers=4)
        for _ in range(PAUSES):
            time.sleep(rng.uniform(0.3, 1))
            stopped = [server.process, *(work.actors[name] for name in rng.sample(work.alive("consumer"), 2))]
            for process in stopped:
                process.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(*SECONDS))
            rng.shuffle(stopped)
            for process in stopped:
                process.send_signal(signal.SIGCONT)
                time.sleep(rng.choice((0, 0, 0.5)))
            count(cycles=1)
        work.finish()
    operations = work.history()
    assert violations(operations) == {}
    assert server.stop() == 0
