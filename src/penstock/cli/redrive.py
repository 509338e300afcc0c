"""Bringing dead letters back by the public API, on any endpoint: a queue as a whole, or some messages of it.

A whole queue is a move task of the server's. Of some messages, each is sent to where it goes and then deleted from the
dead-letter queue, in this order: whatever happens on the way, it is in one of the two queues, and at worst in both.
Messages that were received and are not wanted are given back at the end.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.cli.client import calling
from penstock.cli.parser import CommandError, Refusal

HOLD_SECONDS = 300
"""How long a message is hidden from others while it is looked at."""
WAIT_SECONDS = 1
EMPTY_RECEIVES = 3
"""A queue that answers so often in a row with nothing, or with nothing new, has no more."""
LOOK_SECONDS = 0.5
AT_ONCE = 10
ACTIVE = ("RUNNING", "CANCELLING")

Show = Callable[[int], None]
"""Told how many have been moved."""


@dataclass
class Server:
    """`stop` is set when the person wants it to end; what has been begun with a message is ended first."""

    client: Any
    stop: threading.Event
    rate: int | None = None

    def url(self, arn: str) -> str:
        account, name = arn.split(":")[4:6]
        reply = calling(lambda: self.client.get_queue_url(QueueName=name, QueueOwnerAWSAccountId=account))
        return str(reply["QueueUrl"])

    def held(self, arn: str) -> int:
        """How many messages the queue has, in every state."""
        names = ["", "NotVisible", "Delayed"]
        wanted = [f"ApproximateNumberOfMessages{name}" for name in names]
        url = self.url(arn)
        reply = calling(lambda: self.client.get_queue_attributes(QueueUrl=url, AttributeNames=wanted))
        return sum(int(reply["Attributes"][name]) for name in wanted)


def move_all(server: Server, source: str, destination: str, show: Show) -> int:
    """How many were moved."""
    client = server.client
    rate = {"MaxNumberOfMessagesPerSecond": server.rate} if server.rate else {}
    handle = calling(lambda: client.start_message_move_task(SourceArn=source, DestinationArn=destination, **rate))
    while True:
        reply = calling(lambda: client.list_message_move_tasks(SourceArn=source, MaxResults=1))
        task = reply["Results"][0]
        moved = int(task.get("ApproximateNumberOfMessagesMoved", 0))
        show(moved)
        if task["Status"] == "FAILED":
            raise CommandError(f"the move task failed after {moved:,} messages: {task.get('FailureReason')}")
        if task["Status"] not in ACTIVE:
            return moved
        if server.stop.wait(LOOK_SECONDS) and task["Status"] == "RUNNING":
            calling(lambda: client.cancel_message_move_task(TaskHandle=handle["TaskHandle"]))
            time.sleep(LOOK_SECONDS)


@dataclass
class Picking:
    """Moves the messages with these ids: id → the URL of the queue it goes to."""

    server: Server
    source: str
    wanted: Mapping[str, str]
    moved: set[str] = field(default_factory=set)
    _received: dict[str, str] = field(default_factory=dict)
    """Message id → its newest receipt handle, of those that we keep from others."""

    def run(self, show: Show) -> None:
        url, fruitless = self.server.url(self.source), 0
        try:
            while len(self.moved) < len(self.wanted) and fruitless < EMPTY_RECEIVES and not self.server.stop.is_set():
                messages = self._receive(url)
                new = [message for message in messages if message["MessageId"] not in self._received]
                fruitless = 0 if new else fruitless + 1
                self._received |= {message["MessageId"]: message["ReceiptHandle"] for message in messages}
                for message in new:
                    if message["MessageId"] in self.wanted and not self.server.stop.is_set():
                        self._move(url, message)
                        show(len(self.moved))
        finally:
            self._give_back(url)

    def _receive(self, url: str) -> list[dict[str, Any]]:
        reply = calling(
            lambda: self.server.client.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=AT_ONCE,
                VisibilityTimeout=HOLD_SECONDS,
                WaitTimeSeconds=WAIT_SECONDS,
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["All"],
            )
        )
        return list(reply.get("Messages", []))

    def _move(self, url: str, message: Mapping[str, Any]) -> None:
        client, name = self.server.client, message["MessageId"]
        calling(lambda: client.send_message(QueueUrl=self.wanted[name], **sent_again(message, self.wanted[name])))
        try:
            calling(lambda: client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]))
        except Refusal as refusal:
            raise CommandError(f"message {name} is in both queues now, it could not be deleted: {refusal}") from None
        self.moved.add(name)
        del self._received[name]
        if self.server.rate:
            self.server.stop.wait(1 / self.server.rate)

    def _give_back(self, url: str) -> None:
        handles = list(self._received.values())
        for start in range(0, len(handles), AT_ONCE):
            entries = [
                {"Id": str(number), "ReceiptHandle": handle, "VisibilityTimeout": 0}
                for number, handle in enumerate(handles[start : start + AT_ONCE])
            ]
            calling(lambda: self.server.client.change_message_visibility_batch(QueueUrl=url, Entries=entries))  # noqa: B023


def sent_again(message: Mapping[str, Any], url: str) -> dict[str, Any]:
    """The parameters that send a received message once more.

    Its deduplication id is made from its message id. With its own, a destination that saw the message less than five
    minutes ago would accept it and drop it; with this one, only a second try of ours is dropped.
    """
    system = message.get("Attributes", {})
    again: dict[str, Any] = {"MessageBody": message["Body"]}
    if attributes := message.get("MessageAttributes"):
        again["MessageAttributes"] = attributes
    if trace := system.get("AWSTraceHeader"):
        again["MessageSystemAttributes"] = {"AWSTraceHeader": {"DataType": "String", "StringValue": trace}}
    if group := system.get("MessageGroupId"):
        again["MessageGroupId"] = group
    if url.endswith(".fifo"):
        again["MessageDeduplicationId"] = f"redrive-{message['MessageId']}"
    return again
