"""B2: kill -9 at any moment, start again on the same data, go on. Nothing acknowledged is lost, nothing is wrong."""

import random
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from server_process import Server
from tally import count

from .audit import faults_of
from .client import Client, create
from .invariants import violations
from .journal import faults_of_journal
from .run import size
from .workload import Workload

CYCLES = size(gate=5, night=150)
ACTORS = 4


@pytest.mark.parametrize("auth", ["on", "off"])
def test_what_was_acknowledged_outlives_any_number_of_kills(
    start: Callable[..., Server], folder: Path, rng: random.Random, auth: str
) -> None:
    """Of those who sign, native code takes messages and deletes them."""
    server = start(PENSTOCK_AUTH=auth)
    with closing(Workload(server, folder / "history", str(rng.random()))) as work:

        def audit() -> None:
            faults = faults_of(server.data / "penstock.db", folder) + faults_of_journal(server)
            work.recorder.note("audit", {}, {"faults": faults})

        work.prepare()
        work.start(producers=ACTORS, consumers=ACTORS)
        for _ in range(CYCLES):
            time.sleep(rng.uniform(0.2, 3))
            server.process.kill()
            server.process.wait()
            audit()
            server.start()
            count(cycles=1)
        time.sleep(0.5)
        work.finish()
        assert server.stop() == 0
        audit()
    operations = work.history()
    done = sum(operation.ok for operation in operations if operation.op == "send")
    assert done > CYCLES * 10, "too little was done to prove anything"
    assert violations(operations) == {}


def test_a_receipt_handle_is_as_good_after_a_kill(
    start: Callable[..., Server], connect: Callable[[Server], Client], folder: Path
) -> None:
    server = start()
    client = connect(server)
    create(client, "q")
    client.call("SendMessage", "q", MessageBody="m")
    (message,) = client.call("ReceiveMessage", "q")["Messages"]
    server.process.kill()
    server.process.wait()
    server.start()
    client.close()
    assert "Messages" not in client.call("ReceiveMessage", "q")
    client.call("DeleteMessage", "q", ReceiptHandle=message["ReceiptHandle"])
    server.stop()
    assert faults_of(server.data / "penstock.db", folder) == []
