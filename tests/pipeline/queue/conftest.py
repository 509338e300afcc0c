"""What tests of `penstock.queue` share: queues of the running server, and options that reach them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.sources.queue.options import Settings, parse
from server_process import Server

NUMBERS = itertools.count()


@dataclass
class TestQueue:
    """A queue, as its other users see it."""

    __test__ = False

    server: Server
    url: str
    sqs: Any = field(repr=False)

    @property
    def options(self) -> dict[str, str]:
        return {"queueUrl": self.url, "accessKey": self.server.access_key, "secretKey": self.server.secret_key}

    def settings(self, **more: object) -> Settings:
        return parse(self.options | {name: str(value) for name, value in more.items()})

    def send(self, *bodies: str, **more: Any) -> None:
        for first in range(0, len(bodies), 10):
            entries = [{"Id": str(n), "MessageBody": body, **more} for n, body in enumerate(bodies[first : first + 10])]
            assert not self.sqs.send_message_batch(QueueUrl=self.url, Entries=entries).get("Failed")

    def receive(self, **more: Any) -> list[dict[str, Any]]:
        asked = {"MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"], "MessageSystemAttributeNames": ["All"]}
        return list(self.sqs.receive_message(QueueUrl=self.url, **asked | more).get("Messages", []))

    def bodies(self) -> list[str]:
        """Everything that can be received, taken out."""
        found = []
        while messages := self.receive():
            found += [message["Body"] for message in messages]
            for message in messages:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return found

    def counts(self) -> tuple[int, int]:
        """How many are visible, and how many are in flight."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        attributes = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]
        return int(attributes[names[0]]), int(attributes[names[1]])

    def delete(self) -> None:
        self.sqs.delete_queue(QueueUrl=self.url)


@pytest.fixture
def make_queue(server: Server) -> Callable[..., TestQueue]:
    sqs = server.client()

    def make(fifo: bool = False) -> TestQueue:
        name = f"spark-{next(NUMBERS)}" + (".fifo" if fifo else "")
        attributes = {"FifoQueue": "true"} if fifo else {}
        return TestQueue(server, sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"], sqs)

    return make


@pytest.fixture
def queue(make_queue: Callable[..., TestQueue]) -> TestQueue:
    return make_queue()


@pytest.fixture
def fifo_queue(make_queue: Callable[..., TestQueue]) -> TestQueue:
    return make_queue(fifo=True)


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    return tmp_path / "staging"
