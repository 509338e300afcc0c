"""Handing messages out: who is next, who is dead instead, and what a repeated attempt is given again."""

import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice, starmap

from msgspec.structs import replace

from penstock.core.journal import REPEAT
from penstock.core.message import Message
from penstock.core.outbox import Delivered, Outbox
from penstock.core.store import ATTEMPT_MS, Receive, TooManyInFlight
from penstock.stores.sqlite.cards import COLUMNS, Card, Cards, Damaged
from penstock.stores.sqlite.catalogue import IN_FLIGHT, READY, Catalogue, Entry
from penstock.stores.sqlite.claims import PEEKED, Claim, claimed
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.dead_letters import DeadLetters
from penstock.stores.sqlite.lines import Lines
from penstock.stores.sqlite.shelves import EXPIRED_AT_ONCE, Shelves

BURIED_AT_ONCE = 100
ROUNDS = 4
"""How often a receive makes ready what is due, before it looks for messages."""
PASSED_OVER_AT_ONCE = 2000
"""After how many that are dead, expired or damaged it leaves off looking for one that is not."""

_handed_out = struct.Struct(">QQI")


class Delivery:
    def __init__(
        self, db: Database, catalogue: Catalogue, shelves: Shelves, cards: Cards, dead_letters: DeadLetters,
        outbox: Outbox,
    ) -> None:  # fmt: skip
        self._db, self._catalogue, self._shelves, self._cards = db, catalogue, shelves, cards
        self._dead_letters, self._groups, self._outbox = dead_letters, shelves.groups, outbox
        self._lines = Lines(db, shelves.runs)

    def receive(
        self, queue_id: int, ask: Receive, now: int, by: str, one_of_a_group: bool = False
    ) -> Sequence[Message]:
        entry, shelves = self._catalogue.live(queue_id), self._shelves
        shelves.catch_up(now, rounds=ROUNDS)
        shelves.expire(entry, now)
        repeatable = ask.attempt_id is not None and entry.fifo
        if repeatable and (again := self._repeat(entry, ask, now, by)):
            return again
        room = ask.in_flight_limit - entry.counts[IN_FLIGHT]
        if room <= 0:
            if entry.fifo:
                return []
            raise TooManyInFlight
        if not entry.counts[READY]:
            return []
        passed_over, look_again = 0, True
        while look_again and passed_over < PASSED_OVER_AT_ONCE:
            chosen, passed = self._choose(entry, min(ask.limit, room), now, one_of_a_group)
            messages, delivered = self._deliver(entry, chosen, ask, now, by)
            if not passed:
                self._lines.taken(entry, chosen)
            passed_over += passed + len(chosen)
            look_again = not messages and bool(passed or chosen)
        if look_again:
            shelves.look_again_soon(entry, now)
        if repeatable and delivered:
            self._remember(entry, ask, delivered, now)
        return messages

    def receive_one_each(
        self, callers: int, queue_id: int, ask: Receive, now: int, by: str
    ) -> list[Sequence[Message] | None]:
        """What so many callers are given who come one after the other and ask for one message; None is for whom too
        many are in flight. They are served together, but for a fair queue, where each message may change who is next;
        and who is left then, alone."""
        entry = self._catalogue.live(queue_id)
        given: list[Sequence[Message] | None] = []
        if callers > 1 and (entry.fifo or not entry.groups):
            with suppress(TooManyInFlight):
                messages = self.receive(queue_id, replace(ask, limit=callers), now, by, one_of_a_group=entry.fifo)
                given += [[message] for message in messages]
        while len(given) < callers:
            try:
                given.append(self.receive(queue_id, ask, now, by))
            except TooManyInFlight:
                given.append(None)
        return given

    def _choose(self, entry: Entry, limit: int, now: int, one_of_a_group: bool) -> tuple[list[Card], int]:
        """The next messages to hand out, and how many were passed over: those that were received too often, which go to
        the dead-letter queue instead, and those that have expired."""
        if entry.groups and not entry.fifo:
            self._groups.calm(entry, now)
        redrive = entry.queue.redrive
        target = self._dead_letters.target_of(entry) if redrive else None
        most = redrive.max_receives if target and redrive else math.inf
        horizon = now - entry.retention_ms
        chosen: list[Card] = []
        dead: list[Card] = []
        expired: list[Card] = []
        for card in self._lines.heads(entry) if one_of_a_group else self._lines.ready(entry):
            try:
                if card.enqueued <= horizon:
                    expired.append(card)
                else:
                    (dead if card.receives >= most else chosen).append(card)
            except TypeError:  # not numbers any more: it will be found damaged
                chosen.append(card)
            if len(chosen) == limit or len(dead) == BURIED_AT_ONCE or len(expired) == EXPIRED_AT_ONCE:
                break
        if target:
            for card in dead:
                self._dead_letters.bury(entry, card, target, now)
        self._shelves.drop(entry, expired, now)
        return chosen, len(dead) + len(expired)

    def _deliver(
        self, entry: Entry, chosen: list[Card], ask: Receive, now: int, by: str
    ) -> tuple[list[Message], list[Card]]:
        """Hand out what can be read, and set aside what cannot."""
        due = now + ask.visibility_seconds * 1000 if ask.visibility_seconds else None
        messages: list[Message] = []
        delivered: list[Card] = []
        for card in chosen:
            try:
                message = self._cards.message(card)
            except Damaged as damage:
                self._dead_letters.set_aside(entry, card, str(damage), now)
                continue
            message.receive_count = receives = card.receives + 1
            message.first_received = card.first_received or now
            message.claim = claimed(entry.shelf, card, receives)
            messages.append(message)
            delivered.append(card)
        if delivered:
            self._shelves.deliver(entry, delivered, due, now)
            self._outbox.received(entry.queue, _told(messages, delivered), now, by)
        if entry.groups:
            groups = [card.group for card in delivered if card.group]
            if entry.fifo and due:
                self._groups.blocked(groups)
            else:
                for group, number in Counter(groups).items():
                    hidden = number if due else 0
                    self._groups.update(entry, [group], now, ready=-hidden, in_flight=hidden)
        return messages, delivered

    def peek(self, queue_id: int, limit: int, after: bytes, now: int) -> list[Message]:
        """Messages as they lie on the shelf, oldest first; nothing is changed."""
        entry = self._catalogue.live(queue_id)
        last = Claim.unpack(after.removesuffix(PEEKED)) or Claim(0, 0, 0, 0)
        cards = starmap(Card, self._shelves.runs.by_age(entry.shelf, COLUMNS, (last.enqueued, last.number)))
        expired = now - entry.retention_ms
        there = (card for card in cards if not isinstance(card.enqueued, int) or card.enqueued > expired)
        messages = []
        for card in islice(there, limit):
            with suppress(Damaged):
                messages.append(self._as_it_is(entry, card))
                messages[-1].claim += PEEKED
        return messages

    def _as_it_is(self, entry: Entry, card: Card) -> Message:
        message = self._cards.message(card)
        message.receive_count, message.first_received = card.receives, card.first_received
        message.claim = claimed(entry.shelf, card, card.receives)
        return message

    # Attempts

    def _remember(self, entry: Entry, ask: Receive, cards: list[Card], now: int) -> None:
        packed = b"".join(_handed_out.pack(card.enqueued, card.number, card.receives + 1) for card in cards)
        self._db.execute(
            "INSERT OR REPLACE INTO attempt VALUES (?,?,?,?,?)",
            (entry.shelf, ask.attempt_id, now + ATTEMPT_MS, now + ask.visibility_seconds * 1000, packed),
        )

    def _repeat(self, entry: Entry, ask: Receive, now: int, by: str) -> list[Message]:
        """What this attempt was given before, hidden anew, unless any of it was touched since."""
        key = (entry.shelf, ask.attempt_id)
        row = self._db.execute(
            "SELECT due, messages FROM attempt WHERE shelf=? AND name=? AND expires>?", (*key, now)
        ).get
        if row is None:
            return []
        due, packed = row
        cards = []
        for _, number, receives in _handed_out.iter_unpack(packed):
            card = self._shelves.find(entry, number)
            if card is None or card.receives != receives or (card.due != due and (card.due or due > now)):
                return []
            cards.append(card)
        try:
            messages = [self._as_it_is(entry, card) for card in cards]
        except Damaged:
            return []
        renewed = now + ask.visibility_seconds * 1000
        for card in cards:
            self._shelves.hide(entry, card, renewed, now)
        self._db.execute("UPDATE attempt SET due=? WHERE shelf=? AND name=?", (renewed, *key))
        self._outbox.received(entry.queue, _told(messages, cards), now, by, REPEAT)
        return messages


def _told(messages: list[Message], cards: list[Card]) -> Iterable[Delivered]:
    """For the journal."""
    return ((message, card.size, card.enqueued) for message, card in zip(messages, cards, strict=True))
