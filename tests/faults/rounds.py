"""Rounds of calls on a store, made at once so that they share a commit, and the tables that each leaves behind."""

import random
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from conformance.world import Line, World
from penstock.core.message import Message
from penstock.core.store import Outcome
from penstock.stores.sqlite.claims import Claim

from .audit import tallied

TABLES = (
    "queue", "message", "bulk", "outbox", "message_group", "deduplication", "attempt", "litter", "tombstone",
    "move_task", "data_key",
)  # fmt: skip
COUNTED = 10
"""Columns of a queue before its counters."""

State = dict[str, list[tuple[Any, ...]]]
Call = Callable[[], Awaitable[object]]
"""Truthy when it has told its caller of something that was done in this round."""


def tables(path: Path) -> State:
    """Everything that is kept, in committed form."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs="unix")) as connection:
        state = {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
        latest = tallied(connection)
    state["queue"] = [row[:COUNTED] + latest.get(row[0], row[COUNTED:]) for row in state["queue"]]
    return state


class Chooser:
    """What callers do at once: calls that change something, and some that find it done already by another."""

    def __init__(self, world: World, lines: list[Line], rng: random.Random) -> None:
        self._world, self._lines, self._rng = world, lines, rng
        self._held: list[tuple[Line, Message]] = []
        self._present: set[tuple[int, ...]] = set()
        self._sent = 0

    def calls(self, state: State) -> list[Call]:
        self._present = {row[:3] for row in state["message"] if (row[0],) not in state["litter"]}
        chosen = []
        for _ in range(self._rng.randint(1, 6)):
            call = self._rng.choice((self._send, self._send, self._receive, self._receive, self._settle, self._other))()
            chosen += [call] * self._rng.choice((1, 1, 1, 2))
        return chosen

    def _send(self) -> Call:
        line, self._sent = self._rng.choice(self._lines[:2]), self._sent + 1
        bodies = ["x" * self._rng.choice((10, 10, 10, 3000)) for _ in range(self._rng.choice((1, 3)))]
        if line.queue.fifo:
            fields = {"group": self._rng.choice("abc"), "deduplication_id": f"d{self._sent}"}
            return lambda: line.send(bodies[0], **fields)
        delay = self._rng.choice((None, None, None, None, 5))
        return lambda: line.send(*bodies, delay_seconds=delay)

    def _receive(self) -> Call:
        line, most = self._rng.choice(self._lines), self._rng.choice((1, 5))

        async def receive() -> bool:
            messages = await line.receive(most, 20)
            self._held += [(line, message) for message in messages]
            return bool(messages)

        return receive

    def _settle(self) -> Call:
        if not self._held:
            return self._send()
        line, message = self._held.pop(self._rng.randrange(len(self._held)))
        shorten, lay_there = self._rng.random() < 0.3, Claim.unpack(message.claim)[:3] in self._present

        async def settle() -> bool:
            outcome = await (line.hide(message, 10) if shorten else line.delete(message))
            return outcome is Outcome.DONE or (outcome is Outcome.GONE and lay_there)

        return settle

    def _other(self) -> Call:
        line, hidden = self._rng.choice(self._lines), self._rng.randrange(100)
        purges = self._rng.random() < 0.1

        async def other() -> bool:
            await (line.purge() if purges else line.alter(VisibilityTimeout=hidden))
            return True

        async def sweep() -> bool:
            await self._world.store.sweep(self._world.now)
            return False

        return self._rng.choice((other, sweep))
