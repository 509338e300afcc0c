"""The counters of a real server, over HTTP: equal to its journal, there without one, and begun anew by a restart."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from botocore.exceptions import ClientError
from operating import Start, kill, until

from conformance.naive import Metrics, of_events
from penstock import app
from penstock.config import load
from penstock.core.journal import Event
from server_process import Server

PERIODS = (60, 300)
event_of = msgspec.json.Decoder(Event).decode


def told(server: Server, **request: Any) -> list[dict[str, Any]]:
    pages = server.client("penstock").get_paginator("get_queue_metrics").paginate(**request)
    return [window for page in pages for window in page.get("Windows", [])]


def counted(server: Server, period: int) -> Metrics:
    return {
        (window["Account"], window["QueueName"], window["StartTime"]): {
            name: (each["SampleCount"], each["Sum"], each["Minimum"], each["Maximum"])
            for name, each in window["Metrics"].items()
        }
        for window in told(server, Period=period, MaxResults=2)
    }


def journalled(server: Server) -> list[Event]:
    client, seq, more, events = server.client("penstock"), 1, True, []
    while more:
        reply = client.read_journal(FromSeq=seq)
        events += [event_of(line) for line in reply["Lines"].splitlines()]
        seq, more = reply["NextSeq"], reply["More"]
    return events


def traffic(server: Server) -> None:
    """A little of everything that is counted, or must not be."""
    sqs = server.client()
    for name in ("busy", "dead", "busy.fifo"):
        fifo = {"FifoQueue": "true", "ContentBasedDeduplication": "true"} if name.endswith(".fifo") else {}
        sqs.create_queue(QueueName=name, Attributes=fifo)
    arn = "arn:aws:sqs:us-east-1:000000000000:dead"
    redrive = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":1}}'
    sqs.set_queue_attributes(QueueUrl="busy", Attributes={"RedrivePolicy": redrive})
    for number in range(5):
        sqs.send_message(QueueUrl="busy", MessageBody="m" * (number + 1))
        sqs.send_message(QueueUrl="busy.fifo", MessageBody=str(number // 2), MessageGroupId="g")
    entries = [{"Id": "1", "MessageBody": "good"}, {"Id": "2", "MessageBody": "\x01"}]
    assert len(sqs.send_message_batch(QueueUrl="busy", Entries=entries)["Failed"]) == 1
    taken = sqs.receive_message(QueueUrl="busy", MaxNumberOfMessages=10, VisibilityTimeout=0)["Messages"]
    for message in taken[:2] * 2:
        sqs.delete_message(QueueUrl="busy", ReceiptHandle=message["ReceiptHandle"])
    assert "Messages" not in sqs.receive_message(QueueUrl="busy", WaitTimeSeconds=1)
    sqs.start_message_move_task(SourceArn=arn)
    sqs.receive_message(QueueUrl="busy.fifo", MaxNumberOfMessages=10, ReceiveRequestAttemptId="a")
    sqs.receive_message(QueueUrl="busy.fifo", MaxNumberOfMessages=10, ReceiveRequestAttemptId="a")
    sqs.purge_queue(QueueUrl="busy.fifo")
    sqs.receive_message(QueueUrl="busy.fifo")


@pytest.mark.parametrize("store", ["", "memory://"], ids=["sqlite", "memory"])
def test_counters_equal_the_journal(start: Start, store: str) -> None:
    server = start(store=store)
    traffic(server)
    until(lambda: [event.event for event in journalled(server)].count("EMPTY_RECEIVE") == 2)
    kinds = {event.event for event in journalled(server)}
    assert kinds > {"SENT", "DEDUPLICATED", "RECEIVED", "DELETED", "DEAD_LETTERED", "PURGED"}

    def equal() -> bool:
        """Unless a minute has just begun: then queues were looked at between the two questions."""
        return all(counted(server, p) == of_events(journalled(server), p * 1000) for p in PERIODS)

    until(equal)


def test_without_a_journal_queues_are_counted_and_looked_at(start: Start) -> None:
    server = start(journal="off")
    traffic(server)
    with pytest.raises(ClientError, match="without a journal"):
        journalled(server)
    sent = [each["NumberOfMessagesSent"][1] for each in counted(server, 86_400).values() if "SentMessageSize" in each]
    assert sorted(sent) == [3, 6]
    assert server.stop() == 0
    server.start()
    looks = "ApproximateNumberOfMessagesVisible"
    until(lambda: any(looks in metrics for metrics in counted(server, 60).values()))


def test_a_restart_forgets_and_says_so(start: Start) -> None:
    server = start()
    sqs, own = server.client(), server.client("penstock")
    sqs.create_queue(QueueName="orders")
    sqs.send_message(QueueUrl="orders", MessageBody="before")
    before = own.get_queue_metrics()["CountingSince"]
    kill(server)
    server.start()
    sqs, own = server.client(), server.client("penstock")
    sqs.send_message(QueueUrl="orders", MessageBody="after")
    reply = own.get_queue_metrics(QueueName="orders", Period=86_400)
    assert reply["CountingSince"] > before
    (window,) = reply["Windows"]
    assert (window["Partial"], window["Metrics"]["NumberOfMessagesSent"]["Sum"]) == (True, 1)


async def test_the_settings_say_for_how_long_minutes_are_kept(tmp_path: Path) -> None:
    given = {"listen": "127.0.0.1:0", "data": str(tmp_path), "store": "memory://", "metrics_keep_minutes": "7"}
    server = app.Server(load(given, {}, None).settings)
    await server.start()
    assert server.store.traffic.kept_minutes == 7
    assert server.store.traffic.since > 0
    await server.stop()
