"""A second opinion: what a store must answer, worked out in the most naive way from one flat list of rows.

It shares nothing with any store. A row is one message in one queue; `arrival` numbers rows in the order in which they
came into their queues, and a claim is (arrival, delivery). Two things are left out: noisy groups, so standard queues
are sent messages without a group, and receive attempts. `test_fairness` and `test_fifo` have those.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import count

from penstock.core.message import NewMessage
from penstock.core.store import Outcome

from .world import Depth

FIVE_MINUTES, TWELVE_HOURS = 300_000, 43_200_000


@dataclass
class Settings:
    fifo: bool
    retention: int = 345_600
    delay: int = 0
    dead: str | None = None
    max_receives: int = 0
    scope_is_group: bool = False


@dataclass
class Row:
    arrival: int
    queue: str
    id: str
    size: int
    group: str | None
    deduplication_id: str | None
    sent: int
    enqueued: int
    due: int = 0
    deliveries: int = 0
    first_received: int | None = None
    received: int | None = None
    source: str | None = None


class Model:
    def __init__(self, now: int) -> None:
        self.now = now
        self.queues: dict[str, Settings] = {}
        self.rows: list[Row] = []
        self.accepted: list[tuple[str, str | None, str, int, str]] = []
        self._arrivals = count(1)

    # Time

    def wait_until(self, now: int) -> None:
        self.now = now
        self._expire()

    def _expire(self) -> None:
        self.rows = [r for r in self.rows if self._expiry(r) > self.now]

    def _expiry(self, row: Row) -> int:
        return row.enqueued + self.queues[row.queue].retention * 1000

    def edges(self) -> list[int]:
        """The moments to come at which something changes by itself."""
        times = {r.due for r in self.rows} | {self._expiry(r) for r in self.rows}
        times |= {at + FIVE_MINUTES for _, _, _, at, _ in self.accepted}
        times |= {r.received + TWELVE_HOURS for r in self.rows if r.received}
        return sorted(t for t in times if t > self.now)

    # Queues

    def create(self, name: str, settings: Settings) -> None:
        self.queues[name] = settings

    def remove(self, name: str) -> None:
        self.purge(name)
        del self.queues[name]

    def purge(self, name: str) -> None:
        self.rows = [r for r in self.rows if r.queue != name]
        self.accepted = [a for a in self.accepted if a[0] != name]

    def set_retention(self, name: str, seconds: int) -> None:
        self.queues[name].retention = seconds
        self._expire()

    def set_delay(self, name: str, seconds: int) -> None:
        changed = self.queues[name].delay != seconds
        self.queues[name].delay = seconds
        for row in self._in(name):
            if changed and self.queues[name].fifo and row.due > self.now and row.received is None:
                row.due = row.enqueued + seconds * 1000

    def counts(self, name: str) -> Depth:
        rows = self._in(name)
        hidden = [r for r in rows if r.due > self.now]
        in_flight = sum(r.received is not None for r in hidden)
        oldest = min((r.enqueued for r in rows), default=None)
        return Depth(len(rows) - len(hidden), in_flight, len(hidden) - in_flight, sum(r.size for r in rows), oldest)

    def _in(self, name: str) -> list[Row]:
        return [r for r in self.rows if r.queue == name]

    # Messages

    def send(self, name: str, new: NewMessage) -> tuple[str, bool]:
        """The id that the sender is told, and whether this is a duplicate."""
        queue, unique = self.queues[name], new.deduplication_id
        if queue.fifo and unique:
            scope = new.group if queue.scope_is_group else None
            for known in self.accepted:
                if known[:3] == (name, scope, unique) and self.now < known[3] + FIVE_MINUTES:
                    return known[4], True
            self.accepted.append((name, scope, unique, self.now, new.id))
        wait = queue.delay if queue.fifo or new.delay_seconds is None else new.delay_seconds
        row = Row(next(self._arrivals), name, new.id, new.size, new.group, unique, self.now, self.now)
        row.due = self.now + wait * 1000
        self.rows.append(row)
        return new.id, False

    def receive(self, name: str, limit: int, visibility: int, choice: tuple[list[str], set[str]]) -> list[Row]:
        """`choice` is what the store handed out and what it dead-lettered. It counts among messages, or groups, that
        became ready in the same millisecond, and for nothing else."""
        taken: list[Row] = []
        for row in (self._fifo_turns if self.queues[name].fifo else self._turns)(name, *choice):
            if len(taken) == limit:
                break
            if self._doomed(row):
                self._bury(row)
            else:
                taken.append(self._deliver(row, visibility))
        return taken

    def has_doomed(self, name: str) -> bool:
        return any(map(self._doomed, self._in(name)))

    def _turns(self, name: str, delivered: list[str], died: set[str]) -> list[Row]:
        chosen = dict.fromkeys(died, -1) | {id_: turn for turn, id_ in enumerate(delivered)}
        ready = [r for r in self._in(name) if r.due <= self.now]
        return sorted(ready, key=lambda r: (r.due, chosen.get(r.id, len(ready)), r.arrival))

    def _fifo_turns(self, name: str, delivered: list[str], died: set[str]) -> list[Row]:
        rows = self._in(name)
        heads = {r.group: r for r in reversed(rows)}
        chosen = {r.group: -1 for r in rows if r.id in died}
        chosen |= {r.group: delivered.index(r.id) for r in reversed(rows) if r.id in delivered}
        hidden = [r for r in rows if r.due > self.now]
        free = [r for r in rows if not any(h.group == r.group and h.arrival <= r.arrival for h in hidden)]
        return sorted(free, key=lambda r: (heads[r.group].due, chosen.get(r.group, len(rows)), r.group, r.arrival))

    def _doomed(self, row: Row) -> bool:
        queue = self.queues[row.queue]
        return queue.dead in self.queues and row.deliveries >= queue.max_receives

    def _bury(self, row: Row) -> None:
        fifo, dead = self.queues[row.queue].fifo, self.queues[row.queue].dead
        self.rows.remove(row)
        row.source, row.queue = row.queue, str(dead)
        row.arrival, row.due, row.received = next(self._arrivals), self.now, None
        if fifo:
            row.enqueued, row.deduplication_id = self.now, row.id
        self.rows.append(row)
        self._expire()

    def _deliver(self, row: Row, visibility: int) -> Row:
        row.deliveries += 1
        row.received, row.due = self.now, self.now + visibility * 1000
        row.first_received = row.first_received or self.now
        return row

    def delete(self, name: str, claim: tuple[int, int]) -> Outcome:
        for row in self._in(name):
            if row.arrival == claim[0]:
                current = row.deliveries == claim[1]
                if self.queues[name].fifo and not (current and row.due > self.now):
                    return Outcome.EXPIRED
                if not current:
                    return Outcome.SUPERSEDED
                self.rows.remove(row)
                return Outcome.DONE
        return Outcome.GONE

    def hide(self, name: str, claim: tuple[int, int], seconds: int) -> Outcome:
        for row in self._in(name):
            if row.arrival == claim[0]:
                if row.due <= self.now:
                    return Outcome.VISIBLE
                if self.queues[name].fifo and row.deliveries != claim[1]:
                    return Outcome.EXPIRED
                if self.now + seconds * 1000 > (row.received or 0) + TWELVE_HOURS:
                    return Outcome.TOO_LONG
                row.due = self.now + seconds * 1000
                return Outcome.DONE
        return Outcome.GONE

    def seen(self, name: str) -> Counter[tuple[str, int]]:
        """What a peek shows, in any order."""
        return Counter((r.id, r.deliveries) for r in self._in(name))
