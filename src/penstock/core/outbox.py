"""The outbox: the events of the changes that are not committed yet, numbered, and then as lines.

Every store has one and calls it wherever it changes something, inside the change; what each event carries is written
here and nowhere else. A store commits the lines together with the changes: so there is no change without its event and
no event without its change. It refuses to know files, and what a commit is.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any
from uuid import UUID

import msgspec

from penstock.core import journal
from penstock.core.journal import BASELINE, FULL, OFF, TOO_OFTEN, Batch, Event
from penstock.core.message import Attributes, Message, NewMessage
from penstock.core.queue import Counts, Queue, QueueKey, age_ms

TYPE, ENDPOINT = "bus.type", "bus.endpoint"
"""The String attributes that say of what type a message is, and for which endpoint."""

Delivered = tuple[Message, int, int]
"""A message as it is handed out (this delivery is counted in it), its size, and when it came into its queue."""
Deleted = tuple[str, int, int]
"""The id of a message, how often it was received, and when for the last time."""

MOST_WAITING = 20_000
"""Several times what one commit has; they wait in memory."""

_encode, _encode_lines = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_lines


PACKED = b"\xc1"
"""No line begins with it. Then comes an array of lines, and of packed ones that are alike (`_alike`)."""
_ARRAY = b"\xdd"
ALIKE = 6
"""What is said of lines that are alike."""

_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(list[bytes | list[Any]]).decode


def unpacked(kept: bytes) -> bytes:
    """The lines of what was kept, whether or not it is packed."""
    if not kept.startswith(PACKED):
        return kept
    return b"".join(part if isinstance(part, bytes) else b"".join(_lines_of(part)) for part in _unpack(kept[1:]))


def _lines_of(part: list[Any]) -> Iterator[bytes]:
    return _alike(*part) if len(part) == ALIKE else _alike_in_text(*part)


def _alike(
    before: bytes, between: bytes, behind: bytes, first: int, names: Sequence[str], cells: Sequence[Any]
) -> Iterator[bytes]:
    """Lines, of which is known what stands in each before its number, between that and the message's id, and behind its
    values, whose names they share. Each has cells of its own: the id (in bits, or what stands between its quotes), a
    group, the values, a duration and a body, if it has them; texts are quoted already."""
    own = [cells[start : start + len(names) + 4] for start in range(0, len(cells), len(names) + 4)]
    for number, (id_, group, *values, duration, body) in zip(count(first), own, strict=False):
        spelt = str(UUID(bytes=id_)) if isinstance(id_, bytes) else id_
        told = [b'%b%d%b%b"' % (before, number, between, spelt.encode())]
        if group is not None:
            told.append(b',"group":' + group)
        told += [b',"%b":%d' % (name.encode(), value) for name, value in zip(names, values, strict=True)]
        told.append(behind)
        if duration is not None:
            told.append(b',"duration_ms":%d' % duration)
        if body is not None:
            told.append(b',"body":' + body)
        yield b"".join([*told, b"}\n"])


def _alike_in_text(before: bytes, between: bytes, behind: bytes, first: int, own: list[bytes]) -> Iterator[bytes]:
    """As they were packed once, and may still be in a store that was killed then: two pieces of text for each line."""
    for number, middle, end in zip(count(first), own[::2], own[1::2], strict=False):
        yield b"%b%d%b%b%b%b" % (before, number, between, middle, behind, end)


@lru_cache(20_000)
def _frame(node: str, event: str, queue: QueueKey, by: str) -> tuple[bytes, bytes, bytes]:
    known = _encode(Event(node, 0, 0, event, *queue, message_id="")).removesuffix(b'"}')
    before, between = known.split(b'"seq":0,"ts_ms":0', 1)
    return before + b'"seq":', between, b',"principal":' + _encode(by) if by else b""


class Outbox:
    """`on` is false while no journal is attached: then every method returns at once, and callers may skip the call."""

    __slots__ = ("_committed", "_events", "_node", "_taken", "_told", "level", "on", "seq")

    def __init__(self) -> None:
        self.on, self.level, self._node = False, OFF, ""
        self.seq = self._committed = self._taken = 0
        self._events: list[Event] = []
        self._told: list[bytes] = []
        """Lines, and packed ones."""

    def attach(self, node: str, level: int, seq: int) -> None:
        """Make events from now on. `seq` is the last number that was committed, 0 if none was."""
        self.on, self.level, self._node = level != OFF, level, node
        self.seq = self._committed = self._taken = seq
        self._events.clear()
        self._told.clear()

    def take(self) -> Batch | None:
        """What is to be committed now, if anything: `unpacked` has the lines of it. It counts as committed unless
        `forget` is called."""
        self._close()
        if not self._told:
            return None
        told, self._told = self._told, []
        first, self._taken = self._taken + 1, self.seq
        if any(part.startswith(_ARRAY) for part in told):
            parts = [part if part.startswith(_ARRAY) else _pack(part) for part in told]
            return first, self.seq, b"".join([PACKED, _ARRAY, len(parts).to_bytes(4), *parts])
        return first, self.seq, b"".join(told)

    def _close(self) -> None:
        """What comes now stands behind the events that there are."""
        if self._events:
            self._told.append(_encode_lines(self._events))
            self._events.clear()

    def committed(self) -> None:
        """What was taken is durable."""
        self._committed = self._taken

    def forget(self) -> None:
        """The transaction was rolled back: its numbers are given again."""
        self._events.clear()
        self._told.clear()
        self.seq = self._taken = self._committed

    def __len__(self) -> int:
        return self.seq - self._taken

    def has_any(self) -> bool:
        return self.seq != self._taken

    def level_of(self, queue: Queue) -> int:
        if not self.on:
            return OFF
        own = queue.journal
        return self.level if own is None else own

    def note(self, event: Event) -> None:
        """An event that is no change. Its node and seq are filled in. While nothing can be committed, not all are kept:
        nobody waits for them."""
        if self.on and len(self) < MOST_WAITING:
            self.seq += 1
            event.node, event.seq = self._node, self.seq
            self._events.append(event)

    # Messages. Whoever has many that are alike may write their lines himself.

    def frame(self, queue: Queue, event: str, now: int, by: str) -> tuple[bytes, bytes, bytes]:
        """What stands in a line about a message before its number, from there up to the message's id, and behind the
        values that only messages have which were handed out."""
        before, between, behind = self.lasting_frame(queue, event, by)
        return before, b',"ts_ms":%d%b' % (now, between), behind

    def lasting_frame(self, queue: Queue, event: str, by: str) -> tuple[bytes, bytes, bytes]:
        """The same of whatever time: between its number and the message's id, the time stands first."""
        return _frame(self._node, event, queue.key, by)

    def add(self, number: int, packed: bytes) -> None:
        """So many lines that are numbered from the next number on, packed."""
        self._close()
        self.seq += number
        self._told.append(packed)

    def committed_elsewhere(self, last: int) -> None:
        """Events up to this number were made and committed by somebody else, when there were none here."""
        self.seq = self._taken = self._committed = last

    def sent(self, queue: Queue, new: NewMessage, delay_ms: int, now: int, by: str) -> None:
        level = self.level_of(queue)
        if not level:
            return
        self.seq += 1
        region, account, name = queue.key
        attributes = new.attributes
        event = Event(
            self._node, self.seq, now, "SENT", region, account, name, new.id, new.group,
            _text(attributes, TYPE) if attributes else None, _text(attributes, ENDPOINT) if attributes else None,
            new.size, None, None, None, by or None, delay_ms or None, None, new.trace,
        )  # fmt: skip
        if level == FULL:
            event.attributes, event.body = attributes or None, new.body  # type: ignore[assignment]
        self._events.append(event)

    def deduplicated(self, queue: Queue, new: NewMessage, first_id: str, now: int, by: str) -> None:
        if self.level_of(queue):
            kind, endpoint = _text(new.attributes, TYPE), _text(new.attributes, ENDPOINT)
            self._add(queue, journal.DEDUPLICATED, now, message_id=first_id, group=new.group, type=kind,
                      endpoint=endpoint, size=new.size, principal=by or None, trace=new.trace)  # fmt: skip

    def received(
        self, queue: Queue, deliveries: Iterable[Delivered], now: int, by: str, reason: str | None = None
    ) -> None:
        if not self.level_of(queue):
            return
        (region, account, name), node, events, seq = queue.key, self._node, self._events, self.seq
        for message, size, enqueued in deliveries:
            seq += 1
            attributes = message.attributes
            events.append(
                Event(
                    node, seq, now, "RECEIVED", region, account, name, message.id, message.group,
                    _text(attributes, TYPE) if attributes else None,
                    _text(attributes, ENDPOINT) if attributes else None,
                    size, message.receive_count, message.sent, message.first_received, by or None, now - enqueued,
                    reason, message.trace,
                )
            )  # fmt: skip
        self.seq = seq

    def deleted(self, queue: Queue, deletions: Iterable[Deleted], now: int, by: str) -> None:
        if not self.level_of(queue):
            return
        (region, account, name), node, events, seq = queue.key, self._node, self._events, self.seq
        for message_id, receive_count, received in deletions:
            seq += 1
            events.append(
                Event(
                    node, seq, now, "DELETED", region, account, name, message_id, None, None, None, None,
                    receive_count, None, None, by or None, now - received,
                )
            )  # fmt: skip
        self.seq = seq

    def visibility_changed(
        self, queue: Queue, message_id: str, receive_count: int, seconds: int, now: int, by: str
    ) -> None:
        if self.level_of(queue):
            self._add(queue, journal.VISIBILITY_CHANGED, now, message_id=message_id, receive_count=receive_count,
                      principal=by or None, duration_ms=seconds * 1000)  # fmt: skip

    def expired(self, queue: Queue, message_id: str, receive_count: int, enqueued: int, now: int) -> None:
        if self.level_of(queue):
            self._add(queue, journal.EXPIRED, now, message_id=message_id, receive_count=receive_count,
                      duration_ms=now - enqueued)  # fmt: skip

    def damaged(self, queue: Queue, message_id: str | None, reason: str, now: int) -> None:
        if self.level_of(queue):
            self._add(queue, journal.DAMAGED, now, message_id=message_id, reason=reason)

    # From queue to queue: written if either queue is

    def dead_lettered(
        self, source: Queue, target: Queue, message_id: str, receive_count: int, enqueued: int, now: int
    ) -> None:
        if self.level_of(source) or self.level_of(target):
            self._add(source, journal.DEAD_LETTERED, now, message_id=message_id, receive_count=receive_count,
                      endpoint=target.arn, reason=TOO_OFTEN, duration_ms=now - enqueued)  # fmt: skip

    def moved(self, source: Queue, target: Queue, old_id: str, new_id: str, task_id: str, now: int) -> None:
        if self.level_of(source) or self.level_of(target):
            self._add(source, journal.MOVED, now, message_id=old_id, successor=new_id, endpoint=target.arn,
                      reason=task_id)  # fmt: skip

    # Queues

    def queue_created(self, queue: Queue, now: int, by: str) -> None:
        if level := self.level_of(queue):
            self._add(queue, journal.QUEUE_CREATED, now, principal=by or None, count=0,
                      attributes=_settings(queue) if level == FULL else None)  # fmt: skip

    def queue_changed(self, before: Queue, after: Queue, held: int, now: int, by: str) -> None:
        """Where the journal of a queue ends or begins, it says so."""
        then, level = self.level_of(before), self.level_of(after)
        if then or level:
            reason = "off" if not level else BASELINE if not then else None
            self._add(after, journal.QUEUE_CHANGED, now, principal=by or None, count=held, reason=reason,
                      attributes=_settings(after) if level == FULL else None)  # fmt: skip

    def queue_deleted(self, queue: Queue, held: int, now: int, by: str) -> None:
        if self.level_of(queue):
            self._add(queue, journal.QUEUE_DELETED, now, principal=by or None, count=held)

    def purged(self, queue: Queue, held: int, now: int, by: str) -> None:
        if self.level_of(queue):
            self._add(queue, journal.PURGED, now, principal=by or None, count=held)

    def gauge(self, queue: Queue, counts: Counts, oldest: int | None, now: int, reason: str | None = None) -> None:
        if self.level_of(queue):
            self._add(queue, journal.GAUGE, now, count=counts.held, visible=counts.visible, in_flight=counts.in_flight,
                      delayed=counts.delayed, size=counts.bytes, duration_ms=age_ms(oldest, now),
                      reason=reason)  # fmt: skip

    def _add(self, queue: Queue, event: str, now: int, **fields: object) -> None:
        self.seq += 1
        self._events.append(Event(self._node, self.seq, now, event, *queue.key, **fields))  # type: ignore[arg-type]


def _text(attributes: Attributes, name: str) -> str | None:
    found = attributes.get(name)
    return found.value if found is not None and isinstance(found.value, str) else None


def _settings(queue: Queue) -> dict[str, tuple[str, str]]:
    tags: dict[str, tuple[str, str]] = {name: ("Tag", value) for name, value in queue.tags.items()}
    return tags | {name: ("Attribute", value) for name, value in queue.attributes.items()}
