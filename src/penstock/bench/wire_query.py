"""The Query protocol as the load generator speaks it: forms out, XML back."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import unescape

from penstock.bench.wire import Acknowledged, Parts, Received

CONTENT_TYPE = "application/x-www-form-urlencoded"
VERSION = "2012-11-05"
_MORE_ENTITIES = {"&quot;": '"', "&apos;": "'", "&#34;": '"', "&#39;": "'", "&#xA;": "\n", "&#xD;": "\r"}


class QueryWire:
    def headers(self, action: str) -> dict[str, str]:
        return {"content-type": CONTENT_TYPE}

    def plain(self, action: str, parameters: dict[str, Any]) -> bytes:
        return _form(action, **dict(_flat(parameters))).before

    def send(self, queue_url: str) -> Parts:
        return Parts(_form("SendMessage", QueueUrl=queue_url).before + b"&MessageBody=")

    def in_group(self, body: bytes, group: bytes, deduplication: bytes) -> bytes:
        return b"%b&MessageGroupId=%b&MessageDeduplicationId=%b" % (body, group, deduplication)

    def delete(self, queue_url: str) -> Parts:
        return Parts(_form("DeleteMessage", QueueUrl=queue_url).before + b"&ReceiptHandle=")

    def handle(self, handle: str) -> bytes:
        return quote(handle, safe="").encode()

    def send_batch(self, queue_url: str) -> Parts:
        return _form("SendMessageBatch", QueueUrl=queue_url)

    def send_entries(self, bodies: Iterable[bytes]) -> bytes:
        return b"".join(
            b"&SendMessageBatchRequestEntry.%d.Id=%d&SendMessageBatchRequestEntry.%d.MessageBody=%b"
            % (number + 1, number, number + 1, body)
            for number, body in enumerate(bodies)
        )

    def delete_batch(self, queue_url: str) -> Parts:
        return _form("DeleteMessageBatch", QueueUrl=queue_url)

    def delete_entries(self, handles: Iterable[str]) -> bytes:
        return b"".join(
            b"&DeleteMessageBatchRequestEntry.%d.Id=%d&DeleteMessageBatchRequestEntry.%d.ReceiptHandle=%b"
            % (number + 1, number, number + 1, self.handle(handle))
            for number, handle in enumerate(handles)
        )

    def acknowledged(self, reply: bytes) -> Acknowledged:
        return _acknowledged(reply.decode())

    def acknowledged_batch(self, reply: bytes) -> Sequence[Acknowledged]:
        text = reply.decode()
        if "<BatchResultErrorEntry>" in text:
            raise ValueError(f"an entry failed: {_one('Message', text) or _one('Code', text)}")
        return [_acknowledged(entry) for entry in _all("SendMessageBatchResultEntry", text)]

    def settled(self, reply: bytes) -> int:
        self.acknowledged_batch(reply)
        return reply.count(b"<DeleteMessageBatchResultEntry>")

    def received(self, reply: bytes) -> Sequence[Received]:
        return [
            Received(_one("ReceiptHandle", message), _one("Body", message), _one("MessageId", message))
            for message in _all("Message", reply.decode())
        ]

    def queue_url(self, reply: bytes) -> str:
        if url := _one("QueueUrl", reply.decode()):
            return url
        raise ValueError("no QueueUrl in the reply")

    def attributes(self, reply: bytes) -> dict[str, str]:
        return {_one("Name", pair): _one("Value", pair) for pair in _all("Attribute", reply.decode())}

    def refusal(self, reply: bytes) -> str:
        text = reply.decode()
        return f"{_one('Code', text)}: {_one('Message', text)}".strip(": ")


def _form(action: str, **parameters: str) -> Parts:
    return Parts(urlencode({"Action": action, "Version": VERSION} | parameters, quote_via=quote).encode())


def _flat(parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Nested parameters by the names that SQS gives them in forms."""
    for name, value in parameters.items():
        if name == "Attributes":
            for number, (key, text) in enumerate(value.items(), 1):
                yield f"Attribute.{number}.Name", key
                yield f"Attribute.{number}.Value", text
        elif isinstance(value, list):
            for number, text in enumerate(value, 1):
                yield f"{name.removesuffix('s')}.{number}", text
        else:
            yield name, str(value)


def _acknowledged(text: str) -> Acknowledged:
    return Acknowledged(_one("MessageId", text), _one("MD5OfMessageBody", text), _one("Id", text))


def _one(tag: str, text: str) -> str:
    start = text.find(f"<{tag}>") + len(tag) + 2
    end = text.find(f"</{tag}>", start)
    if start == len(tag) + 1 or end < 0:
        return ""
    inner = text[start:end]
    return unescape(inner, _MORE_ENTITIES) if "&" in inner else inner


def _all(tag: str, text: str) -> list[str]:
    return re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
