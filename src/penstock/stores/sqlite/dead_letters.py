"""Moving a message to another queue: to its dead-letter queue as itself, or back from there as a new message.

The payload stays where it is; only the card moves to the other queue's shelf.
"""

import uuid
from collections.abc import Callable

from penstock.core.queue import QueueKey
from penstock.stores.sqlite.catalogue import DELAYED, READY, Catalogue, Entry
from penstock.stores.sqlite.payloads import Payloads
from penstock.stores.sqlite.shelves import Card, Shelves


class DeadLetters:
    def __init__(self, catalogue: Catalogue, shelves: Shelves, payloads: Payloads, number: Callable[[], int]) -> None:
        self._catalogue, self._shelves, self._payloads, self._number = catalogue, shelves, payloads, number

    def target_of(self, entry: Entry) -> Entry | None:
        """The dead-letter queue, if there is one to use."""
        redrive = entry.queue.redrive
        target = self.queue_of(redrive.target_arn) if redrive else None
        return target if target and target.queue.fifo == entry.queue.fifo else None

    def queue_of(self, arn: str) -> Entry | None:
        key = QueueKey.from_arn(arn)
        return self._catalogue.by_key.get(key) if key else None

    def bury(self, entry: Entry, card: Card, target: Entry, now: int) -> None:
        group, identity, _ = self._payloads.origin(card.number)
        self._shelves.take_off(entry, card, now)
        if target.queue.fifo:
            sequence = self._number()
            self._payloads.died(card.number, entry.queue.arn, sequence, deduplication_id=identity)
            card = card._replace(enqueued=now, place=sequence)
        else:
            self._payloads.died(card.number, entry.queue.arn, None, None)
            card = card._replace(place=now)
        self._shelves.put(target, card._replace(state=READY, due=None, group=0, received=None), group, now)

    def revive(self, entry: Entry, card: Card, target: Entry, now: int) -> None:
        group, old_identity, _ = self._payloads.origin(card.number)
        self._shelves.take_off(entry, card, now)
        fifo = target.queue.fifo
        sequence = self._number() if fifo else None
        self._payloads.sent_anew(card.number, str(uuid.uuid4()), sequence, old_identity if fifo else None, now)
        delay = target.queue.delay_seconds
        due = now + delay * 1000 if delay else None
        place = sequence if fifo else None if due else now
        fresh = Card(now, card.number, DELAYED if due else READY, place, due, 0, card.size)
        self._shelves.put(target, fresh, group, now)
