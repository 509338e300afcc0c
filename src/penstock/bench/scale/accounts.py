"""Requests in the name of many accounts, in AWS JSON 1.0. Of a queue only its name and its URL are kept.

One template serves all queues of an account for one action: ten thousand queues times ten actions would be a lot of
memory for a client.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any

import msgspec

from penstock.bench.session import COUNT_NAMES
from penstock.bench.signing import Signer, Template
from penstock.bench.target import Target
from penstock.bench.wire_json import JsonWire

Keys = Sequence[tuple[str, str]]
Handled = tuple[int, str]
"""A message's number and a receipt handle of it."""
WIRE = JsonWire()


class Account:
    """One caller. With fewer keys than accounts, several share a key."""

    def __init__(self, target: Target, keys: Keys, index: int) -> None:
        access_key, secret_key = keys[index % len(keys)]
        self._signer = Signer(replace(target, access_key=access_key, secret_key=secret_key))
        self._templates: dict[str, Template] = {}

    def request(self, action: str, body: bytes) -> bytes:
        self._signer.renew(time())
        template = self._templates.get(action)
        if template is None:
            template = self._templates[action] = Template(self._signer, WIRE.headers(action), b"")
        return template.request(body)

    def plain(self, action: str, **parameters: Any) -> bytes:
        return self.request(action, msgspec.json.encode(parameters))


@dataclass(slots=True)
class Place:
    """A queue: its number in the ledger, its account, its name, and its URL once it is made."""

    index: int
    account: Account
    name: str
    url: str = ""

    @property
    def fifo(self) -> bool:
        return self.name.endswith(".fifo")

    def create(self, visibility_seconds: int) -> bytes:
        attributes = {"VisibilityTimeout": str(visibility_seconds)} | ({"FifoQueue": "true"} if self.fifo else {})
        return self.account.plain("CreateQueue", QueueName=self.name, Attributes=attributes)

    def send(self, body: bytes, number: int) -> bytes:
        grouped = self._grouped(number, number) if self.fifo else b""
        return self._ask("SendMessage", b'"MessageBody":"%b"%b' % (body, grouped))

    def send_batch(self, bodies: Iterable[tuple[int, bytes]]) -> bytes:
        """(number, body) of each; they are one group where there are groups."""
        entries, first = [], -1
        for position, (number, body) in enumerate(bodies):
            first = number if position == 0 else first
            grouped = self._grouped(number, first) if self.fifo else b""
            entries.append(b'{"Id":"%d","MessageBody":"%b"%b}' % (position, body, grouped))
        return self._ask("SendMessageBatch", b'"Entries":[%b]' % b",".join(entries))

    def _grouped(self, number: int, group: int) -> bytes:
        return b',"MessageGroupId":"%d","MessageDeduplicationId":"%d"' % (group, number)

    def receive(self, most: int, visibility_seconds: int, wait_seconds: int = 0) -> bytes:
        rest = b'"MaxNumberOfMessages":%d,"VisibilityTimeout":%d,"WaitTimeSeconds":%d'
        return self._ask("ReceiveMessage", rest % (most, visibility_seconds, wait_seconds))

    def change_visibility(self, handle: str, seconds: int) -> bytes:
        rest = b'"ReceiptHandle":"%b","VisibilityTimeout":%d' % (WIRE.handle(handle), seconds)
        return self._ask("ChangeMessageVisibility", rest)

    def show(self, messages: Sequence[Handled]) -> bytes:
        """Visible again, at once."""
        entries = [{"Id": str(number), "ReceiptHandle": handle, "VisibilityTimeout": 0} for number, handle in messages]
        return self.account.plain("ChangeMessageVisibilityBatch", QueueUrl=self.url, Entries=entries)

    def delete(self, handle: str) -> bytes:
        return self._ask("DeleteMessage", b'"ReceiptHandle":"%b"' % WIRE.handle(handle))

    def delete_batch(self, messages: Sequence[Handled]) -> bytes:
        entries = WIRE.delete_entries(handle for _, handle in messages)
        return self._ask("DeleteMessageBatch", b'"Entries":[%b]' % entries)

    def attributes(self, *names: str) -> bytes:
        return self.account.plain("GetQueueAttributes", QueueUrl=self.url, AttributeNames=names)

    def count(self) -> bytes:
        return self.attributes(*COUNT_NAMES)

    def get_url(self) -> bytes:
        return self.account.plain("GetQueueUrl", QueueName=self.name)

    def list(self) -> bytes:
        """The queues that are named as this one, which is one: what an answer costs does not depend on the others."""
        return self.account.plain("ListQueues", QueueNamePrefix=self.name)

    def remove(self) -> bytes:
        return self.account.plain("DeleteQueue", QueueUrl=self.url)

    def _ask(self, action: str, rest: bytes) -> bytes:
        return self.account.request(action, b'{"QueueUrl":"%b",%b}' % (self.url.encode(), rest))
