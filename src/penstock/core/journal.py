"""The journal's words: what an event is, how much of it is written, and what store and journal ask of each other.

A queue forgets, the journal remembers: every acknowledged change is one `Event`, one line of JSON. `core.outbox` says
which change makes which event; `penstock.journal` keeps the lines in files. This module refuses to know both.

Every event has `node`, `seq`, `ts_ms`, `event`, `region`, `account` and `queue`. The others are there when they mean
something and left out when they do not:

    SENT               message_id group type endpoint size principal trace duration_ms: its delay
    DEDUPLICATED       message_id: the first one's; group type endpoint size principal trace
    RECEIVED           message_id group type endpoint size receive_count sent_ms first_receive_ms principal trace
                       duration_ms: since it came into this queue; reason: "repeat" for a repeated attempt
    EMPTY_RECEIVE      principal; duration_ms: how long the receiver waited
    DELETED            message_id receive_count principal; duration_ms: since this delivery was received
    VISIBILITY_CHANGED message_id receive_count principal; duration_ms: for how long, from now, it is hidden
    EXPIRED            message_id receive_count; duration_ms: how long it was in this queue
    DAMAGED            message_id if it is known; reason. Set aside because it cannot be read: it is in no count
    PURGED             principal; count: messages that went
    DEAD_LETTERED      message_id receive_count; endpoint: the ARN it goes to; reason; duration_ms: as for EXPIRED
    MOVED              message_id; endpoint: the ARN it goes to; successor: its id there; reason: the task's id
    REROUTED           as MOVED, by a lane of the bus
    QUEUE_CREATED      principal; count: 0
    QUEUE_CHANGED      principal; count: messages held; reason: "baseline" or "off" where the queue's level changed
    QUEUE_DELETED      principal; count: messages that went with it
    DENIED             principal; reason: the action; queue: the one it named, if any. With a count: so many more of an
                       account or address (principal), of whom there were too many to write one by one
    GAUGE              count = visible + in_flight + delayed; size: bytes; duration_ms: age of the oldest message;
                       reason: "baseline" where the journal begins

So for each queue, at any line: SENT + DEAD_LETTERED to it + MOVED to it - DELETED - EXPIRED - DAMAGED - PURGED(count)
- DEAD_LETTERED from it - MOVED from it = the messages it holds, counted from 0 at QUEUE_CREATED, or from the `count` of
a baseline. `attributes` and `body` are of SENT and QUEUE events, and only at level `full`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from penstock.core.errors import invalid_value

SENT: Final = "SENT"
DEDUPLICATED: Final = "DEDUPLICATED"
RECEIVED: Final = "RECEIVED"
EMPTY_RECEIVE: Final = "EMPTY_RECEIVE"
DELETED: Final = "DELETED"
VISIBILITY_CHANGED: Final = "VISIBILITY_CHANGED"
EXPIRED: Final = "EXPIRED"
DAMAGED: Final = "DAMAGED"
PURGED: Final = "PURGED"
DEAD_LETTERED: Final = "DEAD_LETTERED"
MOVED: Final = "MOVED"
REROUTED: Final = "REROUTED"
QUEUE_CREATED: Final = "QUEUE_CREATED"
QUEUE_CHANGED: Final = "QUEUE_CHANGED"
QUEUE_DELETED: Final = "QUEUE_DELETED"
DENIED: Final = "DENIED"
GAUGE: Final = "GAUGE"

OFF, EVENTS, FULL = range(3)
LEVELS: Final = {"off": OFF, "events": EVENTS, "full": FULL}
"""How much is written: nothing, events without bodies, events with bodies and attributes. Plain numbers, because every
message asks."""
TAG: Final = "penstock:journal"
"""A queue's tag with one of LEVELS: that queue's own level, instead of the server's."""

BASELINE: Final = "baseline"
"""The reason of an event whose `count` cannot be worked out from the lines before it."""
TOO_OFTEN: Final = "maxReceiveCount"
REPEAT: Final = "repeat"


class Event(msgspec.Struct, omit_defaults=True, gc=False):
    """One line. Units: bytes and milliseconds; times are epoch milliseconds, UTC."""

    node: str
    seq: int
    ts_ms: int
    event: str
    region: str
    account: str
    queue: str | None = None
    message_id: str | None = None
    group: str | None = None
    type: str | None = None
    endpoint: str | None = None
    size: int | None = None
    receive_count: int | None = None
    sent_ms: int | None = None
    first_receive_ms: int | None = None
    principal: str | None = None
    duration_ms: int | None = None
    reason: str | None = None
    trace: str | None = None
    count: int | None = None
    visible: int | None = None
    in_flight: int | None = None
    delayed: int | None = None
    successor: str | None = None
    attributes: dict[str, tuple[str, str]] | None = None
    """Name → data type and value, the value in base64 where it is binary. Of a queue: "Attribute" or "Tag"."""
    body: str | None = None


Batch = tuple[int, int, bytes]
"""The events of one commit: the first and last `seq`, and their lines, each with its line end; or instead of lines what
`outbox.unpacked` makes them of."""


class Journal(Protocol):
    """What a store needs of the journal."""

    node: str
    """Who numbers the events. (node, seq) is unique, and dense from the node's first seq on."""
    level: int
    """The server's level; never OFF, for then no journal is attached."""

    def committed(self, first: int, last: int, lines: bytes) -> None:
        """These events are durable in the store. Called after every commit that made some, in order; MUST NOT raise."""


class Segment(NamedTuple):
    """A file of the journal. `last` of an open one is not known from its name."""

    node: str
    first: int
    last: int
    date: str
    size: int
    modified: int
    path: Path
    open: bool = False


class Chunk(NamedTuple):
    """A piece of the journal: whole lines, the number to ask for next, and whether there is more at once."""

    lines: bytes
    first: int
    """The first number looked at: higher than asked for if what was before it is no longer kept."""
    next: int
    more: bool


class ReaderState(NamedTuple):
    """A registered reader: what it has committed, by node. Segments it has not committed are kept for it."""

    name: str
    registered: int
    committed: dict[str, int]


class UnknownReader(Exception):
    """There is no registered reader of this name."""


class Archive(Protocol):
    """What operations and metrics need of the journal."""

    node: str
    level: int

    @property
    def last(self) -> int:
        """The number of the last event that can be read."""

    @property
    def forced(self) -> int:
        """Segments that had to be deleted although a reader had not committed them, since the start."""

    def trouble(self) -> str | None:
        """Why events cannot be written out at the moment, if so."""

    def note(self, event: Event) -> None:
        """An event that is no change; nobody waits for it."""

    async def segments(self) -> Sequence[Segment]:
        """Of every node, in order."""

    async def read(self, node: str, seq: int, most: int, queue: str | None = None) -> Chunk:
        """Lines from `seq` on, `most` bytes of them or one; of one queue only, if named."""

    async def time_of(self, seq: int) -> int | None:
        """When the event with this number happened, or the first after it that is kept; None if there is none."""

    async def wait(self, seq: int, seconds: float) -> None:
        """Until there is an event with this number, or the time is over."""

    async def readers(self) -> Sequence[ReaderState]: ...

    async def register(self, name: str, now: int) -> ReaderState:
        """MUST leave a reader that is there as it is."""

    async def commit(self, name: str, node: str, seq: int) -> ReaderState: ...

    async def unregister(self, name: str) -> None: ...


def check_journal_tag(tags: Mapping[str, str]) -> None:
    given = tags.get(TAG)
    if given is not None and given not in LEVELS:
        raise invalid_value(given, TAG, f"Must be one of {', '.join(LEVELS)}.")
