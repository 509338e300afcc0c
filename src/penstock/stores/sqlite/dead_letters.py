"""Moving a message to another queue: to its dead-letter queue as itself, or back from there as a new message; and
setting one aside that cannot be read."""

import uuid
from collections.abc import Callable
from contextlib import suppress

import structlog
from msgspec.structs import replace

from penstock.core.message import Message
from penstock.core.outbox import Outbox
from penstock.core.queue import QueueKey
from penstock.stores.sqlite.cards import Card, Cards, Damaged
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.data_keys import DataKeys
from penstock.stores.sqlite.shelves import Shelves

log = structlog.get_logger("penstock")


class DeadLetters:
    def __init__(
        self, catalogue: Catalogue, shelves: Shelves, cards: Cards, keys: DataKeys, outbox: Outbox,
        number: Callable[[], int],
    ) -> None:  # fmt: skip
        self._catalogue, self._shelves, self._cards, self._outbox = catalogue, shelves, cards, outbox
        self._keys, self._number = keys, number

    def target_of(self, entry: Entry) -> Entry | None:
        """The dead-letter queue, if there is one to use."""
        redrive = entry.queue.redrive
        target = self.queue_of(redrive.target_arn) if redrive else None
        return target if target and target.fifo == entry.fifo and self._keys.usable(target) else None

    def queue_of(self, arn: str) -> Entry | None:
        key = QueueKey.from_arn(arn)
        return self._catalogue.by_key.get(key) if key else None

    def bury(self, entry: Entry, card: Card, target: Entry, now: int) -> None:
        message = self._readable(entry, card, now)
        if message is None:
            return
        message.source_arn = entry.queue.arn
        number = self._number()
        buried = replace(card, number=number, state=READY, due=None, place=now)
        if target.fifo:
            message.sequence, message.deduplication_id = number, message.id
            buried = replace(buried, enqueued=self._shelves.coming(now), place=number)
        else:
            message.sequence = None
        self._cards.rewrite(card.number, number, message, target, now)
        self._shelves.transfer(entry, card, target, buried, message.group, now)
        self._outbox.dead_lettered(entry.queue, target.queue, message.id, card.receives, card.enqueued, now)

    def revive(self, entry: Entry, card: Card, target: Entry, task_id: str, now: int) -> None:
        message = self._readable(entry, card, now)
        if message is None:
            return
        old_id, message.id, message.sent, message.source_arn = message.id, str(uuid.uuid4()), now, None
        number = self._number()
        message.sequence = number if target.fifo else None
        message.deduplication_id = old_id if target.fifo else None
        delay = target.queue.delay_seconds
        due = now + delay * 1000 if delay else None
        place = message.sequence if target.fifo else None if due else now
        state = DELAYED if due else READY
        enqueued = self._shelves.coming(now)
        anew = replace(
            card, number=number, enqueued=enqueued, state=state, place=place, due=due, receives=0, first_received=None
        )
        self._cards.rewrite(card.number, number, message, target, now)
        self._shelves.transfer(entry, card, target, anew, message.group, now)
        self._outbox.moved(entry.queue, target.queue, old_id, message.id, task_id, now)

    def source_of(self, card: Card) -> str | None:
        """The queue a message died in."""
        with suppress(Damaged):
            return self._cards.message(card).source_arn
        return None

    def _readable(self, entry: Entry, card: Card, now: int) -> Message | None:
        """The message, unless it is damaged: then it is set aside."""
        try:
            return self._cards.message(card)
        except Damaged as damage:
            self.set_aside(entry, card, str(damage), now)
            return None

    def set_aside(self, entry: Entry, card: Card, reason: str, now: int) -> None:
        log.error("message set aside", queue=entry.queue.arn, reason=reason)
        self._shelves.set_aside(entry, card, now)
        self._outbox.damaged(entry.queue, card.message_id, reason, now)
