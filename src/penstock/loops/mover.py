"""Carries out message move tasks, a few messages at a time, at the rate each asks for.

A task is a record in the store and its progress is saved together with the messages it moves: one that was running
when the process died goes on where it was. It ends when it has moved as many messages as there were when it began, so
that messages which die again while it runs do not keep it running.
"""

from dataclasses import replace

from penstock.core.move import MoveStatus, MoveTask
from penstock.core.store import Store

MOVED_AT_ONCE = 100


class Mover:
    name = "mover"

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: dict[str, int] = {}

    async def run_once(self, now: int) -> int | None:
        tasks = await self._store.active_moves()
        self._due = {task.id: self._due.get(task.id, now) for task in tasks}
        for task in tasks:
            if self._due[task.id] <= now or task.status is MoveStatus.CANCELLING:
                await self._step(task, now)
        return min(self._due.values(), default=None)

    async def _step(self, task: MoveTask, now: int) -> None:
        """A tenth of a second's worth of a limited task, or as much as does not hold up others."""
        amount = MOVED_AT_ONCE if task.rate is None else max(1, task.rate // 10)
        if task.to_move:
            amount = max(1, min(amount, task.to_move - task.moved))
        task = await self._store.move(task, amount, now)
        if task.status is MoveStatus.RUNNING and 0 < task.to_move <= task.moved:
            task = replace(task, status=MoveStatus.COMPLETED)
            await self._store.save_move(task)
        if not task.status.active:
            del self._due[task.id]
        else:
            self._due[task.id] = now if task.rate is None else now + amount * 1000 // task.rate
