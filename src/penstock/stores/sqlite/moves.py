"""Move tasks: their records, and moving a few messages at a time, progress and messages in one change."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from penstock.core.keyring import KeyRefused
from penstock.core.move import MoveStatus, MoveTask
from penstock.stores.sqlite.cards import Card
from penstock.stores.sqlite.catalogue import Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.dead_letters import DeadLetters
from penstock.stores.sqlite.lines import Lines
from penstock.stores.sqlite.shelves import Shelves

_COLUMNS = "id, source, destination, rate, to_move, started, moved, status, failure"
QUEUE_GONE = "AWS.SimpleQueueService.NonExistentQueue"
NO_SOURCE = "CouldNotDetermineMessageSource"


class Moves:
    def __init__(self, db: Database, shelves: Shelves, dead_letters: DeadLetters) -> None:
        self._db, self._shelves, self._dead_letters = db, shelves, dead_letters
        self._lines = Lines(db, shelves.runs)

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

    def forget(self, account: str) -> None:
        self._db.execute("DELETE FROM move_task WHERE source LIKE ?", (f"arn:aws:sqs:%:{account}:%",))

    def _select(self, where: str, *bindings: str | int) -> Sequence[MoveTask]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM move_task {where}", bindings)
        names = ("id", "source_arn", "destination_arn", "rate", "to_move", "started", "moved", "status", "failure")
        return [MoveTask(**dict(zip(names, row, strict=True)) | {"status": MoveStatus(row[7])}) for row in rows]

    def step(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        current = self.find(task.id)
        if current is None:
            return replace(task, status=MoveStatus.FAILED, failure=QUEUE_GONE)
        if current.status is MoveStatus.RUNNING:
            current = self._move(current, limit, now)
        elif current.status is MoveStatus.CANCELLING:
            current = replace(current, status=MoveStatus.CANCELLED)
        self.save(current)
        return current

    def _move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        source = self._dead_letters.queue_of(task.source_arn)
        if source is None:
            return replace(task, status=MoveStatus.FAILED, failure=QUEUE_GONE)
        self._shelves.catch_up(now)
        self._shelves.expire(source, now)
        moved = task.moved
        waiting = list(islice(self._lines.ready(source), limit + 1))
        for card in waiting[:limit]:
            try:
                target, failure = self._target(task, card)
                if target is not None:
                    self._dead_letters.revive(source, card, target, task.id, now)
            except KeyRefused as refusal:
                target, failure = None, refusal.shape
            if target is None:
                return replace(task, moved=moved, status=MoveStatus.FAILED, failure=failure)
            moved += 1
        done = len(waiting) <= limit
        return replace(task, moved=moved, status=MoveStatus.COMPLETED if done else MoveStatus.RUNNING)

    def _target(self, task: MoveTask, card: Card) -> tuple[Entry | None, str]:
        arn = task.destination_arn or self._dead_letters.source_of(card)
        if arn is None:
            return None, NO_SOURCE
        return self._dead_letters.queue_of(arn), QUEUE_GONE
