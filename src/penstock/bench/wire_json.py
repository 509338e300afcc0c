"""AWS JSON 1.0 as the load generator speaks it."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from penstock.bench.wire import Acknowledged, Parts, Received

CONTENT_TYPE = "application/x-amz-json-1.0"


class _Messages(msgspec.Struct):
    messages: list[Received] | None = msgspec.field(name="Messages", default=None)


class _Batch(msgspec.Struct):
    successful: list[Acknowledged] = msgspec.field(name="Successful", default_factory=list)
    failed: list[dict[str, Any]] = msgspec.field(name="Failed", default_factory=list)
    named_as_in_query: list[Acknowledged] = msgspec.field(name="SendMessageBatchResultEntry", default_factory=list)
    """What GoAWS answers in place of `Successful`."""


_messages = msgspec.json.Decoder(_Messages).decode
_acknowledged = msgspec.json.Decoder(Acknowledged).decode
_batch = msgspec.json.Decoder(_Batch).decode
EMPTY = (b"{}", b"")


class JsonWire:
    def headers(self, action: str) -> dict[str, str]:
        return {"content-type": CONTENT_TYPE, "x-amz-target": f"AmazonSQS.{action}"}

    def plain(self, action: str, parameters: dict[str, Any]) -> bytes:
        return msgspec.json.encode(parameters)

    def send(self, queue_url: str) -> Parts:
        return Parts(b'{"QueueUrl":"%b","MessageBody":"' % queue_url.encode(), b'"}')

    def in_group(self, body: bytes, group: bytes, deduplication: bytes) -> bytes:
        return b'%b","MessageGroupId":"%b","MessageDeduplicationId":"%b' % (body, group, deduplication)

    def delete(self, queue_url: str) -> Parts:
        return Parts(b'{"QueueUrl":"%b","ReceiptHandle":"' % queue_url.encode(), b'"}')

    def handle(self, handle: str) -> bytes:
        return handle.encode() if handle.isprintable() and '"' not in handle and "\\" not in handle else _inner(handle)

    def send_batch(self, queue_url: str) -> Parts:
        return Parts(b'{"QueueUrl":"%b","Entries":[' % queue_url.encode(), b"]}")

    def send_entries(self, bodies: Iterable[bytes]) -> bytes:
        return b",".join([b'{"Id":"%d","MessageBody":"%b"}' % pair for pair in enumerate(bodies)])

    delete_batch = send_batch

    def delete_entries(self, handles: Iterable[str]) -> bytes:
        pairs = [(number, self.handle(handle)) for number, handle in enumerate(handles)]
        return b",".join([b'{"Id":"%d","ReceiptHandle":"%b"}' % pair for pair in pairs])

    def acknowledged(self, reply: bytes) -> Acknowledged:
        return _acknowledged(reply)

    def acknowledged_batch(self, reply: bytes) -> Sequence[Acknowledged]:
        batch = _batch(reply)
        if batch.failed:
            raise ValueError(f"an entry failed: {batch.failed[0]}")
        return batch.successful or batch.named_as_in_query

    def settled(self, reply: bytes) -> int:
        return len(self.acknowledged_batch(reply))

    def received(self, reply: bytes) -> Sequence[Received]:
        return () if reply in EMPTY else _messages(reply).messages or ()

    def queue_url(self, reply: bytes) -> str:
        return str(msgspec.json.decode(reply)["QueueUrl"])

    def attributes(self, reply: bytes) -> dict[str, str]:
        return dict(msgspec.json.decode(reply).get("Attributes") or {})

    def refusal(self, reply: bytes) -> str:
        error = msgspec.json.decode(reply)
        code = str(error.get("__type", "")).rpartition("#")[2]
        return f"{code}: {error.get('message') or error.get('Message') or ''}".strip(": ")


def _inner(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]
