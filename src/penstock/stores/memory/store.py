"""The store in memory: the queues there are, and how messages come into them and move between them.

It does everything the Store port asks for except last: use it for tests, and to learn the rules. What has expired is
dropped at the start of every call that touches a queue, so no other line has to think of it. There are no locks
because no method awaits anything before its change is complete. `_commit` ends every change: only the journal and the
counters notice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from penstock.core.errors import QueueGone
from penstock.core.journal import REPEAT, Batch, Event, Journal
from penstock.core.message import Message, NewMessage, Sent
from penstock.core.move import MoveStatus, MoveTask
from penstock.core.outbox import Outbox
from penstock.core.queue import Counts, Queue, QueueKey
from penstock.core.store import Capabilities, Listener, Outcome, Receive, StoreError, TooManyInFlight
from penstock.core.traffic import Traffic
from penstock.stores.memory.contents import Contents, Stored
from penstock.stores.memory.keepsakes import Keepsakes
from penstock.stores.memory.move_tasks import MoveTasks
from penstock.stores.memory.outgoing import Outgoing
from penstock.stores.memory.parties import Parties
from penstock.stores.memory.series import Series

TOMBSTONE_MS = 120_000
SWEEP_EVERY_MS = 60_000
NO_QUEUE = "AWS.SimpleQueueService.NonExistentQueue"
NO_SOURCE = "CouldNotDetermineMessageSource"


class MemoryStore(Keepsakes, MoveTasks, Parties, Series):
    capabilities = Capabilities(journal=True)

    def __init__(self) -> None:
        super().__init__()
        self._contents: dict[int, Contents] = {}
        self._ids: dict[QueueKey, int] = {}
        self._deleted: dict[QueueKey, int] = {}
        self._listeners: list[Listener] = []
        self._numbers = count(1)
        self._swept = 0
        self._outbox = Outbox()
        self._outgoing = Outgoing(self._outbox)
        self.traffic = Traffic()

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def observe_commits(self, observer: Callable[[int, float], None]) -> None:
        pass

    def expect(self, calls: int) -> None:
        pass

    def trouble(self) -> str | None:
        return None

    def known_time(self) -> int:
        return 0

    def _in(self, queue_id: int, now: int) -> Contents:
        if queue_id not in self._contents:
            raise QueueGone(queue_id)
        contents = self._contents[queue_id]
        expired = contents.drop_expired(now)
        for stored in expired:
            message = stored.message
            self._outbox.expired(contents.queue, message.id, message.receive_count, stored.enqueued, now)
        if expired and contents.queue.fifo:
            self._tell(contents, [now])  # what expired may have hidden the rest of its group
        return contents

    def _at(self, arn: str | None, now: int) -> Contents | None:
        key = QueueKey.from_arn(arn) if arn else None
        return self._in(self._ids[key], now) if key in self._ids else None

    def _tell(self, contents: Contents, times: Iterable[int]) -> None:
        for at, messages in sorted(Counter(times).items()):
            for listener in self._listeners:
                listener(contents.queue.id, at, messages)

    def _tell_when_free(self, contents: Contents, hidden: Iterable[Stored]) -> None:
        """A hidden message comes back or expires, whichever is first: either way something can be received then."""
        self._tell(contents, [min(m.due, contents.expiry(m)) for m in hidden])

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
        for queue_id in queue_ids:
            if queue_id in self._contents:
                contents = self._in(queue_id, now)
                counts, oldest = contents.counts(now), contents.oldest()
                self._outbox.gauge(contents.queue, counts, oldest, now, reason)
                if reason is None:
                    self.traffic.gauge(contents.queue.key, counts, oldest, now)
        self._commit()

    def _commit(self) -> None:
        self._outgoing.commit()
        self.traffic.committed()

    # Queues

    async def create_queue(
        self, key: QueueKey, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        if key not in self._ids:
            queue = Queue(next(self._numbers), key, dict(attributes), dict(tags), created=now, modified=now)
            self._ids[key], self._contents[queue.id] = queue.id, Contents(queue)
            self._outbox.queue_created(queue, now, by)
            self._commit()
        return self._contents[self._ids[key]].queue

    async def find_queue(self, key: QueueKey) -> Queue | None:
        return self._contents[self._ids[key]].queue if key in self._ids else None

    async def queue(self, key: QueueKey) -> Queue:
        found = await self.find_queue(key)
        if found is None:
            raise QueueGone(key)
        return found

    async def list_queues(
        self, region: str, account: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> Sequence[Queue]:
        mine = [q for q in await self.all_queues() if q.key[:2] == (region, account) and q.key.name.startswith(prefix)]
        return _page(mine, after, limit)

    async def list_sources(self, target: Queue, after: str = "", limit: int = 1000) -> Sequence[Queue]:
        sources = [q for q in await self.all_queues() if q.redrive and q.redrive.target_arn == target.arn]
        return _page(sources, after, limit)

    async def count_queues(self, account: str) -> int:
        return sum(key.account == account for key in self._ids)

    async def all_queues(self) -> Sequence[Queue]:
        return [contents.queue for contents in self._contents.values()]

    async def alter_queue(
        self, queue_id: int, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        contents = self._in(queue_id, now)
        before = contents.queue
        modified = before.modified if attributes == before.attributes else now
        after = Queue(before.id, before.key, dict(attributes), dict(tags), before.created, modified)
        contents.queue = after
        if after.fifo:
            contents.delay_anew(now)
            self._tell_when_free(contents, contents.messages.values())
        self._outbox.queue_changed(before, after, len(contents.messages), now, by)
        self._commit()
        return after

    async def delete_queue(self, queue_id: int, now: int, *, by: str = "") -> None:
        contents = self._in(queue_id, now)
        key = contents.queue.key
        del self._contents[queue_id], self._ids[key]
        self._deleted[key] = now
        self._outbox.queue_deleted(contents.queue, len(contents.messages), now, by)
        self._commit()

    async def deleted_at(self, key: QueueKey) -> int | None:
        return self._deleted.get(key)

    async def purge_queue(self, queue_id: int, now: int, *, by: str = "") -> None:
        contents = self._in(queue_id, now)
        self._contents[queue_id] = Contents(contents.queue, purged=now)
        self._outbox.purged(contents.queue, len(contents.messages), now, by)
        self._commit()

    async def purged_at(self, queue_id: int) -> int | None:
        if queue_id not in self._contents:
            raise QueueGone(queue_id)
        return self._contents[queue_id].purged

    async def counts(self, queue_id: int, now: int) -> Counts:
        contents = self._in(queue_id, now)
        self._commit()
        return contents.counts(now)

    async def oldest(self, queue_id: int, now: int) -> int | None:
        contents = self._in(queue_id, now)
        self._commit()
        return contents.oldest()

    # Messages

    async def send(self, queue_id: int, messages: Sequence[NewMessage], now: int, *, by: str = "") -> Sequence[Sent]:
        contents = self._in(queue_id, now)
        sent = [self._send(contents, message, now, by) for message in messages]
        self.traffic.sent(contents.queue.key, messages, sent, now)
        self._commit()
        return sent

    def _send(self, contents: Contents, new: NewMessage, now: int, by: str) -> Sent:
        queue = contents.queue
        scope = (queue.deduplication_scope(new.group, now), new.deduplication_id or "")
        first = contents.first_accepted(scope, now) if queue.fifo else None
        if first:
            self._outbox.deduplicated(queue, new, first.id, now, by)
            return msgspec.structs.replace(first, duplicate=True)
        message = Message(
            id=new.id, body=new.body, sender=new.sender, sent=now, receive_count=0, attributes=new.attributes,
            trace=new.trace, group=new.group, deduplication_id=new.deduplication_id,
        )  # fmt: skip
        delay = queue.delay_seconds if queue.fifo or new.delay_seconds is None else new.delay_seconds
        self._put(contents, message, new.size, enqueued=now, due=now + delay * 1000, now=now)
        self._outbox.sent(queue, new, delay * 1000, now, by)
        sent = Sent(message.id, message.sequence)
        if queue.fifo and new.deduplication_id:
            contents.accepted[scope] = now, sent
        return sent

    def _put(self, contents: Contents, message: Message, size: int, *, enqueued: int, due: int, now: int) -> None:
        """However a message comes into a queue, it comes last: it gets the next number."""
        number = next(self._numbers)
        message.sequence = number if contents.queue.fifo else None
        contents.add(Stored(number, message, size, enqueued, due), now)
        self._tell(contents, [due])

    async def receive(self, queue_id: int, ask: Receive, now: int, *, by: str = "") -> Sequence[Message]:
        contents = self._in(queue_id, now)
        attempt_id = ask.attempt_id if contents.queue.fifo else None
        taken = contents.deliver_again(attempt_id, ask.visibility_seconds, now) if attempt_id else []
        repeated = REPEAT if taken else None
        if not taken:
            taken = self._receive(contents, ask, now)
            if attempt_id:
                contents.attempts[attempt_id] = now, [stored.claim for stored in taken]
        self._tell_when_free(contents, taken)
        told = [(stored.message, stored.size, stored.enqueued) for stored in taken]
        self._outbox.received(contents.queue, told, now, by, repeated)
        self.traffic.received(contents.queue.key, len(taken), now)
        self._commit()
        return [stored.delivered() for stored in taken]

    def _receive(self, contents: Contents, ask: Receive, now: int) -> list[Stored]:
        room = ask.in_flight_limit - contents.counts(now).in_flight
        if room <= 0 and not contents.queue.fifo:
            raise TooManyInFlight(contents.queue.id)
        contents.listen_for_noise(now)
        taken: list[Stored] = []
        for stored in contents.turns(now):
            if len(taken) >= min(ask.limit, room):
                break
            if not self._dead_letter(contents, stored, now):
                contents.deliver(stored, ask.visibility_seconds, now)
                taken.append(stored)
        contents.listen_for_noise(now)
        return taken

    def _dead_letter(self, contents: Contents, stored: Stored, now: int) -> bool:
        redrive, fifo = contents.queue.redrive, contents.queue.fifo
        if redrive is None or stored.message.receive_count < redrive.max_receives:
            return False
        target = self._at(redrive.target_arn, now)
        if target is None:
            return False
        contents.remove(stored)
        message = msgspec.structs.replace(stored.message, source_arn=contents.queue.arn)
        if fifo:
            message.deduplication_id = message.id
        self._outbox.dead_lettered(
            contents.queue, target.queue, message.id, message.receive_count, stored.enqueued, now
        )
        self._put(target, message, stored.size, enqueued=now if fifo else stored.enqueued, due=now, now=now)
        return True

    async def delete(self, queue_id: int, claims: Sequence[bytes], now: int, *, by: str = "") -> Sequence[Outcome]:
        contents = self._in(queue_id, now)
        outcomes = [self._delete(contents, claim, now, by) for claim in claims]
        self.traffic.deleted(contents.queue.key, outcomes.count(Outcome.DONE), now)
        self._commit()
        if contents.queue.fifo and Outcome.DONE in outcomes:
            self._tell(contents, [now])
        return outcomes

    def _delete(self, contents: Contents, claim: bytes, now: int, by: str) -> Outcome:
        stored, outcome = contents.delete(claim, now)
        if stored and outcome is Outcome.DONE:
            count, received = stored.message.receive_count, stored.received or stored.enqueued
            self._outbox.deleted(contents.queue, [(stored.message.id, count, received)], now, by)
        return outcome

    async def change_visibility(
        self, queue_id: int, changes: Sequence[tuple[bytes, int]], now: int, *, by: str = ""
    ) -> Sequence[Outcome]:
        contents = self._in(queue_id, now)
        outcomes = [self._change_visibility(contents, claim, seconds, now, by) for claim, seconds in changes]
        self._commit()
        done = [seconds for (_, seconds), outcome in zip(changes, outcomes, strict=True) if outcome is Outcome.DONE]
        self._tell(contents, [now + seconds * 1000 for seconds in done])
        return outcomes

    def _change_visibility(self, contents: Contents, claim: bytes, seconds: int, now: int, by: str) -> Outcome:
        stored, outcome = contents.change_visibility(claim, seconds, now)
        if stored and outcome is Outcome.DONE:
            count = stored.message.receive_count
            self._outbox.visibility_changed(contents.queue, stored.message.id, count, seconds, now, by)
        return outcome

    async def peek(self, queue_id: int, limit: int, after: bytes, now: int) -> Sequence[Message]:
        return self._in(queue_id, now).peek(limit, after)

    # Move tasks

    async def move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        if task.id not in self._moves:
            return replace(task, status=MoveStatus.FAILED, failure=NO_QUEUE)
        task = self._moves[task.id]  # it may have been cancelled since the caller read it
        if task.status is MoveStatus.CANCELLING:
            task = replace(task, status=MoveStatus.CANCELLED)
        elif task.status is MoveStatus.RUNNING:
            task = self._move(task, limit, now)
        self._moves[task.id] = task
        self._commit()
        return task

    def _move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        source = self._at(task.source_arn, now)
        if source is None:
            return replace(task, status=MoveStatus.FAILED, failure=NO_QUEUE)
        ready = sorted(source.turns(now), key=lambda m: m.age)
        for stored in ready[:limit]:
            arn = task.destination_arn or stored.message.source_arn
            target = self._at(arn, now)
            if target is None:
                return replace(task, status=MoveStatus.FAILED, failure=NO_QUEUE if arn else NO_SOURCE)
            source.remove(stored)
            new_id = self._put_as_new(target, stored, now)
            self._outbox.moved(source.queue, target.queue, stored.message.id, new_id, task.id, now)
            task = replace(task, moved=task.moved + 1)
        return task if len(ready) > limit else replace(task, status=MoveStatus.COMPLETED)

    def _put_as_new(self, target: Contents, stored: Stored, now: int) -> str:
        message = stored.as_new(target.queue, now)
        due = now + target.queue.delay_seconds * 1000
        self._put(target, message, stored.size, enqueued=now, due=due, now=now)
        return message.id

    # Upkeep

    async def forget_account(self, account: str) -> None:
        self._forget_windows_of(account)
        self._forget_moves_of(account)
        self.traffic.forget_account(account)

    async def sweep(self, now: int) -> int:
        later = [now + SWEEP_EVERY_MS]
        for queue_id in self._contents:
            contents = self._in(queue_id, now)
            contents.forget(now)
            due = [stored.due for stored in contents.messages.values()]
            if any(self._swept < at <= now for at in due):
                self._tell(contents, [now])
            later += [at for at in due if at > now]
        self._deleted = {key: at for key, at in self._deleted.items() if now - at < TOMBSTONE_MS}
        self._swept = now
        self._forget_windows(now)
        self._commit()
        return min(later)

    async def backup(self, path: Path) -> None:
        raise StoreError("The memory store has no backup: what it holds ends with its process.")


def _page(queues: Iterable[Queue], after: str, limit: int) -> list[Queue]:
    return sorted((q for q in queues if q.key.name > after), key=lambda q: q.key.name)[:limit]
