"""From end to end: random traffic on a real server, its journal in every table, and each number worked out again from
what the client itself wrote down."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import land, lifecycle, metrics
from penstock.pipeline.schemas import EVENTS, LIFECYCLE, LIFECYCLE_OPEN, QUEUE_METRICS, Schema
from penstock.pipeline.tables import open_table
from server_process import Server

from .jobs_asked import asked

STEPS = 400
PATIENCE_SECONDS = 60
QUEUES = ("plain", "fair", "line.fifo", "dead")
REDRIVE = '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":2}'


@dataclass
class Log:
    """What a client saw, and nothing else."""

    sent: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Message id → queue, body, bytes."""
    received: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Queue and message id → deliveries."""
    deleted: set[tuple[str, str]] = field(default_factory=set)
    empty: Counter[str] = field(default_factory=Counter)


class Client:
    def __init__(self, server: Server, seed: int) -> None:
        self._sqs, self._chance, self.log = server.client(), random.Random(seed), Log()
        for name in ("dead", *QUEUES[:3]):
            fifo = {"FifoQueue": "true", "ContentBasedDeduplication": "true"} if name.endswith(".fifo") else {}
            redrive = {"RedrivePolicy": REDRIVE} if name == "plain" else {}
            self._sqs.create_queue(QueueName=name, Attributes=fifo | redrive)

    def act(self) -> None:
        self._send() if self._chance.random() < 0.5 else self._work()

    def _send(self) -> None:
        queue, body = (
            self._chance.choice(QUEUES[:3]),
            f"{self._chance.getrandbits(64):x} ä " * self._chance.randrange(1, 9),
        )
        kind = f"type-{self._chance.randrange(3)}"
        reply = self._sqs.send_message(
            QueueUrl=queue,
            MessageBody=body,
            MessageAttributes={"bus.type": {"DataType": "String", "StringValue": kind}},
            **({} if queue == "plain" else {"MessageGroupId": self._chance.choice("abc")}),
        )
        size = len(body.encode()) + len("bus.type") + len("String") + len(kind)
        self.log.sent[reply["MessageId"]] = queue, body, size

    def _work(self) -> None:
        queue = self._chance.choice(QUEUES)
        reply = self._sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=self._chance.randrange(1, 11), VisibilityTimeout=0
        )
        messages = reply.get("Messages", [])
        if not messages:
            self.log.empty[queue] += 1
        for message in messages:
            self.log.received[queue, message["MessageId"]] += 1
        done = [message for message in messages if self._chance.random() < 0.4]
        if done:
            entries = [{"Id": str(n), "ReceiptHandle": one["ReceiptHandle"]} for n, one in enumerate(done)]
            reply = self._sqs.delete_message_batch(QueueUrl=queue, Entries=entries)
            self.log.deleted |= {(queue, done[int(one["Id"])]["MessageId"]) for one in reply.get("Successful", [])}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Log]]:
    folder = tmp_path_factory.mktemp("golden")
    server = Server(folder, {"PENSTOCK_JOURNAL": "full", "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"})
    server.start()
    client = Client(server, seed=20)
    for _ in range(STEPS):
        client.act()
    publish(server)
    yield server, client.log
    server.stop()


def publish(server: Server) -> None:
    """Wait until every event up to now is in a published segment."""
    own = server.client("penstock")
    last = own.list_journal_segments()["LastSeq"]
    deadline = time.monotonic() + PATIENCE_SECONDS
    while max(one.get("LastSeq", 0) for one in own.list_journal_segments()["Segments"]) < last:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.fixture(scope="module")
def out(played: tuple[Server, Log], spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    server, _ = played
    made = str(tmp_path_factory.mktemp("tables"))
    for job, words in ((land, ()), (metrics, ("--final",)), (lifecycle, ())):
        name = job.__name__.rpartition(".")[2]
        ask: Ask = asked(name, "--journal", str(server.data / "journal"), "--out", made, "--once", *words)
        assert job.run(spark, ask) == 0
    return made


@pytest.fixture
def log(played: tuple[Server, Log]) -> Log:
    return played[1]


@pytest.fixture
def table(spark: SparkSession, out: str) -> Any:
    def read(schema: Schema) -> DataFrame:
        return open_table(spark, out, schema).read()

    return read


def test_every_message_is_in_the_table_as_it_was_sent(log: Log, table: Any) -> None:
    rows = table(EVENTS).where("event = 'SENT'").collect()
    assert {row.message_id: (row.queue, row.body, row.size) for row in rows} == log.sent
    assert len(rows) == len(log.sent)


def test_every_delivery_and_every_delete_is_there_once(log: Log, table: Any) -> None:
    rows = table(EVENTS).where("event IN ('RECEIVED', 'DELETED')").collect()
    assert Counter((row.queue, row.message_id) for row in rows if row.event == "RECEIVED") == log.received
    deleted = [(row.queue, row.message_id) for row in rows if row.event == "DELETED"]
    assert len(deleted) == len(log.deleted)
    assert set(deleted) == log.deleted


def test_the_metrics_add_up_to_what_was_done(log: Log, table: Any) -> None:
    sums: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for row in table(QUEUE_METRICS).where("metric NOT LIKE 'Approximate%'").collect():
        sums[row.period_seconds, row.metric][row.queue] += row.sum
    expected = {
        "NumberOfMessagesSent": Counter(queue for queue, _, _ in log.sent.values()),
        "NumberOfMessagesReceived": Counter(queue for queue, _ in log.received.elements()),
        "NumberOfMessagesDeleted": Counter(queue for queue, _ in log.deleted),
        "NumberOfEmptyReceives": log.empty,
        "SentMessageSize": sum((Counter({queue: size}) for queue, _, size in log.sent.values()), Counter[str]()),
    }
    for period in (60, 300):
        assert {metric: sums[period, metric] for metric in expected} == expected


def test_every_message_has_one_life_in_each_queue(log: Log, table: Any) -> None:
    ended = table(LIFECYCLE).collect()
    lives = [(row.queue, row.message_id) for row in (*ended, *table(LIFECYCLE_OPEN).collect())]
    assert len(lives) == len(set(lives))
    assert {(queue, name) for name, (queue, _, _) in log.sent.items()} <= set(lives)
    assert {(row.queue, row.message_id) for row in ended if row.outcome == "DELETED"} == log.deleted
    assert {row.outcome for row in ended} == {"DELETED", "DEAD_LETTERED"}
    for row in ended:
        assert row.attempts == log.received[row.queue, row.message_id]
    dead = {row.message_id for row in ended if row.outcome == "DEAD_LETTERED"}
    assert {name for queue, name in lives if queue == "dead"} == dead
