"""`penstock pipeline replay`, killed with -9 in the middle of a piece and asked for again.

Pieces are of one node each, so three nodes make three pieces of few messages. The kill falls into the second.
"""

from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import replay
from penstock.pipeline.schemas import EVENTS, REPLAYS
from penstock.pipeline.tables import Batch, open_table
from server_process import Server

from .drivers import Driver
from .journals import line
from .traffic import frame

PIECES = {"a": range(1, 41), "b": range(41, 441), "c": range(441, 481)}
RATE = 100
"""Messages a second: the second piece takes long enough to be met."""
NAMES = ["ApproximateNumberOfMessages"]


@pytest.fixture
def out(spark: SparkSession, tmp_path: Path) -> str:
    lines = [
        line(seq, after_ms=seq, message_id=f"m{seq}", body=str(seq), group=f"g{seq % 4}") | {"node": node}
        for node, numbers in PIECES.items()
        for seq in numbers
    ]
    folder = str(tmp_path / "tables")
    open_table(spark, folder, EVENTS).append(frame(spark, lines), Batch("q" * 32, 0))
    return folder


@pytest.fixture(params=["", ".fifo"], ids=["standard", "fifo"])
def queue(request: pytest.FixtureRequest, server: Server) -> str:
    fifo = {"FifoQueue": "true", "FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup"}
    name = f"killed-{uuid4().hex}{request.param}"
    return str(server.client().create_queue(QueueName=name, Attributes=fifo if request.param else {})["QueueUrl"])


def depth(sqs: Any, queue: str) -> int:
    return int(sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=NAMES)["Attributes"][NAMES[0]])


def drained(server: Server, queue: str) -> Counter[int]:
    client, found = server.client(), Counter[int]()
    while got := client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
        found.update(int(one["Body"]) for one in got)
        entries = [{"Id": str(at), "ReceiptHandle": one["ReceiptHandle"]} for at, one in enumerate(got)]
        client.delete_message_batch(QueueUrl=queue, Entries=entries)
    return found


def killed_in_the_second_piece(
    server: Server, out: str, queue: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    words = ["replay", "--out", out, "--to-queue", queue, "--endpoint-url", server.url, "--rate", str(RATE), "--yes"]
    sqs, first = server.client(), len(PIECES["a"])
    driver = Driver(words, "local[1]", log).start()
    assert driver.kill_when(lambda: depth(sqs, queue) > first), driver.said()


def test_what_was_sent_before_a_kill_is_not_sent_again_but_for_the_piece_that_was_under_way(
    spark: SparkSession, server: Server, out: str, queue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_in_the_second_piece(server, out, queue, tmp_path / "log", monkeypatch)
    sent = depth(server.client(), queue)
    recorded = {row.seq for row in open_table(spark, out, REPLAYS).read().collect()}
    assert recorded == set(PIECES["a"])
    ask = Ask("replay", out=out, endpoint_url=server.url, region=server.region, own={"to_queue": queue, "yes": True})
    replay.run(spark, ask, {"accessKey": server.access_key, "secretKey": server.secret_key})
    found, every = drained(server, queue), Counter(seq for numbers in PIECES.values() for seq in numbers)
    twice = found - every
    assert set(found) == set(every)
    assert set(twice) <= set(PIECES["b"])
    assert twice.total() == (0 if queue.endswith(".fifo") else sent - len(PIECES["a"]))
