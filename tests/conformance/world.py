"""What the conformance tests are written in: a store, a clock that moves when told to, and queues with short verbs.

A `World` survives a restart of its store: a `Line` always asks the world for the store of the moment.
"""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock.core.clock import ManualClock
from penstock.core.message import Message, NewMessage, Sent
from penstock.core.move import MoveTask
from penstock.core.queue import Queue, QueueKey
from penstock.core.store import Outcome, Receive, Store

REGION, ACCOUNT = "eu-west-1", "000000000001"


def key(name: str, account: str = ACCOUNT, region: str = REGION) -> QueueKey:
    return QueueKey(region, account, name)


def redrive_policy(name: str, max_receives: int) -> str:
    return json.dumps({"deadLetterTargetArn": key(name).arn, "maxReceiveCount": max_receives})


def new(body: str, **fields: Any) -> NewMessage:
    size = fields.pop("size", len(body.encode()))
    return NewMessage(id=fields.pop("id", None) or str(uuid.uuid4()), body=body, size=size, sender="AIDAUSER", **fields)


class Depth(NamedTuple):
    """The counts of a queue, and when the oldest of its messages was enqueued."""

    visible: int
    in_flight: int
    delayed: int
    bytes: int
    oldest: int | None


async def depth_of(store: Store, queue_id: int, now: int) -> Depth:
    return Depth(*await store.counts(queue_id, now), await store.oldest(queue_id, now))


@dataclass
class World:
    store: Store
    clock: ManualClock
    heard: list[tuple[int, int]] = field(default_factory=list)
    """What the listener was told since the list was last cleared: queue id and time."""

    @property
    def now(self) -> int:
        return self.clock.now()

    def advance(self, seconds: float) -> int:
        return self.clock.advance(seconds)

    def listen(self) -> None:
        self.store.subscribe(lambda queue_id, at, messages: self.heard.append((queue_id, at)))

    async def queue(self, name: str, **attributes: object) -> "Line":
        """A new queue; a name that ends in .fifo makes it a FIFO queue."""
        texts = {attribute: str(value) for attribute, value in attributes.items()}
        if name.endswith(".fifo"):
            texts["FifoQueue"] = "true"
        return Line(self, await self.store.create_queue(key(name), texts, {}, self.now))

    async def queue_with_dead_letters(
        self, name: str, max_receives: int, **attributes: object
    ) -> tuple["Line", "Line"]:
        """A queue, and the dead-letter queue of the same type that it names."""
        dead = await self.queue(f"dead-{name}")
        return await self.queue(name, RedrivePolicy=redrive_policy(f"dead-{name}", max_receives), **attributes), dead

    async def sweep(self) -> int:
        """Let the store do all that is due; return when it wants to be called again."""
        for _ in range(1000):
            again_at = await self.store.sweep(self.now)
            if again_at > self.now:
                return again_at
        raise AssertionError("a sweep never comes to an end")


@dataclass
class Line:
    """A queue under test."""

    world: World
    queue: Queue

    @property
    def id(self) -> int:
        return self.queue.id

    @property
    def arn(self) -> str:
        return self.queue.arn

    @property
    def _store(self) -> Store:
        return self.world.store

    async def send(self, *bodies: str, **fields: Any) -> list[Sent]:
        """One call for all bodies. On a FIFO queue the group is "g" and every message is new, unless told otherwise."""
        messages = [new(body, **fields) for body in bodies]
        for message in messages:
            if self.queue.fifo:
                message.group = message.group or "g"
                message.deduplication_id = message.deduplication_id or message.id
        return await self.send_all(*messages)

    async def send_all(self, *messages: NewMessage) -> list[Sent]:
        return list(await self._store.send(self.id, messages, self.world.now))

    async def receive(self, limit: int = 10, visibility: int = 30, **fields: Any) -> list[Message]:
        return list(await self._store.receive(self.id, Receive(limit, visibility, **fields), self.world.now))

    async def receive_one(self, visibility: int = 30) -> Message:
        messages = await self.receive(1, visibility)
        assert len(messages) == 1, "there was nothing to receive"
        return messages[0]

    async def bodies(self, limit: int = 10, visibility: int = 30, **fields: Any) -> list[str]:
        return [message.body for message in await self.receive(limit, visibility, **fields)]

    async def delete(self, message: Message | bytes) -> Outcome:
        return (await self.delete_all(message))[0]

    async def delete_all(self, *messages: Message | bytes) -> list[Outcome]:
        claims = [m if isinstance(m, bytes) else m.claim for m in messages]
        return list(await self._store.delete(self.id, claims, self.world.now))

    async def hide(self, message: Message | bytes, seconds: int) -> Outcome:
        claim = message if isinstance(message, bytes) else message.claim
        return (await self._store.change_visibility(self.id, [(claim, seconds)], self.world.now))[0]

    async def alter(self, **attributes: object) -> None:
        """Set some attributes and keep the others."""
        merged = {**self.queue.attributes, **{name: str(value) for name, value in attributes.items()}}
        self.queue = await self._store.alter_queue(self.id, merged, self.queue.tags, self.world.now)

    async def purge(self) -> None:
        await self._store.purge_queue(self.id, self.world.now)

    async def remove(self) -> None:
        await self._store.delete_queue(self.id, self.world.now)

    async def peek(self, limit: int = 100, after: bytes = b"") -> list[Message]:
        return list(await self._store.peek(self.id, limit, after, self.world.now))

    async def counts(self) -> Depth:
        return await depth_of(self._store, self.id, self.world.now)

    async def states(self) -> tuple[int, int, int]:
        """How many messages are visible, in flight and delayed."""
        counts = await self.counts()
        return counts.visible, counts.in_flight, counts.delayed

    async def start_move(self, destination: "Line | None" = None, **fields: Any) -> MoveTask:
        """Add a task that moves the messages of this queue."""
        task = MoveTask(
            id=fields.pop("id", None) or str(uuid.uuid4()),
            source_arn=self.arn,
            destination_arn=destination.arn if destination else None,
            rate=None,
            to_move=(await self.counts()).visible,
            started=self.world.now,
            **fields,
        )
        assert await self._store.add_move(task)
        return task
