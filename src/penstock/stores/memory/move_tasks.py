"""The records of move tasks, as the store in memory has them. What a task does to messages is the store's."""

from collections.abc import Sequence

from penstock.core.move import MoveTask
from penstock.core.queue import QueueKey


class MoveTasks:
    def __init__(self) -> None:
        super().__init__()
        self._moves: dict[str, MoveTask] = {}

    async def add_move(self, task: MoveTask) -> bool:
        if any(other.source_arn == task.source_arn for other in await self.active_moves()):
            return False
        self._moves[task.id] = task
        return True

    async def find_move(self, task_id: str) -> MoveTask | None:
        return self._moves.get(task_id)

    async def list_moves(self, source_arn: str, limit: int) -> Sequence[MoveTask]:
        newest_first = [task for task in reversed(self._moves.values()) if task.source_arn == source_arn]
        return sorted(newest_first, key=lambda task: -task.started)[:limit]

    async def active_moves(self) -> Sequence[MoveTask]:
        return [task for task in self._moves.values() if task.status.active]

    async def save_move(self, task: MoveTask) -> None:
        self._moves[task.id] = task

    def _forget_moves_of(self, account: str) -> None:
        for task in list(self._moves.values()):
            source = QueueKey.from_arn(task.source_arn)
            if source and source.account == account:
                del self._moves[task.id]
