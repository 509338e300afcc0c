"""A real server's journal: what became of its messages, what they died of, and that they come back by the plan."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.cli import main, parser_of
from penstock.cli.pipeline import asked
from penstock.pipeline.jobs import dlq, lifecycle
from penstock.pipeline.schemas import LIFECYCLE
from penstock.pipeline.tables import open_table
from server_process import Server

from . import stays_by_hand
from .journals import Line
from .play import arn

PUBLISHED_SECONDS = 30


@pytest.fixture(scope="module")
def journalling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"PENSTOCK_JOURNAL": "full", "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"}
    server = Server(tmp_path_factory.mktemp("journalling"), settings)
    server.start()
    yield server
    server.stop()


def live(server: Server) -> None:
    """Ten messages: three handled, five dead of two errors, one purged elsewhere, one still there."""
    sqs = server.client()
    sqs.create_queue(QueueName="dead")
    policy = json.dumps({"deadLetterTargetArn": arn("dead"), "maxReceiveCount": 1})
    sqs.create_queue(QueueName="orders", Attributes={"RedrivePolicy": policy})
    sqs.create_queue(QueueName="mail")
    for number in range(8):
        error = "no stock" if number == 3 else f"no answer in {number} s"
        attributes = {"error": {"DataType": "String", "StringValue": error}}
        sqs.send_message(QueueUrl="orders", MessageBody=str(number), MessageAttributes=attributes)
    received = sqs.receive_message(QueueUrl="orders", MaxNumberOfMessages=10, VisibilityTimeout=60)["Messages"]
    for message in received:
        if int(message["Body"]) < 3:
            sqs.delete_message(QueueUrl="orders", ReceiptHandle=message["ReceiptHandle"])
        else:
            asked_for = {"ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0}
            sqs.change_message_visibility(QueueUrl="orders", **asked_for)
    sqs.receive_message(QueueUrl="orders", MaxNumberOfMessages=10)
    sqs.send_message(QueueUrl="mail", MessageBody="purged")
    sqs.purge_queue(QueueUrl="mail")
    sqs.send_message(QueueUrl="mail", MessageBody="still there")
    sqs.create_queue(QueueName="the-end")


def published(server: Server) -> list[Line]:
    """The journal's lines, when all of them are published."""
    deadline = time.monotonic() + PUBLISHED_SECONDS
    while time.monotonic() < deadline:
        files = sorted(server.data.glob("journal/*/*/0*.gz"))
        lines = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
        if any(line.get("queue") == "the-end" for line in lines):
            return lines
        time.sleep(0.05)
    raise AssertionError("the last events were not published")


def test_messages_that_died_are_found_and_come_back(
    spark: SparkSession, journalling: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(journalling)
    lines = published(journalling)
    journal, plan = str(journalling.data / "journal"), tmp_path / "plan.json"

    def job(*words: str) -> Any:
        return asked(parser_of("pipeline").parse_args([*words, "--journal", journal, "--out", str(tmp_path)]))

    lifecycle.run(spark, job("lifecycle", "--once"))
    by_hand, _ = stays_by_hand.stays(lines)
    rows = open_table(spark, str(tmp_path), LIFECYCLE).read().collect()
    names = ("queue", "message_id", "outcome", "attempts", "dwell_ms", "handling_ms", "total_ms", "next_queue")
    assert sorted(str([row[name] for name in names]) for row in rows) == sorted(
        str([row[name] for name in names]) for row in by_hand
    )
    assert [row["outcome"] for row in by_hand].count("DEAD_LETTERED") == 5

    words = ("--error-attribute", "error", "--plan", str(plan), "--report", str(tmp_path / "report.json"))
    dlq.run(spark, job("dlq", *words))
    groups = json.loads(plan.read_text())["groups"]
    assert [(group["about"]["error"], group["count"]) for group in groups] == [
        ("no answer in <n> s", 4),
        ("no stock", 1),
    ]
    groups[0]["chosen"] = True
    plan.write_text(json.dumps({"version": 1, "groups": groups}))

    for name, value in journalling.environment.items():
        monkeypatch.setenv(name, value)
    assert main(["dlq", "redrive", str(plan), "--yes"]) == 0
    sqs = journalling.client()
    back = sqs.receive_message(QueueUrl="orders", MaxNumberOfMessages=10)["Messages"]
    assert sorted(message["Body"] for message in back) == ["4", "5", "6", "7"]
    (left,) = sqs.receive_message(QueueUrl="dead", MaxNumberOfMessages=10)["Messages"]
    assert left["Body"] == "3"
