"""A store with a lot in it, of every kind: ready, in flight, delayed, in one group, in many, dead, purged; many queues.

`size` is the number of messages of each kind; there are a tenth as many queues, tasks and sources of dead letters.
"""

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from conformance.world import Line, World, new, redrive_policy
from penstock.core.clock import ManualClock
from penstock.core.message import Message, NewMessage
from penstock.core.move import MoveStatus, MoveTask
from penstock.stores.sqlite import SqliteStore

AT_ONCE = 1000
HIDDEN_SECONDS = 36_000


@dataclass
class Crowd:
    world: World
    size: int
    lines: dict[str, Line] = field(default_factory=dict)
    held: dict[str, list[Message]] = field(default_factory=dict)

    @property
    def store(self) -> SqliteStore:
        assert isinstance(self.world.store, SqliteStore)
        return self.world.store

    async def gather(self) -> None:
        for name in ("ready", "flight", "delayed", "fair", "purged", "dead", "one.fifo", "many.fifo", "busy.fifo"):
            self.lines[name] = await self.world.queue(name)
        self.lines["dying"] = await self.world.queue("dying", RedrivePolicy=redrive_policy("dead", 1))
        await self._fill("ready")
        await self._fill("flight")
        await self._take("flight")
        await self._fill("delayed", delay_seconds=900)
        await self._fill("dead")
        await self._fill("dying")
        await self._take("dying")
        await self._fill("one.fifo", groups=1)
        await self._fill("many.fifo", groups=self.size)
        await self._fill("busy.fifo", groups=self.size // 2)
        await self._take("busy.fifo")
        await self._fill("fair", groups=self.size)
        await self._fill("purged")
        await self.lines["purged"].purge()
        await self._many_queues()
        await self.world.store.sweep(self.world.now)

    async def _fill(self, name: str, groups: int = 0, **fields: int) -> None:
        line = self.lines[name]
        for start in range(0, self.size, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, self.size))
            await line.send_all(*(self._message(line, number, groups, fields) for number in numbers))
            self.world.advance(0.1)

    def _message(self, line: Line, number: int, groups: int, fields: dict[str, int]) -> NewMessage:
        message = new(f"message {number}", **fields)
        message.group = f"g{number % groups}" if groups else None
        message.deduplication_id = message.id if line.queue.fifo else None
        return message

    async def _take(self, name: str) -> None:
        """Into flight, for hours; a few are kept in hand."""
        line, held = self.lines[name], self.held.setdefault(name, [])
        while messages := await line.receive(AT_ONCE, HIDDEN_SECONDS):
            held += messages
        del held[100:]

    async def _many_queues(self) -> None:
        for number in range(self.size // 10):
            line = await self.world.queue(f"many-{number:06}", RedrivePolicy=redrive_policy("dead", 3))
            await line.send("m")
            task = MoveTask(
                str(uuid.uuid4()), self.lines["dead"].arn, None, None, to_move=0, started=number,
                status=MoveStatus.COMPLETED,
            )  # fmt: skip
            await self.world.store.save_move(task)


async def crowd(folder: Path, size: int) -> Crowd:
    store = SqliteStore(folder / f"crowd-{size}.db")
    await store.open()
    crowd = Crowd(World(store, ManualClock()), size)
    await crowd.gather()
    return crowd
