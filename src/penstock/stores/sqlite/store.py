"""`SqliteStore`: the Store port over one SQLite file. What each change does is in the modules beside this one."""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import apsw

from penstock.core.directory import Record, RecordKey
from penstock.core.errors import QueueGone
from penstock.core.journal import Batch, Event, Journal
from penstock.core.keyring import Keyring
from penstock.core.message import Message, NewMessage, Sent
from penstock.core.move import MoveTask
from penstock.core.outbox import Outbox
from penstock.core.queue import Counts, Queue, QueueKey
from penstock.core.series import Metrics, Window
from penstock.core.store import Capabilities, Listener, Outcome, Receive, StoreError, TooManyInFlight
from penstock.core.traffic import Traffic
from penstock.stores.sqlite.cards import Cards
from penstock.stores.sqlite.catalogue import DELAYED, IN_FLIGHT, READY, Catalogue, Entry
from penstock.stores.sqlite.claims import Claims
from penstock.stores.sqlite.data_keys import DataKeys
from penstock.stores.sqlite.database import FULL, Database, stop
from penstock.stores.sqlite.dead_letters import DeadLetters
from penstock.stores.sqlite.delivery import Delivery
from penstock.stores.sqlite.file import copy
from penstock.stores.sqlite.groups import Groups
from penstock.stores.sqlite.keepsakes import Keepsakes
from penstock.stores.sqlite.marks import Marks
from penstock.stores.sqlite.moves import Moves
from penstock.stores.sqlite.outgoing import Outgoing
from penstock.stores.sqlite.parties import Parties
from penstock.stores.sqlite.runs import Runs
from penstock.stores.sqlite.sending import Sending
from penstock.stores.sqlite.series import Series
from penstock.stores.sqlite.shelves import EXPIRED_AT_ONCE, Shelves
from penstock.stores.sqlite.upkeep import Upkeep

COUNTED_AFTER = 20
"""Rounds of catching up before counting: counts are exact but in the worst of storms."""


class SqliteStore(Parties):
    capabilities = Capabilities(durable=True, backup=True, journal=True, encrypts=True)

    def __init__(self, path: Path, on_fatal: Callable[[BaseException], None] = stop) -> None:
        self.path = path
        outbox = self._outbox = Outbox()
        self.database = db = Database(path, outbox, self._before_commit, self._after_commit, self._load_again, on_fatal)
        self.expect = db.expect
        self._catalogue, self._marks = catalogue, marks = Catalogue(db), Marks(db)
        self._runs = runs = Runs(db, marks, catalogue.held_on)
        self._outgoing, self._keepsakes, self._keys = Outgoing(db, outbox), Keepsakes(db), DataKeys(db, runs)
        cards, keys = Cards(db, self._keys), self._keys
        self._shelves = shelves = Shelves(db, catalogue, Groups(db), runs, outbox, self._notify)
        dead_letters = DeadLetters(catalogue, shelves, cards, keys, outbox, marks.next_number)
        self._sending = Sending(db, catalogue, shelves, cards, keys, outbox, marks.next_number)
        self._delivery = Delivery(db, catalogue, shelves, cards, dead_letters, outbox)
        self._claims = Claims(db, catalogue, shelves, outbox)
        self._moves = Moves(db, shelves, dead_letters)
        self._series = Series(db)
        self._upkeep = Upkeep(db, catalogue, shelves, self._series)
        self._listeners: list[Listener] = []
        self.traffic = Traffic()

    async def open(self) -> None:
        self.database.open()
        try:
            self._load()
        except (ValueError, TypeError, apsw.SQLError) as error:
            self.database.close()
            raise StoreError(f"{self.path} is damaged ({error}); restore a backup: penstock restore --help") from error
        self._go_native()

    async def close(self) -> None:
        self._leave_native()
        self.database.close()

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def observe_commits(self, observer: Callable[[int, float], None]) -> None:
        self.database.on_commit = observer

    def trouble(self) -> str | None:
        return FULL if self.database.disk_full else None

    def known_time(self) -> int:
        return self._marks.known_time()

    async def keep(self, name: str, value: bytes) -> bytes:
        return await self.database.write(self._keepsakes.keep, name, value)

    async def put(self, name: str, value: bytes) -> None:
        await self.database.write(self._keepsakes.put, name, value)

    async def records(self) -> tuple[int, Sequence[Record]]:
        return self._keepsakes.records()

    async def records_version(self) -> int:
        return self._keepsakes.version()

    async def change_records(self, version: int, saved: Sequence[Record], removed: Sequence[RecordKey]) -> int:
        return await self.database.write(self._keepsakes.change, version, saved, removed)

    # Encryption

    def attach_keys(self, keyring: Keyring) -> None:
        self._keys.attach(keyring)

    async def reseal(self) -> int:
        return await self.database.write(self._keys.reseal)

    # The journal

    def attach_journal(self, journal: Journal) -> None:
        self._outgoing.attach(journal)

    def journal_seq(self) -> int:
        return self._outgoing.last()

    async def outbox_after(self, seq: int, limit: int) -> Sequence[Batch]:
        return self._outgoing.after(seq, limit)

    def published(self, seq: int) -> None:
        self._outgoing.published(seq)

    def note(self, event: Event) -> None:
        self._outbox.note(event)

    async def gauge(self, queue_ids: Sequence[int], now: int, reason: str | None = None) -> None:
        await self.database.write(self._gauge, queue_ids, now, reason)
        if not self._outbox.on:
            self.database.commit()  # it wrote nothing, so it was not waited for

    def _gauge(self, queue_ids: Sequence[int], now: int, reason: str | None) -> None:
        for queue_id in queue_ids:
            if entry := self._catalogue.by_id.get(queue_id):
                counts, oldest = self._counts(queue_id, now), self._shelves.oldest(entry)
                self._outbox.gauge(entry.queue, counts, oldest, now, reason)
                if reason is None:
                    self.traffic.gauge(entry.queue.key, counts, oldest, now)
        if len(self._outbox):
            self._marks.note_time(now)  # a change: what was noted is committed with it

    # Queues

    async def create_queue(
        self, key: QueueKey, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        return await self.database.write(self._create, key, attributes, tags, now, by)

    def _create(self, key: QueueKey, attributes: dict[str, str], tags: dict[str, str], now: int, by: str) -> Queue:
        if existing := self._catalogue.by_key.get(key):
            return existing.queue
        queue = self._catalogue.create(key, dict(attributes), dict(tags), now)
        self._upkeep.check(self._catalogue.live(queue.id))
        self._outbox.queue_created(queue, now, by)
        return queue

    async def find_queue(self, key: QueueKey) -> Queue | None:
        entry = self._catalogue.by_key.get(key)
        return entry.queue if entry else None

    async def queue(self, key: QueueKey) -> Queue:
        entry = self._catalogue.by_key.get(key)
        if entry is None:
            raise QueueGone(key)
        return entry.queue

    async def list_queues(
        self, region: str, account: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> Sequence[Queue]:
        return list(self._catalogue.names(region, account, prefix, after, limit))

    async def list_sources(self, target: Queue, after: str = "", limit: int = 1000) -> Sequence[Queue]:
        return [queue for queue in self._catalogue.sources(target) if queue.key.name > after][:limit]

    async def count_queues(self, account: str) -> int:
        return self._catalogue.owned[account]

    async def all_queues(self) -> Sequence[Queue]:
        return [entry.queue for entry in self._catalogue.by_id.values()]

    async def alter_queue(
        self, queue_id: int, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        return await self.database.write(self._alter, queue_id, attributes, tags, now, by)

    def _alter(self, queue_id: int, attributes: dict[str, str], tags: dict[str, str], now: int, by: str) -> Queue:
        entry = self._catalogue.live(queue_id)
        before = entry.queue
        self._shelves.expire(entry, now)
        self._catalogue.alter(entry, dict(attributes), dict(tags), now)
        self._upkeep.check(entry)
        if entry.fifo and entry.queue.delay_seconds != before.delay_seconds:
            self._shelves.delay_anew(entry, now)
        self._outbox.queue_changed(before, entry.queue, entry.held, now, by)
        self._notify(queue_id, now)
        return entry.queue

    async def delete_queue(self, queue_id: int, now: int, *, by: str = "") -> None:
        await self.database.relieve(self._delete, queue_id, now, by)
        self._notify(queue_id, now)

    def _delete(self, queue_id: int, now: int, by: str) -> None:
        entry = self._catalogue.live(queue_id)
        self._shelves.expire(entry, now)
        self._outbox.queue_deleted(entry.queue, entry.held, now, by)
        self._catalogue.delete(queue_id, now)
        self._keys.left(queue_id)

    async def deleted_at(self, key: QueueKey) -> int | None:
        return self._catalogue.deleted_at(key)

    async def purge_queue(self, queue_id: int, now: int, *, by: str = "") -> None:
        await self.database.relieve(self._purge, queue_id, now, by)

    def _purge(self, queue_id: int, now: int, by: str) -> None:
        entry = self._catalogue.live(queue_id)
        self._shelves.expire(entry, now)
        self._outbox.purged(entry.queue, entry.held, now, by)
        self._catalogue.purge(queue_id, now)
        self._keys.left(queue_id)

    async def purged_at(self, queue_id: int) -> int | None:
        return self._catalogue.live(queue_id).purged

    async def counts(self, queue_id: int, now: int) -> Counts:
        return await self.database.relieve(self._counts, queue_id, now)

    def _counts(self, queue_id: int, now: int) -> Counts:
        entry = self._brought_up_to(queue_id, now)
        counts = entry.counts
        return Counts(counts[READY], counts[IN_FLIGHT], counts[DELAYED], entry.bytes)

    async def oldest(self, queue_id: int, now: int) -> int | None:
        return await self.database.relieve(self._oldest, queue_id, now)

    def _oldest(self, queue_id: int, now: int) -> int | None:
        return self._shelves.oldest(self._brought_up_to(queue_id, now))

    def _brought_up_to(self, queue_id: int, now: int) -> Entry:
        """The queue, with everything visible that is due and everything gone that has expired."""
        entry = self._catalogue.live(queue_id)
        self._shelves.catch_up(now, rounds=COUNTED_AFTER)
        for _ in range(COUNTED_AFTER):
            if self._shelves.expire(entry, now) < EXPIRED_AT_ONCE:
                break
        return entry

    # Messages

    def send(
        self, queue_id: int, messages: Sequence[NewMessage], now: int, *, by: str = ""
    ) -> Coroutine[Any, Any, Sequence[Sent]]:
        self.database.check_room()
        return self.database.share(self._send, messages, now, queue_id, by)

    def _send(self, messages: Sequence[NewMessage], now: int, queue_id: int, by: str) -> list[Sent]:
        sent = self._sending.send(queue_id, messages, now, by)
        self.traffic.sent(self._catalogue.by_id[queue_id].queue.key, messages, sent, now)
        return sent

    async def receive(self, queue_id: int, ask: Receive, now: int, *, by: str = "") -> Sequence[Message]:
        if ask.limit > 1 or ask.attempt_id is not None:
            return await self.database.relieve(self._receive, queue_id, ask, now, by)
        (given,) = await self.database.share(self._receive_one_each, (None,), now, queue_id, ask, by)
        if given is None:
            raise TooManyInFlight
        return given

    def _receive(self, queue_id: int, ask: Receive, now: int, by: str) -> Sequence[Message]:
        messages = self._delivery.receive(queue_id, ask, now, by)
        if messages:
            self.traffic.received(self._catalogue.by_id[queue_id].queue.key, len(messages), now)
        return messages

    def _receive_one_each(
        self, callers: Sequence[None], now: int, queue_id: int, ask: Receive, by: str
    ) -> Sequence[Sequence[Message] | None]:
        given = self._delivery.receive_one_each(len(callers), queue_id, ask, now, by)
        self.traffic.received(self._catalogue.by_id[queue_id].queue.key, sum(map(bool, given)), now)
        return given

    def delete(
        self, queue_id: int, claims: Sequence[bytes], now: int, *, by: str = ""
    ) -> Coroutine[Any, Any, Sequence[Outcome]]:
        return self.database.share(self._delete_messages, claims, now, queue_id, by)

    def _delete_messages(self, claims: Sequence[bytes], now: int, queue_id: int, by: str) -> list[Outcome]:
        outcomes = self._claims.delete(queue_id, claims, now, by)
        self.traffic.deleted(self._catalogue.by_id[queue_id].queue.key, outcomes.count(Outcome.DONE), now)
        return outcomes

    async def change_visibility(
        self, queue_id: int, changes: Sequence[tuple[bytes, int]], now: int, *, by: str = ""
    ) -> Sequence[Outcome]:
        return await self.database.relieve(self._claims.change_visibility, queue_id, changes, now, by)

    async def peek(self, queue_id: int, limit: int, after: bytes, now: int) -> Sequence[Message]:
        return self._delivery.peek(queue_id, limit, after, now)

    # Move tasks

    async def add_move(self, task: MoveTask) -> bool:
        return await self.database.write(self._moves.add, task)

    async def find_move(self, task_id: str) -> MoveTask | None:
        return self._moves.find(task_id)

    async def list_moves(self, source_arn: str, limit: int) -> Sequence[MoveTask]:
        return self._moves.newest(source_arn, limit)

    async def active_moves(self) -> Sequence[MoveTask]:
        return self._moves.active()

    async def save_move(self, task: MoveTask) -> None:
        await self.database.write(self._moves.save, task)

    async def move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        return await self.database.write(self._moves.step, task, limit, now)

    # Windows of metrics

    @property
    def windows_keep_days(self) -> int:
        return self._series.keep_days

    @windows_keep_days.setter
    def windows_keep_days(self, days: int) -> None:
        self._series.keep_days = days

    async def put_windows(self, windows: Sequence[Window]) -> None:
        await self.database.write(self._series.put, windows)

    async def windows(
        self, queue: QueueKey, period_seconds: int, start: int, end: int, limit: int = 1000
    ) -> dict[int, Metrics]:
        return self._series.of(queue, period_seconds, start, end, limit)

    async def queues_with_windows(
        self, region: str, account: str, since: int, after: str = "", limit: int = 1000
    ) -> Sequence[str]:
        return self._series.queues(region, account, since, after, limit)

    # Upkeep

    async def forget_account(self, account: str) -> None:
        await self.database.relieve(self._forget_account, account)
        self.traffic.forget_account(account)

    def _forget_account(self, account: str) -> None:
        self._series.abandon(account)
        self._moves.forget(account)

    async def sweep(self, now: int) -> int:
        return await self.database.relieve(self._upkeep.step, now)

    async def backup(self, path: Path) -> None:
        copy(self.path, path)

    # In memory

    def _load(self) -> None:
        self._catalogue.load()
        self._upkeep.load()
        self._load_clocks()
        self._shelves.passed(self._runs.load())

    def _load_again(self) -> None:
        self._outgoing.forget()
        self.traffic.rolled_back()
        self._keys.forget()
        self._catalogue.load_again()
        self._upkeep.load()
        self._load_clocks()
        self._runs.rolled_back()

    def _load_clocks(self) -> None:
        self._shelves.next_due = 0
        self._marks.load()

    def _before_commit(self) -> None:
        self._catalogue.flush()
        self._outgoing.write()
        self._runs.write_if_due()
        self._marks.note_time_if_due(self._shelves.latest)

    def _after_commit(self) -> None:
        self._catalogue.committed()
        self._outgoing.written()
        self._runs.committed()
        self.traffic.committed()

    def _notify(self, queue_id: int, at: int, messages: int = 1) -> None:
        for listener in self._listeners:
            if listener(queue_id, at, messages):
                self.database.wait_for_more()
