"""kill -9 at any moment: afterwards journal and store agree exactly, and no number is missing."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from penstock.stores.sqlite import SqliteStore
from server_process import Server, clean_environment

from .journal import faults_of_journal
from .run import size
from .workload import Workload

CYCLES = size(gate=5, night=200)
ACTORS = size(gate=3, night=4)

pytestmark = pytest.mark.skipif(
    not SqliteStore.capabilities.journal, reason="this store does not claim to have a journal"
)


def test_journal_and_store_agree_after_any_number_of_kills(
    start: Callable[..., Server], folder: Path, rng: random.Random
) -> None:
    server = start(
        PENSTOCK_AUTH="on",
        PENSTOCK_JOURNAL="full",
        PENSTOCK_JOURNAL_SEGMENT_SECONDS="1",
        PENSTOCK_JOURNAL_SEGMENT_BYTES="65536",
    )
    with closing(Workload(server, folder / "history", str(rng.random()))) as work:
        work.prepare()
        work.start(producers=ACTORS, consumers=ACTORS)
        for _ in range(CYCLES):
            time.sleep(rng.uniform(0.2, 1.5))
            server.process.kill()
            server.process.wait()
            assert faults_of_journal(server) == [], "with the server dead"
            server.start()
        assert faults_of_journal(server) == [], "with the server running"
        work.stop()
        operations = work.history()
    assert server.stop() == 0
    assert faults_of_journal(server) == []
    assert sum(operation.ok for operation in operations) > CYCLES * 10, "too little was done to prove anything"


def test_what_was_acknowledged_is_in_the_journal_and_what_was_not_is_there_once(
    start: Callable[..., Server], rng: random.Random
) -> None:
    server = start(PENSTOCK_JOURNAL_SEGMENT_SECONDS="1")
    sent: set[str] = set()
    for _ in range(CYCLES):
        sqs = server.client()
        sqs.create_queue(QueueName="q")
        for _ in range(rng.randrange(1, 40)):
            sent.add(sqs.send_message(QueueUrl="q", MessageBody="m")["MessageId"])
        server.process.kill()
        server.process.wait()
        server.start()
    server.stop()
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "journal", "tail", "--from", "1", "--json", "--data", str(server.data)],
        cwd=server.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    written = [event["message_id"] for event in events if event["event"] == "SENT"]
    assert set(written) == sent
    assert len(written) == len(sent)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
