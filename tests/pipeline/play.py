"""A store in a few lines that does random things and writes them into a journal, for tests that need any journal."""

import random
from dataclasses import dataclass, field
from typing import Any

from .journals import NODE, START, Line

REGION, ACCOUNT = "us-east-1", "000000000000"
QUEUES = ("orders", "mail", "dead")
DAY = 86_400_000


def arn(queue: str) -> str:
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"


@dataclass
class Held:
    id: str
    sent: int
    enqueued: int
    first: int | None = None
    received: int | None = None
    count: int = 0


@dataclass
class Play:
    """Dead letters of `orders` and `mail` go to `dead`, those of `dead` back to `mail`: a message may come again."""

    random: random.Random
    now: int = START
    node: str = NODE
    lines: list[Line] = field(default_factory=list)
    held: dict[str, list[Held]] = field(default_factory=lambda: {queue: [] for queue in QUEUES})
    made: int = 0
    seq: int = 0

    def go(self, steps: int) -> list[Line]:
        acts = (
            [self.send] * 6 + [self.receive] * 8 + [self.delete] * 4 + [self.hide, self.dead_letter, self.dead_letter]
        )
        acts += [
            self.move,
            self.expire,
            self.damage,
            self.rarely(self.purge),
            self.rarely(self.delete_queue),
            self.noise,
        ]
        for _ in range(steps):
            self.now += self.random.choice((0, 0, 0, 1, 7, 60_000, DAY // 30))
            self.random.choice(acts)(self.random.choice(QUEUES))
        return self.lines

    def rarely(self, act: Any) -> Any:
        return lambda queue: act(queue) if self.random.random() < 0.3 else None

    def forget(self) -> None:
        """The journal begins here: what is held came before it."""
        self.lines.clear()

    def restore(self) -> None:
        """Go on as another node."""
        self.node, self.seq = f"{self.node[:-1]}{self.random.randrange(10)}x", 0
        self.now += 5

    def _write(self, event: str, queue: str, **fields: Any) -> None:
        self.seq += 1
        known = {"node": self.node, "seq": self.seq, "ts_ms": self.now, "event": event}
        place = {"region": REGION, "account": ACCOUNT, "queue": queue}
        self.lines.append(known | place | {name: value for name, value in fields.items() if value is not None})

    def _some(self, queue: str) -> Held | None:
        return self.random.choice(self.held[queue]) if self.held[queue] else None

    def send(self, queue: str) -> None:
        self.made += 1
        message = Held(f"m{self.made}", self.now, self.now)
        self.held[queue].append(message)
        about = {"type": self.random.choice(("a", "b", None)), "size": self.made, "group": f"g{self.made % 3}"}
        self._write("SENT", queue, message_id=message.id, principal=f"sender{self.made % 2}", endpoint="e", **about)

    def receive(self, queue: str) -> None:
        if message := self._some(queue):
            message.count += 1
            message.first, message.received = message.first or self.now, self.now
            who = self.random.choice(("worker1", "worker2", None))
            times = {"sent_ms": message.sent, "first_receive_ms": message.first}
            self._write("RECEIVED", queue, message_id=message.id, receive_count=message.count, principal=who,
                        duration_ms=self.now - message.enqueued, **times)  # fmt: skip

    def _leave(self, event: str, queue: str, message: Held, **fields: Any) -> None:
        self.held[queue].remove(message)
        self._write(event, queue, message_id=message.id, **fields)

    def delete(self, queue: str) -> None:
        if (message := self._some(queue)) and message.received is not None:
            since = self.now - message.received
            self._leave("DELETED", queue, message, receive_count=message.count, duration_ms=since, principal="worker")

    def expire(self, queue: str) -> None:
        if message := self._some(queue):
            since = self.now - message.enqueued
            self._leave("EXPIRED", queue, message, receive_count=message.count, duration_ms=since)

    def damage(self, queue: str) -> None:
        if message := self._some(queue):
            self._leave("DAMAGED", queue, message, reason="checksum")

    def hide(self, queue: str) -> None:
        if message := self._some(queue):
            self._write("VISIBILITY_CHANGED", queue, message_id=message.id, receive_count=message.count, duration_ms=0)

    def dead_letter(self, queue: str) -> None:
        if message := self._some(queue):
            target = "mail" if queue == "dead" else "dead"
            since = self.now - message.enqueued
            self._leave("DEAD_LETTERED", queue, message, receive_count=message.count, endpoint=arn(target),
                        reason="maxReceiveCount", duration_ms=since)  # fmt: skip
            message.received = None
            self.held[target].append(message)

    def move(self, queue: str) -> None:
        if message := self._some(queue):
            self.made += 1
            target = self.random.choice(QUEUES)
            self._leave("MOVED", queue, message, successor=f"m{self.made}", endpoint=arn(target), reason="task")
            self.held[target].append(Held(f"m{self.made}", self.now, self.now))

    def purge(self, queue: str) -> None:
        self._write("PURGED", queue, count=len(self.held[queue]))
        self.held[queue].clear()

    def delete_queue(self, queue: str) -> None:
        self._write("QUEUE_DELETED", queue, count=len(self.held[queue]))
        self.held[queue].clear()
        self._write("QUEUE_CREATED", queue, count=0)

    def noise(self, queue: str) -> None:
        self._write(self.random.choice(("GAUGE", "EMPTY_RECEIVE")), queue)
