"""What goes through each queue, minute by minute: the server's own counters, which live as long as the process.

They are kept beside the journal, not made from it, so that each can be held against the other: a store counts what its
changes return (`docs/explain/metrics.md` says what each metric counts), inside the change and by the change's own
`now`, which is the `ts_ms` of its events. What was counted is added when the change is committed and forgotten when
it is rolled back, as the outbox does with events. A receive that found nothing changes nothing, and is added at once.

A queue has one open minute; an earlier one is packed to some thirty bytes when the next begins. A minute without
anything is not there, so a queue that nobody uses costs nothing. This module refuses to know what metrics are called.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from penstock.core.message import NewMessage, Sent
from penstock.core.queue import Counts, QueueKey, age_ms

MINUTE_MS = 60_000
KEPT_MINUTES = 180
TRIMMED_AFTER = 60
"""Minutes more than are kept that a queue may have before those that are too old are dropped."""


class Gauge(NamedTuple):
    """A sample of how full a queue is. `age_seconds` is that of its oldest message, 0 if it has none."""

    visible: int
    in_flight: int
    delayed: int
    age_seconds: int


class Minute(msgspec.Struct, array_like=True, gc=False):
    """Of one queue. `number` counts minutes since the epoch; sizes are in bytes. A minute that was opened again, for a
    change that was committed late, is there twice: whoever reads adds up."""

    number: int
    sent: int = 0
    bytes: int = 0
    smallest: int = 0
    largest: int = 0
    received: int = 0
    deleted: int = 0
    empty: int = 0
    gauges: tuple[Gauge, ...] = ()


class Past(msgspec.Struct, gc=False):
    """A queue's minutes: the open one, and the earlier ones packed end to end."""

    open: Minute
    packed: bytearray
    length: int = 0


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[Minute]).decode


class Traffic:
    """`since` is when counting began: what was before is not known, and not zero."""

    def __init__(self) -> None:
        self.since, self.kept_minutes = 0, KEPT_MINUTES
        self.sends = 0
        """Requests that stored messages: as long as it is the same, no queue that was empty holds anything."""
        self.last_sent: dict[QueueKey, int] = {}
        self.last_received: dict[QueueKey, int] = {}
        """When somebody last asked a queue for messages, and maybe got none. Both are kept beyond the minutes."""
        self._queues: dict[QueueKey, Past] = {}
        self._pending: list[tuple[Callable[[Minute, Any], None], QueueKey, int, Any]] = []

    # For stores, inside a change

    def sent(self, queue: QueueKey, messages: Sequence[NewMessage], sent: Iterable[Sent], now: int) -> None:
        """Duplicates were not stored, and are not counted."""
        self.stored(queue, [new.size for new, done in zip(messages, sent, strict=True) if not done.duplicate], now)

    def stored(self, queue: QueueKey, sizes: Sequence[int], now: int) -> None:
        if sizes:
            self._pending.append((_add_sent, queue, now, sizes))

    def received(self, queue: QueueKey, number: int, now: int) -> None:
        if number:
            self._pending.append((_add_received, queue, now, number))

    def deleted(self, queue: QueueKey, number: int, now: int) -> None:
        """Only what was there and is gone."""
        if number:
            self._pending.append((_add_deleted, queue, now, number))

    def gauge(self, queue: QueueKey, counts: Counts, oldest: int | None, now: int) -> None:
        age = (age_ms(oldest, now) or 0) // 1000
        self._pending.append((_add_gauge, queue, now, Gauge(counts.visible, counts.in_flight, counts.delayed, age)))

    def committed(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, []
            for add, queue, now, what in pending:
                add(self._open(queue, now // MINUTE_MS), what)
                if add is _add_sent:
                    self.sends += 1
                    self.last_sent[queue] = now
                elif add is _add_received:
                    self.last_received[queue] = now

    def rolled_back(self) -> None:
        self._pending.clear()

    # For operations

    def empty_receive(self, queue: QueueKey, now: int) -> None:
        self._open(queue, now // MINUTE_MS).empty += 1
        self.last_received[queue] = now

    def queues(self) -> Iterable[QueueKey]:
        """Those of which anything is known, in no order; deleted ones too."""
        return self._queues.keys()

    def minutes(self, queue: QueueKey, first: int, now: int) -> list[Minute]:
        """What is kept of a queue from the minute with this number on, in no order."""
        past, first = self._queues.get(queue), max(first, self._first_kept(now))
        if past is None or (past.open.number < first and not past.length):
            return []
        return [minute for minute in (*_unpacked(past), past.open) if minute.number >= first]

    def complete(self, start: int, end: int, now: int) -> bool:
        """Whether everything that happened between these times is counted and kept."""
        settled = self._pending[0][2] if self._pending else now
        return max(self.since, self._first_kept(now) * MINUTE_MS) <= start and end <= settled

    # Keeping

    def forget(self, now: int) -> None:
        """Let go of queues of which nothing is kept any more."""
        first = self._first_kept(now)
        for queue in [queue for queue, past in self._queues.items() if past.open.number < first]:
            del self._queues[queue]

    def forget_account(self, account: str) -> None:
        for known in (self._queues, self.last_sent, self.last_received):
            for queue in [queue for queue in known if queue.account == account]:
                del known[queue]

    def forget_use_but_of(self, queues: Collection[QueueKey]) -> None:
        for last in (self.last_sent, self.last_received):
            for gone in last.keys() - queues:
                del last[gone]

    def _first_kept(self, now: int) -> int:
        return now // MINUTE_MS - self.kept_minutes

    def _open(self, queue: QueueKey, number: int) -> Minute:
        past = self._queues.get(queue)
        if past is None:
            past = self._queues[queue] = Past(Minute(number), bytearray())
        elif past.open.number != number:
            past.packed += _pack(past.open)
            past.length += 1
            if past.length >= self.kept_minutes + TRIMMED_AFTER:
                self._trim(past, number - self.kept_minutes)
            past.open = Minute(number)
        return past.open

    def _trim(self, past: Past, first: int) -> None:
        kept = [minute for minute in _unpacked(past) if minute.number >= first]
        past.packed, past.length = bytearray(b"".join(map(_pack, kept))), len(kept)


def _unpacked(past: Past) -> list[Minute]:
    """What is packed end to end is a list once its head is put before it."""
    return _unpack(b"\xdd" + past.length.to_bytes(4, "big") + past.packed)


def _add_sent(minute: Minute, sizes: list[int]) -> None:
    least, most = min(sizes), max(sizes)
    minute.smallest = min(minute.smallest, least) if minute.sent else least
    minute.largest = max(minute.largest, most)
    minute.sent += len(sizes)
    minute.bytes += sum(sizes)


def _add_received(minute: Minute, number: int) -> None:
    minute.received += number


def _add_deleted(minute: Minute, number: int) -> None:
    minute.deleted += number


def _add_gauge(minute: Minute, gauge: Gauge) -> None:
    minute.gauges += (gauge,)
