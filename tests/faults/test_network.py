"""B7: a network that delays, cuts, swallows and drips. What a client does not know is done once, or not at all.

Producers and consumers speak to the server through a proxy that does something to one exchange in ten. A send to a
FIFO queue is repeated until it is acknowledged, and must then be one message; nobody may be left waiting.
"""

import random
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from server_process import Server
from tally import count

from .client import Client
from .invariants import violations
from .proxy import TROUBLES, Proxy
from .run import size
from .together import wait_for
from .workload import Workload

FAULTS = size(gate=100, night=5000)
SECONDS = size(gate=60, night=3600)


def test_what_the_network_does_to_an_exchange_is_never_done_to_a_message(
    start: Callable[..., Server], connect: Callable[[Server], Client], folder: Path, rng: random.Random
) -> None:
    server = start(PENSTOCK_AUTH="on")
    with (
        Proxy(server, folder / "proxy", random.Random(rng.random()), often=1 / 10) as proxy,
        closing(Workload(server, folder / "history", str(rng.random()), "impatient", proxy.log)) as work,
    ):
        work.prepare()
        work.start(producers=4, consumers=4)
        wait_for(lambda: proxy.happened.total() >= FAULTS, SECONDS, "enough trouble")
        proxy.healed = True
        work.stop()
        check_that_nobody_waits(work.client, SECONDS)  # what drips on arrives after whoever sent it has left
        work.count()
        work.drain()
    operations = work.history()
    count(cycles=proxy.happened.total())
    assert proxy.happened.keys() == {trouble.__name__ for trouble in TROUBLES}
    assert any(operation.outcome == "info" for operation in operations)
    assert violations(operations) == {}
    check_that_nobody_waits(connect(server), 5)
    assert server.stop() == 0


def check_that_nobody_waits(client: Client, seconds: int) -> None:
    def number(name: str) -> float:
        found = re.search(rf"^penstock_{name} (\S+)$", client.get("/metrics")[1], re.MULTILINE)
        assert found
        return float(found[1])

    wait_for(lambda: number("waiters") == 0, seconds, "the end of all long polls")
    wait_for(lambda: number("connections") == 1, seconds, "the end of all connections but this one")
