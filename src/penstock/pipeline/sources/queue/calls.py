"""What is asked of a queue, as scripts: receive a share, delete, hide for longer, give back.

Knows neither Spark nor files. Requests go over a few connections at once, because one request at a time leaves server
and client waiting for each other.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import uuid4

from penstock.pipeline.sources.queue.messages import Message
from penstock.pipeline.sqs import Client, Reply, Script, SqsError

LANES = 16
"""Requests under way at once for each task: a server that commits in groups is as fast as the groups are large."""
LANES_OF_THE_DRIVER = 3 * LANES
"""For what one driver asks beside its tasks: a server serves connections in turn, and few of them would come last."""
TEN = 10
WORTH_A_LANE = 50
"""A connection costs a few round trips; fewer messages than that are not worth another."""
FULL = {"OverLimit", "AWS.SimpleQueueService.OverLimit"}
"""As many messages are in flight as the queue allows: no failure, but all there is for now."""


@dataclass
class Share:
    """Receives up to `wanted` messages: until a long poll comes back empty, or `seconds` are over."""

    client: Client
    queue_url: str
    wanted: int
    wait_seconds: int
    visibility_seconds: int
    seconds: float
    clock: Callable[[], float] = time.monotonic

    def messages(self) -> Iterator[Sequence[Message]]:
        self._open = self.wanted
        self._until = self.clock() + self.seconds
        for reply in self.client.replies([self._lane() for _ in range(lanes(self.wanted))]):
            if messages := reply.get("Messages"):
                yield messages

    def _lane(self) -> Script:
        asked = {
            "QueueUrl": self.queue_url,
            "WaitTimeSeconds": self.wait_seconds,
            "VisibilityTimeout": self.visibility_seconds,
            "MessageSystemAttributeNames": ["All"],
            "MessageAttributeNames": ["All"],
        }
        if self.queue_url.endswith(".fifo"):
            asked["ReceiveRequestAttemptId"] = ""
        while self._open > 0 and self.clock() < self._until:
            number = min(TEN, self._open)
            self._open -= number
            if "ReceiveRequestAttemptId" in asked:  # a reply that was lost on the way is given again
                asked["ReceiveRequestAttemptId"] = uuid4().hex
            try:
                reply = yield "ReceiveMessage", asked | {"MaxNumberOfMessages": number}
            except SqsError as error:
                if error.code not in FULL:
                    raise
                reply = {}
            received = len(reply.get("Messages") or ())
            self._open = self._open + number - received if received else 0


def lanes(messages: int, most: int = LANES) -> int:
    return min(most, -(-messages // WORTH_A_LANE))


def depth(client: Client, queue_url: str) -> int:
    """How many messages could be received now. Exact for Penstock; Amazon's figure may be a minute old."""
    reply = client.call("GetQueueAttributes", QueueUrl=queue_url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(reply["Attributes"]["ApproximateNumberOfMessages"])


def delete(client: Client, queue_url: str, receipts: Iterable[str]) -> set[str]:
    """Delete them; those that the server would not."""
    entries = [{"ReceiptHandle": receipt} for receipt in receipts]
    return _in_tens(client, "DeleteMessageBatch", queue_url, entries)


def hide(client: Client, queue_url: str, receipts: Iterable[str], seconds: int) -> set[str]:
    """Keep them from others for so long from now on; zero gives them back. Those for which it was too late."""
    entries = [{"ReceiptHandle": receipt, "VisibilityTimeout": seconds} for receipt in receipts]
    return _in_tens(client, "ChangeMessageVisibilityBatch", queue_url, entries)


def _in_tens(client: Client, action: str, queue_url: str, entries: Sequence[dict[str, Any]]) -> set[str]:
    failed: set[str] = set()
    remaining = iter(entries)

    def lane() -> Script:
        while ten := list(islice(remaining, TEN)):
            numbered = [entry | {"Id": str(number)} for number, entry in enumerate(ten)]
            reply: Reply = yield action, {"QueueUrl": queue_url, "Entries": numbered}
            failed.update(ten[int(entry["Id"])]["ReceiptHandle"] for entry in reply.get("Failed") or ())

    client.run([lane() for _ in range(lanes(len(entries), LANES_OF_THE_DRIVER))])
    return failed
