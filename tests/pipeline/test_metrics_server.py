"""A real server under random traffic, across the beginning of a minute: its own counters, and those of the journal."""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.counting.queue_metrics import METRICS
from pipeline.metrics_oracle import PERIODS, Row
from pipeline.metrics_run import Tables
from server_process import Server

QUEUES = ("plain", "fair", "line.fifo", "dead")
STATISTICS = ("SampleCount", "Sum", "Minimum", "Maximum")
SECONDS = 3
"""Of traffic in the new minute, and before it at least as many."""


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


def create(sqs: Any) -> None:
    fifo = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    for name in QUEUES:
        sqs.create_queue(QueueName=name, Attributes=fifo if name.endswith(".fifo") else {})
    redrive = '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":2}'
    sqs.set_queue_attributes(QueueUrl="plain", Attributes={"RedrivePolicy": redrive})


def act(sqs: Any, chance: random.Random) -> None:
    queue = chance.choice(QUEUES)
    group = {"MessageGroupId": chance.choice("abc")} if queue in ("fair", "line.fifo") else {}
    if chance.random() < 0.5:
        delay = {} if queue == "line.fifo" else {"DelaySeconds": chance.choice((0, 0, 0, 30))}
        sqs.send_message(QueueUrl=queue, MessageBody="m" * chance.randrange(1, 40), **group, **delay)
        return
    hidden = chance.choice((0, 0, 20))
    got = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=chance.randrange(1, 11), VisibilityTimeout=hidden)
    handles = [message["ReceiptHandle"] for message in got.get("Messages", []) if chance.random() < 0.6]
    if handles:  # in a batch, which does not fail for a handle that is good no more
        entries = [{"Id": str(number), "ReceiptHandle": handle} for number, handle in enumerate(handles)]
        sqs.delete_message_batch(QueueUrl=queue, Entries=entries)


def told(server: Server, period: int) -> set[Row]:
    pages = server.client("penstock").get_paginator("get_queue_metrics").paginate(Period=period)
    return {
        (window["StartTime"], period, window["Account"], window["QueueName"], metric, *map(each.get, STATISTICS))
        for page in pages
        for window in page.get("Windows", [])
        for metric, each in window["Metrics"].items()
    }


def publish_all(server: Server) -> None:
    """The segment that a server leaves open when it stops, under the name that it would give it."""
    for file in (server.data / "journal").rglob("_open-*.jsonl"):
        seqs = [json.loads(line)["seq"] for line in file.read_text().splitlines()]
        file.rename(file.with_name(f"{seqs[0]:020d}-{seqs[-1]:020d}.jsonl"))


def test_every_number_of_every_window_is_the_servers_own(counting: Server, tables: Tables) -> None:
    sqs, chance = counting.client(), random.Random(11)
    create(sqs)
    end = (time.time() + SECONDS) // 60 * 60 + 60 + SECONDS
    while time.time() < end:
        act(sqs, chance)
        time.sleep(0.02)  # a minute is wanted, not a load
    own = told(counting, 60) | told(counting, 300)
    counting.stop()
    publish_all(counting)
    tables.ask = replace(tables.ask, journal=str(counting.data / "journal"))
    tables.follow(final=True)
    assert tables.metrics() == own
    assert {(row[1], row[4]) for row in own} == {(period, metric) for period in PERIODS for metric in METRICS}
    assert len({row[0] for row in own if row[1] == 60}) >= 2
