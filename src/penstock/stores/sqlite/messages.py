"""Sending, handing out, deleting and hiding messages: the changes themselves, each within an open transaction.

A claim names the shelf, the message and the number of times it has been received: a later delivery of the
same message has a higher number, so an older claim is recognised as superseded.
"""

import math
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from penstock.core.message import Attribute, Attributes, Message, NewMessage, Sent
from penstock.core.queue import QueueKey
from penstock.core.store import (
    ATTEMPT_MS,
    DEDUPLICATION_MS,
    LONGEST_VISIBILITY_MS,
    Listener,
    Outcome,
    Receive,
    TooManyInFlight,
)
from penstock.stores.sqlite.catalogue import DELAYED, IN_FLIGHT, READY, Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.groups import Groups
from penstock.stores.sqlite.lines import Lines, Waiting

PROMOTED_AT_ONCE = 500
EXPIRED_AT_ONCE = 1000
BURIED_AT_ONCE = 100
LONGEST_DELAY_SECONDS = 900
PEEKED = b"\0"
"""Behind what would be a claim: a message that was only looked at cannot be deleted or hidden."""

_claim = struct.Struct(">QQQI")
_attempt = struct.Struct(">QQI")
_encode_attributes = msgspec.msgpack.Encoder().encode
_decode_pairs = msgspec.msgpack.Decoder().decode

_KEY = "shelf=? AND enqueued=? AND number=?"
_INSERT = (
    "INSERT INTO message (shelf, enqueued, number, state, place, due, grp, size, receives, first_received)"
    " VALUES (?,?,?,?,?,?,?,?,?,?)"
)
_INSERT_PAYLOAD = (
    "INSERT INTO payload (number, id, body, checksum, sender, sent, attributes, trace, grp, deduplication, sequence)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)
_PAYLOAD = (
    "SELECT id, body, checksum, sender, sent, attributes, trace, grp, deduplication, sequence, source"
    " FROM payload WHERE number=?"
)


class Damaged(Exception):
    """A body read from the disk is not the one that was written."""


class Stored(NamedTuple):
    """The changing part of a message, as a claim finds it."""

    state: int
    due: int | None
    group: int
    size: int
    receives: int
    received: int | None


class Messages:
    def __init__(self, db: Database, catalogue: Catalogue, numbers: Callable[[], int], notify: Listener) -> None:
        self._db, self._catalogue, self._number, self._notify = db, catalogue, numbers, notify
        self.groups, self.lines = Groups(db), Lines(db)
        self.next_due: float = 0

    # Time

    def catch_up(self, now: int, rounds: int = 1) -> None:
        """Make ready what is due: at once for all but a storm, which is spread over calls."""
        while self.next_due <= now and rounds:
            self._promote(now)
            rounds -= 1

    def _promote(self, now: int) -> None:
        rows = self._db.execute(
            "SELECT shelf, enqueued, number, state, grp, size, receives, received, due FROM message"
            " WHERE due<=? ORDER BY due LIMIT ?",
            (now, PROMOTED_AT_ONCE),
        ).fetchall()
        for shelf, enqueued, number, state, group, size, _, received, due in rows:
            entry = self._catalogue.by_shelf.get(shelf)
            if entry is None:
                self._db.execute(f"UPDATE message SET due=NULL WHERE {_KEY}", (shelf, enqueued, number))
            else:
                self._show(entry, enqueued, number, Stored(state, due, group, size, 0, received), due)
        earliest = self._db.execute("SELECT due FROM message WHERE due IS NOT NULL ORDER BY due LIMIT 1").get
        self.next_due = math.inf if earliest is None else earliest

    def _show(self, entry: Entry, enqueued: int, number: int, stored: Stored, since: int) -> None:
        """Hidden → ready, visible since the given time."""
        place = "shown" if entry.queue.fifo else "place"
        self._db.execute(
            f"UPDATE message SET state=0, due=NULL, {place}=:since WHERE shelf=:shelf AND enqueued=:enqueued AND number=:number",
            {"since": since, "shelf": entry.shelf, "enqueued": enqueued, "number": number},
        )
        self._count(entry, stored.state, -1)
        self._count(entry, READY, +1)
        if stored.group:
            self._worked(entry, stored, since)
            self.groups.update(entry, stored.group, since, ready=1, in_flight=-(stored.state == IN_FLIGHT))
        self._notify(entry.queue.id, since)

    def expire(self, entry: Entry, now: int) -> bool:
        """Drop messages past their retention, a bounded number of them; whether there may be more."""
        horizon = now - entry.retention_ms
        if entry.oldest > horizon:
            return False
        rows = self._db.execute(
            "SELECT enqueued, number, state, due, grp, size, receives, received FROM message"
            " WHERE shelf=? AND enqueued<=? ORDER BY enqueued LIMIT ?",
            (entry.shelf, horizon, EXPIRED_AT_ONCE),
        ).fetchall()
        for enqueued, number, *rest in rows:
            self._remove(entry, enqueued, number, Stored(*rest), now)
        oldest = self.oldest(entry)
        entry.oldest = math.inf if oldest is None else oldest
        return entry.oldest <= horizon

    def oldest(self, entry: Entry) -> int | None:
        found: int | None = self._db.execute(
            "SELECT enqueued FROM message WHERE shelf=? ORDER BY enqueued LIMIT 1", (entry.shelf,)
        ).get
        return found

    # Sending

    def send(self, queue_id: int, messages: Sequence[NewMessage], now: int) -> list[Sent]:
        entry = self._catalogue.live(queue_id)
        self.catch_up(now)
        return [self._send(entry, message, now) for message in messages]

    def _send(self, entry: Entry, message: NewMessage, now: int) -> Sent:
        queue = entry.queue
        number = self._number()
        if queue.fifo:
            if earlier := self._earlier(entry, message, number, now):
                return earlier
            delay = queue.delay_seconds
        else:
            delay = queue.delay_seconds if message.delay_seconds is None else message.delay_seconds
        self._db.execute(
            _INSERT_PAYLOAD,
            (
                number, bytes.fromhex(message.id.replace("-", "")), message.body, _checksum(message.body), message.sender, now,
                _encode_attributes(message.attributes) if message.attributes else None,
                message.trace, message.group, message.deduplication_id, number if queue.fifo else None,
            ),
        )  # fmt: skip
        due = now + delay * 1000 if delay else None
        self._place(entry, (now, number), message.group, message.size, due, now, sent=True)
        return Sent(message.id, number if queue.fifo else None)

    def _earlier(self, entry: Entry, message: NewMessage, number: int, now: int) -> Sent | None:
        """The message of which this one is a duplicate; otherwise remember this one."""
        scope = entry.queue.deduplication_scope(message.group, now)
        key = (entry.shelf, scope, message.deduplication_id)
        row = self._db.execute(
            "SELECT id, sequence FROM deduplication WHERE shelf=? AND scope=? AND name=? AND expires>?", (*key, now)
        ).get
        if row:
            return Sent(_uuid(row[0]), row[1], duplicate=True)
        self._db.execute(
            "INSERT OR REPLACE INTO deduplication VALUES (?,?,?,?,?,?)",
            (*key, bytes.fromhex(message.id.replace("-", "")), number, now + DEDUPLICATION_MS),
        )
        return None

    def _place(
        self, entry: Entry, key: tuple[int, int], group: str | None, size: int, due: int | None, now: int,
        sent: bool = False, sequence: int | None = None, receives: int = 0, first_received: int | None = None,
    ) -> None:  # fmt: skip
        """Put a message on a queue's shelf, ready or delayed."""
        enqueued, number = key
        fifo = entry.queue.fifo
        state = DELAYED if due else READY
        place = (sequence or number) if fifo else None if due else now
        group_id = self.groups.enter(entry, group, now) if group else 0
        self._db.execute(
            _INSERT, (entry.shelf, enqueued, number, state, place, due, group_id, size, receives, first_received)
        )
        self._count(entry, state, +1)
        entry.bytes += size
        entry.oldest = min(entry.oldest, enqueued)
        if group_id:
            self.groups.update(entry, group_id, now, messages=1, ready=int(state == READY))
        if due:
            self.next_due = min(self.next_due, due)
        self._notify(entry.queue.id, due or now)

    # Handing out

    def receive(self, queue_id: int, ask: Receive, now: int) -> list[Message]:
        entry = self._catalogue.live(queue_id)
        self.catch_up(now)
        self.expire(entry, now)
        if ask.attempt_id and entry.queue.fifo and (again := self._repeat(entry, ask, now)) is not None:
            return again
        room = ask.in_flight_limit - entry.counts[IN_FLIGHT]
        if room <= 0:
            if entry.queue.fifo:
                return []
            raise TooManyInFlight
        limit = min(ask.limit, room)
        if entry.groups and not entry.queue.fifo:
            self.groups.calm(entry, now)
        chosen, dead, target = [], [], self._grave(entry)
        most = entry.queue.redrive.max_receives if target and entry.queue.redrive else math.inf
        for waiting in self.lines.ready(entry, limit):
            if waiting.receives >= most:
                dead.append(waiting)
                if len(dead) == BURIED_AT_ONCE:
                    break
            else:
                chosen.append(waiting)
                if len(chosen) == limit:
                    break
        for waiting in dead:
            self._bury(entry, waiting, target, now)  # type: ignore[arg-type]
        result = [self._hand_out(entry, waiting, ask, now) for waiting in chosen]
        for group, taken in Counter(waiting.group for waiting in chosen if waiting.group).items():
            hidden = taken if ask.visibility_seconds else 0
            self.groups.update(entry, group, now, ready=-hidden, in_flight=hidden)
        if ask.attempt_id and entry.queue.fifo and chosen:
            self._remember(entry, ask, chosen, now)
        return result

    def _hand_out(self, entry: Entry, waiting: Waiting, ask: Receive, now: int) -> Message:
        receives, first = waiting.receives + 1, waiting.first_received or now
        due = now + ask.visibility_seconds * 1000 if ask.visibility_seconds else None
        fifo, state = entry.queue.fifo, IN_FLIGHT if due else READY
        place, shown = (waiting.place, now) if fifo else (None if due else now, None)
        self._db.execute(
            f"UPDATE message SET state=?, place=?, shown=?, due=?, receives=?, first_received=?, received=? WHERE {_KEY}",
            (state, place, shown, due, receives, first, now, entry.shelf, waiting.enqueued, waiting.number),
        )
        if due:
            self._count(entry, READY, -1)
            self._count(entry, IN_FLIGHT, +1)
            self.next_due = min(self.next_due, due)
        self._notify(entry.queue.id, due or now)
        return self.read(entry, waiting.enqueued, waiting.number, receives, first)

    def read(self, entry: Entry, enqueued: int, number: int, receives: int, first: int | None) -> Message:
        row = self._db.execute(_PAYLOAD, (number,)).get
        identity, body, checksum, sender, sent, attributes, trace, group, deduplication, sequence, source = row
        if _checksum(body) != checksum:
            raise Damaged(f"message {_uuid(identity)} of {entry.queue.arn} fails its checksum")
        return Message(
            id=_uuid(identity), body=body, sender=sender, sent=sent, receive_count=receives,
            claim=_claim.pack(entry.shelf, enqueued, number, receives),
            attributes=_attributes(attributes) if attributes else {},
            trace=trace, group=group, deduplication_id=deduplication, sequence=sequence, source_arn=source,
            first_received=first,
        )  # fmt: skip

    def _remember(self, entry: Entry, ask: Receive, chosen: list[Waiting], now: int) -> None:
        packed = b"".join(_attempt.pack(w.enqueued, w.number, w.receives + 1) for w in chosen)
        due = now + ask.visibility_seconds * 1000
        self._db.execute(
            "INSERT OR REPLACE INTO attempt VALUES (?,?,?,?,?)",
            (entry.shelf, ask.attempt_id, now + ATTEMPT_MS, due, packed),
        )

    def _repeat(self, entry: Entry, ask: Receive, now: int) -> list[Message] | None:
        """What this attempt was given before, hidden anew, unless any of it was touched since."""
        key = (entry.shelf, ask.attempt_id)
        row = self._db.execute("SELECT expires, due, messages FROM attempt WHERE shelf=? AND name=?", key).get
        if row is None or row[0] <= now:
            return None
        found = []
        for enqueued, number, receives in _attempt.iter_unpack(row[2]):
            stored = self._find(entry, enqueued, number)
            untouched = (
                stored and stored.receives == receives and (stored.due == row[1] or (not stored.due and row[1] <= now))
            )
            if not stored or not untouched:
                return None
            found.append((enqueued, number, stored))
        result = []
        for enqueued, number, stored in found:
            self._hide(entry, enqueued, number, stored, now + ask.visibility_seconds * 1000, now)
            first = self._db.execute(
                f"SELECT first_received FROM message WHERE {_KEY}", (entry.shelf, enqueued, number)
            ).get
            result.append(self.read(entry, enqueued, number, stored.receives, first))
        self._db.execute(
            "UPDATE attempt SET due=? WHERE shelf=? AND name=?", (now + ask.visibility_seconds * 1000, *key)
        )
        return result

    # Dead letters

    def _grave(self, entry: Entry) -> Entry | None:
        """The dead-letter queue, if there is one to use."""
        redrive = entry.queue.redrive
        key = QueueKey.from_arn(redrive.target_arn) if redrive else None
        target = self._catalogue.by_key.get(key) if key else None
        return target if target and target.queue.fifo == entry.queue.fifo else None

    def _bury(self, entry: Entry, waiting: Waiting, target: Entry, now: int) -> None:
        row = self._db.execute("SELECT grp, id FROM payload WHERE number=?", (waiting.number,)).get
        group, identity = row
        self._take_off(entry, waiting.enqueued, waiting.number, waiting.state, waiting.group, waiting.size, now)
        if target.queue.fifo:
            enqueued, sequence = now, self._number()
            self._db.execute(
                "UPDATE payload SET source=?, sequence=?, deduplication=? WHERE number=?",
                (entry.queue.arn, sequence, _uuid(identity), waiting.number),
            )
        else:
            enqueued, sequence = waiting.enqueued, None
            self._db.execute("UPDATE payload SET source=? WHERE number=?", (entry.queue.arn, waiting.number))
        self._place(
            target, (enqueued, waiting.number), group, waiting.size, None, now,
            sequence=sequence, receives=waiting.receives, first_received=waiting.first_received,
        )  # fmt: skip

    def move(self, entry: Entry, waiting: Waiting, target: Entry, identity: str, now: int) -> None:
        """Hand a dead message on as a new one."""
        row = self._db.execute("SELECT grp, id FROM payload WHERE number=?", (waiting.number,)).get
        group, old = row
        self._take_off(entry, waiting.enqueued, waiting.number, waiting.state, waiting.group, waiting.size, now)
        sequence = self._number() if target.queue.fifo else None
        self._db.execute(
            "UPDATE payload SET id=?, sent=?, sequence=?, source=NULL, deduplication=? WHERE number=?",
            (
                bytes.fromhex(identity.replace("-", "")), now, sequence,
                _uuid(old) if target.queue.fifo else None, waiting.number,
            ),
        )  # fmt: skip
        due = now + target.queue.delay_seconds * 1000 if target.queue.delay_seconds else None
        self._place(target, (now, waiting.number), group, waiting.size, due, now, sequence=sequence)

    def delay_anew(self, entry: Entry, now: int) -> None:
        """A FIFO queue's delay changed: messages still waiting wait for the new one."""
        rows = self._db.execute(
            "SELECT enqueued, number FROM message WHERE shelf=? AND enqueued>? AND state=2",
            (entry.shelf, now - 1000 * LONGEST_DELAY_SECONDS),
        ).fetchall()
        for enqueued, number in rows:
            due = enqueued + entry.queue.delay_seconds * 1000
            self._db.execute(f"UPDATE message SET due=? WHERE {_KEY}", (due, entry.shelf, enqueued, number))
            self.next_due = min(self.next_due, due)
            self._notify(entry.queue.id, due)
        self.catch_up(now)

    def peek(self, queue_id: int, limit: int, after: bytes, now: int) -> list[Message]:
        """Messages as they lie on the shelf, oldest first; nothing is changed."""
        entry = self._catalogue.live(queue_id)
        _, enqueued, number, _ = _claim.unpack(after[:-1]) if len(after) == _claim.size + 1 else (0, 0, 0, 0)
        rows = self._db.execute(
            "SELECT enqueued, number, receives, first_received FROM message"
            " WHERE shelf=? AND (enqueued, number) > (?, ?) AND enqueued>? ORDER BY enqueued, number LIMIT ?",
            (entry.shelf, enqueued, number, now - entry.retention_ms, limit),
        ).fetchall()
        messages = [self.read(entry, *row) for row in rows]
        for message in messages:
            message.claim += PEEKED
        return messages

    # Claims

    def delete(self, queue_id: int, claims: Sequence[bytes], now: int) -> list[Outcome]:
        entry = self._catalogue.live(queue_id)
        self.catch_up(now)
        self.expire(entry, now)
        return [self._delete(entry, claim, now) for claim in claims]

    def _delete(self, entry: Entry, claim: bytes, now: int) -> Outcome:
        claimed = self._claimed(entry, claim)
        if claimed is None:
            return Outcome.GONE
        enqueued, number, receives, stored = claimed
        if entry.queue.fifo and (stored.receives != receives or (stored.due or 0) <= now):
            return Outcome.EXPIRED
        if stored.receives != receives:
            return Outcome.SUPERSEDED
        self._remove(entry, enqueued, number, stored, now)
        return Outcome.DONE

    def change_visibility(self, queue_id: int, changes: Sequence[tuple[bytes, int]], now: int) -> list[Outcome]:
        entry = self._catalogue.live(queue_id)
        self.catch_up(now)
        self.expire(entry, now)
        return [self._change_visibility(entry, claim, seconds, now) for claim, seconds in changes]

    def _change_visibility(self, entry: Entry, claim: bytes, seconds: int, now: int) -> Outcome:
        claimed = self._claimed(entry, claim)
        if claimed is None:
            return Outcome.GONE
        enqueued, number, receives, stored = claimed
        if entry.queue.fifo and stored.receives != receives:
            return Outcome.EXPIRED
        if stored.state != IN_FLIGHT:
            return Outcome.VISIBLE
        if now + seconds * 1000 > (stored.received or now) + LONGEST_VISIBILITY_MS:
            return Outcome.TOO_LONG
        if seconds:
            self._hide(entry, enqueued, number, stored, now + seconds * 1000, now)
        else:
            self._show(entry, enqueued, number, stored, now)
        return Outcome.DONE

    def _claimed(self, entry: Entry, claim: bytes) -> tuple[int, int, int, Stored] | None:
        if len(claim) != _claim.size:
            return None
        shelf, enqueued, number, receives = _claim.unpack(claim)
        stored = self._find(entry, enqueued, number) if shelf == entry.shelf else None
        return (enqueued, number, receives, stored) if stored else None

    def _find(self, entry: Entry, enqueued: int, number: int) -> Stored | None:
        row = self._db.execute(
            f"SELECT state, due, grp, size, receives, received FROM message WHERE {_KEY}",
            (entry.shelf, enqueued, number),
        ).get
        return Stored(*row) if row else None

    # Small steps

    def _hide(self, entry: Entry, enqueued: int, number: int, stored: Stored, due: int, now: int) -> None:
        place = "" if entry.queue.fifo else "place=NULL, "
        self._db.execute(f"UPDATE message SET {place}state=1, due=? WHERE {_KEY}", (due, entry.shelf, enqueued, number))
        self._count(entry, stored.state, -1)
        self._count(entry, IN_FLIGHT, +1)
        if stored.group and stored.state == READY:
            self.groups.update(entry, stored.group, now, ready=-1, in_flight=1)
        self.next_due = min(self.next_due, due)
        self._notify(entry.queue.id, due)

    def _remove(self, entry: Entry, enqueued: int, number: int, stored: Stored, now: int) -> None:
        """A message's end: deleted or expired."""
        self._worked(entry, stored, now)
        self._take_off(entry, enqueued, number, stored.state, stored.group, stored.size, now)
        self._db.execute("DELETE FROM payload WHERE number=?", (number,))

    def _take_off(self, entry: Entry, enqueued: int, number: int, state: int, group: int, size: int, now: int) -> None:
        """A message leaves a queue's shelf."""
        self._db.execute(f"DELETE FROM message WHERE {_KEY}", (entry.shelf, enqueued, number))
        self._count(entry, state, -1)
        entry.bytes -= size
        if group:
            self.groups.update(entry, group, now, messages=-1, ready=-(state == READY), in_flight=-(state == IN_FLIGHT))
            if entry.queue.fifo:
                self._notify(entry.queue.id, now)

    def _worked(self, entry: Entry, stored: Stored, until: int) -> None:
        """Processing time counts towards who is noisy, on standard queues with groups."""
        if entry.groups and not entry.queue.fifo and stored.state == IN_FLIGHT and stored.received is not None:
            name = self._db.execute("SELECT name FROM message_group WHERE id=?", (stored.group,)).get
            entry.work.add(name, until - stored.received, until)

    def _count(self, entry: Entry, state: int, change: int) -> None:
        entry.counts[state] += change
        self._catalogue.touch(entry)


def _attributes(packed: bytes) -> Attributes:
    return {name: Attribute(*pair) for name, pair in _decode_pairs(packed).items()}


def _checksum(body: str) -> int:
    return zlib.crc32(body.encode())


def _uuid(raw: bytes) -> str:
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
