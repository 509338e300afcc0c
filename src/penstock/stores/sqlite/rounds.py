"""Rounds: parties that native code carries out, commits and answers by itself, between two transactions of Python's.

Who may do what, and by which key, journal and limits, is decided here once and handed over as a permit. It holds until
the record of the queue is revised (`catalogue`) or the directory of identities changes. What there is to do besides is
done in Python's transactions: a round is for when nothing is waiting to be done. If one fails, its transaction is
undone as any other is, and everybody in it goes the ordinary way.
"""

from collections import Counter
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any

from penstock.core.journal import FULL
from penstock.core.outbox import Outbox
from penstock.core.queue import Queue
from penstock.core.store import DEDUPLICATION_MS, Receive, Round, Served
from penstock.core.traffic import Traffic
from penstock.stores.sqlite.catalogue import NEVER, Catalogue, Entry
from penstock.stores.sqlite.data_keys import DataKeys
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.marks import Marks
from penstock.stores.sqlite.outgoing import Outgoing
from penstock.stores.sqlite.shelves import Shelves

if TYPE_CHECKING:
    from penstock import native

MESSAGES_ALLOWED = 100_000
"""To be encrypted by one permit: so many count as encrypted."""


class Rounds:
    def __init__(
        self, native: ModuleType, shelf: Any, fifo: Any, db: Database, catalogue: Catalogue, shelves: Shelves,
        keys: DataKeys, marks: Marks, outbox: Outbox, outgoing: Outgoing, traffic: Traffic,
    ) -> None:  # fmt: skip
        self._native, self._db = native, db
        self._rounds: Any = native.Rounds(shelf, fifo)
        self._catalogue, self._shelves, self._keys, self._marks = catalogue, shelves, keys, marks
        self._outbox, self._outgoing, self._traffic = outbox, outgoing, traffic

    def leave(self) -> None:
        """Before the connection is closed: whoever still holds this object must not hold statements."""
        self._rounds = None

    def permit(
        self, queue: Queue, deed: str | Receive | None, who: object, version: int, by: str
    ) -> "native.Permit | None":
        entry = self._catalogue.by_id.get(queue.id)
        if entry is None or entry.queue is not queue:
            return None
        event, terms = "DELETED", dict[str, Any](order=self._order(queue))
        if isinstance(deed, str):
            if not self._may_be_sent_to(entry):
                return None
            delay = queue.delay_seconds * 1000 or None
            event = "SENT"
            terms["sending"] = deed, delay, queue.maximum_message_size, self._allowance(entry)
        elif deed is not None:
            if not deed.visibility_seconds or (entry.fifo and deed.limit > 1):
                return None
            event = "RECEIVED"
            terms["receiving"] = deed.limit, deed.visibility_seconds * 1000, deed.in_flight_limit
        level = self._outbox.level_of(queue)
        journal = (*self._outbox.lasting_frame(queue, event, by), level == FULL) if level else None
        permit: native.Permit = self._native.Permit(
            who, version, entry.counts, entry.id, entry.shelf, entry.retention_ms, journal, **terms
        )
        return permit

    def _order(self, queue: Queue) -> tuple[bool, bool, int, int | None] | None:
        """What FIFO queues have beside."""
        if not queue.fifo:
            return None
        by_group, redrive = queue.scope_in_force(self._shelves.latest) == "messageGroup", queue.redrive
        return by_group, queue.content_deduplication, DEDUPLICATION_MS, redrive and redrive.max_receives

    def _may_be_sent_to(self, entry: Entry) -> bool:
        """So, and for as long as nothing changes."""
        queue, now = entry.queue, self._shelves.latest
        if entry.fifo and (queue.delay_seconds or queue.scope_in_force(now) != queue.scope_in_force(NEVER)):
            return False
        return self._keys.is_settled(entry, now) and not self._shelves.has_aged(entry)

    def _allowance(self, entry: Entry) -> tuple[Any, int, int] | None:
        key = self._keys.key_for(entry, self._shelves.latest)
        if key is None:
            return None
        allowed = min(key.left, MESSAGES_ALLOWED)
        key.left -= allowed
        return key.native, key.until, allowed

    def serve(self, parties: list[Any], round: Round) -> Served | None:
        db, outbox, marks, shelves = self._db, self._outbox, self._marks, self._shelves
        if not db.is_idle() or outbox.has_any() or self._outgoing.has_published:
            return None
        if shelves.runs.is_due() or shelves.is_late(round.now):
            return None
        started, time_is_due = perf_counter(), marks.is_time_due(round.now)
        standing = marks.number, marks.numbers_end, outbox.seq, shelves.next_due, time_is_due, db.in_company
        try:
            done = self._rounds.serve(
                parties, round, standing, self._catalogue.tally.ring, self._keys.natives, shelves.runs
            )
        except Exception as error:
            self._catalogue.touch_all(self._rounds.touched)
            db.undo(error)
            for party in parties:
                party.bounce()
            return (), ()
        if done is None:
            return None
        left, told, waited, batch, marks.number, due, requests = done
        if told:
            if time_is_due:
                marks.noted_time = round.now
            self._tell(round.now, told, batch, due, waited)
            db.committed_elsewhere(requests, perf_counter() - started)
        return left, [(who, answered) for who, _, answered, *_ in told[waited:]]

    def _tell(self, now: int, told: Any, batch: Any, due: int | None, waited: int) -> None:
        """Everybody who has to know, of what is on disk and was answered. The first ones, as many as `waited`, have
        what they waited for: that need not be announced any more."""
        traffic, shelves, queues = self._traffic, self._shelves, self._catalogue.by_id
        if batch is not None:
            self._outbox.committed_elsewhere(batch[1])
            self._outgoing.hand_over(batch)
        taken = Counter[int]()
        for _, queue_id, _, _, received, _ in told[:waited]:
            taken[queue_id] += received
        for _, queue_id, _, sizes, received, deleted in told:
            queue = queues[queue_id].queue
            key = queue.key
            if sizes:
                traffic.stored(key, sizes, now)
                spoken_for = min(taken[queue_id], len(sizes)) if waited else 0
                taken[queue_id] -= spoken_for
                if spoken_for < len(sizes) and not queue.delay_seconds:
                    shelves.announce(queue_id, len(sizes) - spoken_for, now)
            elif received:
                traffic.received(key, received, now)
            elif deleted:
                traffic.deleted(key, deleted, now)
                if queue.fifo:
                    shelves.announce(queue_id, deleted, now)  # their groups may have a next one
        traffic.committed()
        shelves.passed(now)
        if due is not None:
            shelves.expect(told[0][1], due)
