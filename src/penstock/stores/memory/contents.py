"""One queue in memory: whose turn it is, what a claim may do, and when a message is gone.

One number says what state a message is in: `due`, the time from which it is visible.

    due <= now                         READY, and visible since `due`
    due >  now, received here before   IN FLIGHT
    due >  now, never received here    DELAYED

So time alone moves messages from state to state, and nothing has to be done when it passes. It refuses to know other
queues, and cost: it scans what it holds whenever that is easier to read.
"""

import struct
import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile

from msgspec.structs import replace

from penstock.core.fairness import RecentWork, calmed, dominates_in_flight
from penstock.core.message import Message, Sent
from penstock.core.queue import Counts, Queue
from penstock.core.store import ATTEMPT_MS, DEDUPLICATION_MS, LONGEST_VISIBILITY_MS, Outcome

CLAIM = struct.Struct(">QI")
"""A delivery: the message's number, and which delivery of the message this is. Numbers are never used again, so a claim
of another queue, or from before a dead-lettering, finds nothing."""
PLACE = struct.Struct(">QQ")
"""Where a peek stopped: enqueue time and number. A peek is no delivery, so this can never pass for a claim."""


@dataclass(slots=True)
class Stored:
    """`number` is the order of arrival; `received` is when this queue last handed the message out."""

    number: int
    message: Message
    size: int
    enqueued: int
    due: int
    received: int | None = None

    @property
    def age(self) -> tuple[int, int]:
        return self.enqueued, self.number

    def ready(self, now: int) -> bool:
        return self.due <= now

    def in_flight(self, now: int) -> bool:
        return self.due > now and self.received is not None

    def delayed(self, now: int) -> bool:
        return self.due > now and self.received is None

    @property
    def claim(self) -> bytes:
        return CLAIM.pack(self.number, self.message.receive_count)

    def delivered(self) -> Message:
        return replace(self.message, claim=self.claim)

    def as_new(self, queue: Queue, now: int) -> Message:
        """The message as it is sent to another queue, by no one."""
        return replace(
            self.message, id=str(uuid.uuid4()), sent=now, receive_count=0, first_received=None, source_arn=None,
            deduplication_id=self.message.id if queue.fifo else self.message.deduplication_id,
        )  # fmt: skip

    def peeked(self) -> Message:
        return replace(self.message, claim=PLACE.pack(*self.age))


@dataclass(slots=True)
class Contents:
    """A queue and what it holds. A purged queue is a new one of these."""

    queue: Queue
    purged: int | None = None
    messages: dict[int, Stored] = field(default_factory=dict)
    """By number, and so in order of arrival."""
    accepted: dict[tuple[str, str], tuple[int, Sent]] = field(default_factory=dict)
    """Deduplication: scope and id → when it was first accepted, and as what."""
    attempts: dict[str, tuple[int, list[bytes]]] = field(default_factory=dict)
    """Receive attempts on a FIFO queue: id → when, and the claims given."""
    noisy: set[str] = field(default_factory=set)
    last_sent: dict[str, int] = field(default_factory=dict)
    work: RecentWork = field(default_factory=RecentWork)

    # Coming and going

    def add(self, stored: Stored, now: int) -> None:
        self.messages[stored.number] = stored
        if stored.message.group is not None:
            self.last_sent[stored.message.group] = now

    def remove(self, stored: Stored) -> None:
        del self.messages[stored.number]

    def expiry(self, stored: Stored) -> int:
        return stored.enqueued + self.queue.retention_seconds * 1000

    def drop_expired(self, now: int) -> list[Stored]:
        expired = [m for m in self.messages.values() if self.expiry(m) <= now]
        for stored in expired:
            self.remove(stored)
        return expired

    def first_accepted(self, scope: tuple[str, str], now: int) -> Sent | None:
        at, sent = self.accepted.get(scope, (0, None))
        return sent if now - at < DEDUPLICATION_MS else None

    def forget(self, now: int) -> None:
        self.accepted = {k: v for k, v in self.accepted.items() if now - v[0] < DEDUPLICATION_MS}
        self.attempts = {k: v for k, v in self.attempts.items() if now - v[0] < ATTEMPT_MS}

    def delay_anew(self, now: int) -> None:
        for stored in self.messages.values():
            if stored.delayed(now):
                stored.due = stored.enqueued + self.queue.delay_seconds * 1000

    # Whose turn it is

    def turns(self, now: int) -> list[Stored]:
        """Every message that may be handed out now, in the order in which that is done."""
        return self._fifo_turns(now) if self.queue.fifo else self._standard_turns(now)

    def _fifo_turns(self, now: int) -> list[Stored]:
        groups: dict[str | None, list[Stored]] = {}
        for stored in self.messages.values():
            groups.setdefault(stored.message.group, []).append(stored)
        by_availability = sorted(groups.values(), key=lambda group: (group[0].due, group[0].number))
        return [m for group in by_availability for m in takewhile(lambda m: m.ready(now), group)]

    def _standard_turns(self, now: int) -> list[Stored]:
        busy = self._busy(now)

        def turn(stored: Stored) -> tuple[bool, int, int, int]:
            noisy = stored.message.group in self.noisy
            return noisy, busy[stored.message.group] if noisy else 0, stored.due, stored.number

        return sorted((m for m in self.messages.values() if m.ready(now)), key=turn)

    def listen_for_noise(self, now: int) -> None:
        """A noisy group stays noisy until it has calmed, even when it no longer dominates."""
        busy = self._busy(now)
        backlog = Counter(m.message.group for m in self.messages.values() if m.ready(now))
        self.noisy = {
            group
            for group, waiting in backlog.items()
            if group is not None
            and not calmed(waiting, self.last_sent[group], now)
            and (
                group in self.noisy
                or dominates_in_flight(busy[group], busy.total())
                or self.work.dominated_by(group, now)
            )
        }

    def _busy(self, now: int) -> Counter[str | None]:
        return Counter(m.message.group for m in self.messages.values() if m.in_flight(now))

    # Deliveries

    def deliver(self, stored: Stored, visibility_seconds: int, now: int) -> None:
        self._note_work(stored, now)
        stored.due, stored.received = now + visibility_seconds * 1000, now
        stored.message.receive_count += 1
        if stored.message.first_received is None:
            stored.message.first_received = now

    def deliver_again(self, attempt_id: str, visibility_seconds: int, now: int) -> list[Stored]:
        """What this attempt was given before, if all of it still stands."""
        at, claims = self.attempts.get(attempt_id, (0, []))
        found = [self._find(claim) for claim in claims]
        again = [stored for stored, current in found if stored and current]
        if now - at >= ATTEMPT_MS or len(again) < len(claims):
            return []
        for stored in again:
            stored.due, stored.received = now + visibility_seconds * 1000, now
        return again

    def delete(self, claim: bytes, now: int) -> tuple[Stored | None, Outcome]:
        stored, current = self._find(claim)
        if stored is None:
            return stored, Outcome.GONE
        if self.queue.fifo and (not current or stored.ready(now)):
            return stored, Outcome.EXPIRED
        if not current:
            return stored, Outcome.SUPERSEDED
        self._note_work(stored, now)
        self.remove(stored)
        return stored, Outcome.DONE

    def change_visibility(self, claim: bytes, seconds: int, now: int) -> tuple[Stored | None, Outcome]:
        stored, current = self._find(claim)
        if stored is None or stored.received is None:
            return stored, Outcome.GONE
        if stored.ready(now):
            return stored, Outcome.VISIBLE
        if self.queue.fifo and not current:
            return stored, Outcome.EXPIRED
        if now + seconds * 1000 > stored.received + LONGEST_VISIBILITY_MS:
            return stored, Outcome.TOO_LONG
        stored.due = now + seconds * 1000
        self.attempts = {k: v for k, v in self.attempts.items() if claim not in v[1]}
        return stored, Outcome.DONE

    def _find(self, claim: bytes) -> tuple[Stored | None, bool]:
        """The message of a claim, and whether the claim stands for its latest delivery."""
        if len(claim) != CLAIM.size:
            return None, False
        number, delivery = CLAIM.unpack(claim)
        stored = self.messages.get(number)
        return stored, stored is not None and stored.message.receive_count == delivery

    def _note_work(self, stored: Stored, now: int) -> None:
        """A delivery is over: the message is deleted, or handed out anew."""
        if stored.received is not None:
            self.work.add(stored.message.group, min(stored.due, now) - stored.received, now)

    # Looking

    def counts(self, now: int) -> Counts:
        held = self.messages.values()
        return Counts(
            visible=sum(m.ready(now) for m in held),
            in_flight=sum(m.in_flight(now) for m in held),
            delayed=sum(m.delayed(now) for m in held),
            bytes=sum(m.size for m in held),
        )

    def oldest(self) -> int | None:
        return min((m.enqueued for m in self.messages.values()), default=None)

    def peek(self, limit: int, after: bytes) -> list[Message]:
        place = PLACE.unpack(after) if after else (-1, -1)
        further = sorted((m for m in self.messages.values() if m.age > place), key=lambda m: m.age)
        return [stored.peeked() for stored in further[:limit]]
