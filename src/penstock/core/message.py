"""A message as the domain sees it: what a sender gives, and what a receiver gets.

How attributes and bodies are checked is in `core.content`; how a message becomes visible, hidden or
dead is the business of the stores.
"""

from typing import NamedTuple

import msgspec


class Attribute(NamedTuple):
    """One user attribute. `value` is text for String and Number types, bytes for Binary."""

    data_type: str
    value: str | bytes


Attributes = dict[str, Attribute]


class NewMessage(msgspec.Struct):
    """A message that passed every check and waits to be stored."""

    id: str
    body: str
    size: int
    sender: str
    attributes: Attributes = {}
    trace: str | None = None
    group: str | None = None
    deduplication_id: str | None = None
    delay_seconds: int | None = None


class Sent(msgspec.Struct, frozen=True):
    """What a send came to. For a duplicate these are the first message's, and nothing was stored."""

    id: str
    sequence: int | None = None
    duplicate: bool = False


class Message(msgspec.Struct):
    """A stored message, as it is handed to a receiver: first what its sender gave, then what it is and became here.

    `claim` is the store's own proof of this delivery: bytes it will recognise when the receiver deletes
    the message or changes its visibility. Times are epoch milliseconds.
    """

    body: str
    sender: str
    sent: int
    attributes: Attributes = {}
    trace: str | None = None
    group: str | None = None
    deduplication_id: str | None = None
    sequence: int | None = None
    source_arn: str | None = None
    id: str = ""
    receive_count: int = 0
    first_received: int | None = None
    claim: bytes = b""
