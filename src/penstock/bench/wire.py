"""What the two protocols of SQS have in common: the fixed parts of each request, and what is read from a reply.

A request is `before`, something that varies, `after`; only the middle is made anew each time. Bodies that the load
generator sends are letters, digits and dashes, so they look the same in both protocols.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec


class Parts(NamedTuple):
    before: bytes
    after: bytes = b""


class Received(msgspec.Struct):
    """One message of a ReceiveMessage reply."""

    handle: str = msgspec.field(name="ReceiptHandle")
    body: str = msgspec.field(name="Body")
    message_id: str = msgspec.field(name="MessageId", default="")


class Acknowledged(msgspec.Struct):
    """One message that a server says it has taken; `entry` is its number in a batch."""

    message_id: str = msgspec.field(name="MessageId", default="")
    md5: str = msgspec.field(name="MD5OfMessageBody", default="")
    entry: str = msgspec.field(name="Id", default="")


class Wire(Protocol):
    """One protocol. The readers raise ValueError if the reply is none of this protocol."""

    def headers(self, action: str) -> dict[str, str]: ...

    def plain(self, action: str, parameters: dict[str, Any]) -> bytes: ...

    def send(self, queue_url: str) -> Parts: ...

    def in_group(self, body: bytes, group: bytes, deduplication: bytes) -> bytes: ...

    def delete(self, queue_url: str) -> Parts: ...

    def handle(self, handle: str) -> bytes: ...

    def send_batch(self, queue_url: str) -> Parts: ...

    def send_entries(self, bodies: Iterable[bytes]) -> bytes: ...

    def delete_batch(self, queue_url: str) -> Parts: ...

    def delete_entries(self, handles: Iterable[str]) -> bytes: ...

    def acknowledged(self, reply: bytes) -> Acknowledged: ...

    def acknowledged_batch(self, reply: bytes) -> Sequence[Acknowledged]: ...

    def settled(self, reply: bytes) -> int:
        """How many entries of a batch were done; those that failed make a ValueError."""

    def received(self, reply: bytes) -> Sequence[Received]: ...

    def queue_url(self, reply: bytes) -> str: ...

    def attributes(self, reply: bytes) -> dict[str, str]: ...

    def refusal(self, reply: bytes) -> str:
        """Code and message of an error's reply."""
