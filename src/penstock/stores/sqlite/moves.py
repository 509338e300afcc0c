"""Move tasks: their records, and moving a few messages at a time, progress and messages in one change."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from penstock.core.move import MoveStatus, MoveTask
from penstock.core.queue import QueueKey
from penstock.stores.sqlite.catalogue import Catalogue, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.messages import Messages

_COLUMNS = "id, source, destination, rate, to_move, started, moved, status, failure"
QUEUE_GONE = "AWS.SimpleQueueService.NonExistentQueue"
NO_SOURCE = "CouldNotDetermineMessageSource"


class Moves:
    def __init__(self, db: Database, catalogue: Catalogue, messages: Messages) -> None:
        self._db, self._catalogue, self._messages = db, catalogue, messages

    def add(self, task: MoveTask) -> bool:
        if any(other.status.active for other in self.newest(task.source_arn, 1)):
            return False
        self.save(task)
        return True

    def save(self, task: MoveTask) -> None:
        self._db.execute(
            f"INSERT OR REPLACE INTO move_task ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
            (
                task.id, task.source_arn, task.destination_arn, task.rate, task.to_move, task.started, task.moved,
                task.status.value, task.failure,
            ),
        )  # fmt: skip

    def find(self, task_id: str) -> MoveTask | None:
        return next(iter(self._select("WHERE id=?", task_id)), None)

    def newest(self, source_arn: str, limit: int) -> Sequence[MoveTask]:
        return self._select("WHERE source=? ORDER BY started DESC, id LIMIT ?", source_arn, limit)

    def active(self) -> Sequence[MoveTask]:
        return self._select("WHERE status IN ('RUNNING', 'CANCELLING') ORDER BY started")

    def _select(self, where: str, *bindings: str | int) -> Sequence[MoveTask]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM move_task {where}", bindings)
        names = ("id", "source_arn", "destination_arn", "rate", "to_move", "started", "moved", "status", "failure")
        return [MoveTask(**dict(zip(names, row, strict=True)) | {"status": MoveStatus(row[7])}) for row in rows]

    def step(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        current = self.find(task.id) or task
        if current.status is MoveStatus.RUNNING:
            current = self._move(current, limit, now)
        elif current.status is MoveStatus.CANCELLING:
            current = replace(current, status=MoveStatus.CANCELLED)
        self.save(current)
        return current

    def _move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        source = self._entry(task.source_arn)
        if source is None:
            return replace(task, status=MoveStatus.FAILED, failure=QUEUE_GONE)
        self._messages.catch_up(now)
        self._messages.expire(source, now)
        moved = task.moved
        waiting = list(islice(self._messages.lines.ready(source, limit + 1), limit + 1))
        for message in waiting[:limit]:
            target, failure = self._target(task, message.number)
            if target is None:
                return replace(task, moved=moved, status=MoveStatus.FAILED, failure=failure)
            self._messages.move(source, message, target, str(uuid.uuid4()), now)
            moved += 1
        done = len(waiting) <= limit
        return replace(task, moved=moved, status=MoveStatus.COMPLETED if done else MoveStatus.RUNNING)

    def _target(self, task: MoveTask, number: int) -> tuple[Entry | None, str]:
        arn = task.destination_arn
        if arn is None:
            arn = self._db.execute("SELECT source FROM payload WHERE number=?", (number,)).get
        if arn is None:
            return None, NO_SOURCE
        return self._entry(arn), QUEUE_GONE

    def _entry(self, arn: str) -> Entry | None:
        key = QueueKey.from_arn(arn)
        return self._catalogue.by_key.get(key) if key else None
