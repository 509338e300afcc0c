"""Which messages a shelf has, in the order in which they came: runs of numbers that follow one another.

A message is found by its number. Whoever asks what is oldest on a shelf, what was never handed out, or what there is at
all, needs the numbers of the shelf. An index of them would be written by every send and every delete, and among many
queues that is a page of its own each time. A run is noted when its messages come. When they go, nothing is: with some
of its numbers, or with any, there may be no message any more.

The runs of the latest messages are in memory only. They are written when they are many, those of a shelf together and
one shelf after the other, so that a page is written once for all that is new on it. A start finds them again: it looks
through the messages that came after the last whose run is known to be written (`keepsake`). So does a rollback that
undoes the writing. Any other may leave in memory runs of messages that never were, which does no harm.

The order of numbers is that of ages, but for dead letters, which kept theirs. From the first such on, the messages of a
shelf are in an index of ages (`aged`), as long as any of them is there.

Runs without messages go with their shelf, or when they are more than half of what the shelf has.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, takewhile
from operator import itemgetter
from typing import Any

from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.marks import Marks

WRITTEN_AT_ONCE = 1000
SWEPT_AT_ONCE = 500
SEEN_AT_ONCE = 4
SPARE_RUNS = 100
"""That a shelf may have without messages, however few it has with some."""

Run = tuple[int, int]
"""The first and the last of its numbers."""
Age = tuple[int, int]
"""When a message came into its queue, and its number."""

_AHEAD = "SELECT first, last FROM run WHERE shelf=? AND last>=? ORDER BY last LIMIT ?"
_HAS_ANY = "SELECT 1 FROM message WHERE number BETWEEN ? AND ? AND +shelf=? LIMIT 1"
_AGED = "FROM message WHERE shelf=? AND aged IS NOT NULL"
_IN_TURN = "ORDER BY enqueued, number"
_last = itemgetter(1)


def _age(row: Sequence[Any]) -> Age:
    number, enqueued, *_ = row
    return enqueued if isinstance(enqueued, int) else 0, number


@dataclass(slots=True)
class Written:
    """Of one shelf: up to which number its runs are written, those that were looked at last, how many there are if that
    is known, and how many the last sweep left."""

    until: int
    seen: Sequence[Run] = ()
    runs: int | None = None
    swept: int = 0


class Runs:
    """`held` says how many messages a shelf has, None if it is nobody's."""

    most_new_runs, most_new_numbers = 20_000, 100_000
    """Not written, about: what a start has to look through."""

    def __init__(self, db: Database, marks: Marks, held: Callable[[int], int | None]) -> None:
        self._db, self._marks, self._held = db, marks, held
        self._clear()

    def _clear(self) -> None:
        self._new: dict[int, list[list[int]]] = {}
        """By shelf: runs that are not written yet."""
        self._new_runs = self._written_until = self._writing_until = 0
        self._to_write: list[int] = []
        self._written: dict[int, Written] = {}
        self._floors: dict[int, int] = {}
        """By shelf: no message on it has a lower number."""
        self._to_sweep: dict[int, int] = {}
        """By shelf: from which number on."""
        self._changed = False

    def load(self) -> int:
        """The latest time at which one of those came that had to be looked through."""
        self._clear()
        self._written_until = self._db.execute("SELECT value FROM keepsake WHERE name='runs'").get or 0
        latest = 0
        for number, shelf, enqueued in self._db.execute(
            "SELECT number, shelf, enqueued FROM message WHERE number>? ORDER BY number", (self._written_until,)
        ):
            if isinstance(shelf, int):  # else it is on none
                self.add(shelf, number, number)
            if isinstance(enqueued, int):  # else it will be found damaged
                latest = max(latest, enqueued)
        return latest

    def committed(self) -> None:
        self._changed = False

    def rolled_back(self) -> None:
        """After the marks were read again: higher numbers are going to be given once more."""
        self._floors.clear()
        if self._changed:
            self.load()
            return
        highest = self._marks.number
        for shelf, runs in self._new.items():
            self._new[shelf] = [[first, min(last, highest)] for first, last in runs if first <= highest]
        self._new_runs = sum(map(len, self._new.values()))

    def add(self, shelf: int, first: int, last: int) -> None:
        """Messages with these numbers came. Numbers only grow."""
        runs = self._new.setdefault(shelf, [])
        if runs and first <= runs[-1][1] + 1:
            runs[-1][1] = last
        else:
            runs.append([first, last])
            self._new_runs += 1

    # Looking

    def ahead(self, shelf: int, since: int) -> Sequence[Run]:
        """The next runs of a shelf, a few at a time, that end at this number or after it."""
        written = self._written_of(shelf)
        if since <= written.until:
            seen = written.seen
            if not seen or not seen[0][0] <= since <= seen[-1][1]:
                seen = written.seen = self._db.execute(_AHEAD, (shelf, since, SEEN_AT_ONCE)).fetchall()
            if seen:
                return seen if since <= seen[0][1] else seen[bisect_left(seen, since, key=_last) :]
        new, since = self._new.get(shelf, ()), max(since, written.until + 1)
        place = bisect_left(new, since, key=_last)
        return [(max(first, since), last) for first, last in new[place : place + SEEN_AT_ONCE]]

    def rows(self, shelf: int, since: int, columns: str, condition: str = "TRUE") -> Iterator[Any]:
        """The messages of a shelf from this number on, in the order in which they came."""
        statement = f"""SELECT {columns} FROM message
            WHERE number BETWEEN ? AND ? AND +shelf=? AND {condition} ORDER BY number"""
        while runs := self.ahead(shelf, since):
            for first, last in runs:
                yield from self._db.execute(statement, (max(first, since), last, shelf))
                since = last + 1

    def rows_backwards(self, shelf: int, columns: str) -> Iterator[Any]:
        """The messages of a shelf, the latest first."""
        statement = f"SELECT {columns} FROM message WHERE number BETWEEN ? AND ? AND +shelf=? ORDER BY number DESC"
        written = self._db.execute("SELECT first, last FROM run WHERE shelf=? ORDER BY last DESC", (shelf,))
        for runs in (reversed(self._new.get(shelf, [])), written):
            for first, last in runs:
                yield from self._db.execute(statement, (first, last, shelf))

    def floor(self, shelf: int) -> int:
        return self._floors.get(shelf, 0)

    def raise_floor(self, shelf: int, number: int) -> None:
        """There is nothing on the shelf below this number."""
        self._floors[shelf] = number

    def by_age(self, shelf: int, columns: str, after: Age = (-1, -1)) -> Iterator[Any]:
        """The messages of a shelf behind this age, the oldest first. `columns` begin with number and enqueued."""
        aged = self._db.execute(f"SELECT {columns} {_AGED} AND (enqueued, number) > (?,?) {_IN_TURN}", (shelf, *after))
        in_order = takewhile(itemgetter(0), self._in_order(shelf, self._behind(shelf, after), columns))
        return merge((row for _, *row in in_order), aged, key=_age)

    def _in_order(self, shelf: int, since: int, columns: str, condition: str = "TRUE") -> Iterator[Any]:
        return self.rows(shelf, since, f"aged IS NULL, {columns}", condition)

    def _behind(self, shelf: int, age: Age) -> int:
        """Of the messages that came in the order of their ages, the first number that is behind this age."""

        def is_behind(number: int) -> bool:
            rows = self._in_order(shelf, number, "number, enqueued", "typeof(enqueued)='integer'")
            in_order, *row = next(rows, (False, 0, 0))
            return not in_order or _age(row) > age

        floor = self.floor(shelf)
        return bisect_left(range(floor, max(floor, age[1] + 1)), True, key=is_behind) + floor

    def has_aged(self, shelf: int) -> bool:
        return self._db.execute(f"SELECT 1 {_AGED} LIMIT 1", (shelf,)).get is not None

    def oldest(self, shelf: int, may_be_aged: bool = True) -> int | None:
        """When the oldest message on a shelf came into its queue."""
        aged = self._db.execute(f"SELECT enqueued {_AGED} {_IN_TURN} LIMIT 1", (shelf,)).get if may_be_aged else None
        return min((time for time in (aged, self._first(shelf)) if isinstance(time, int)), default=None)

    def _first(self, shelf: int) -> int | None:
        rows = self.rows(shelf, self.floor(shelf), "number, enqueued")
        number, enqueued = next(rows, (self._highest(shelf) + 1, None))
        self.raise_floor(shelf, number)
        times = (time for time in chain([enqueued], (time for _, time in rows)) if isinstance(time, int))
        return next(times, None)  # others will be found damaged

    def _highest(self, shelf: int) -> int:
        """No message of the shelf has a higher number."""
        new = self._new.get(shelf)
        return new[-1][1] if new else self._written_of(shelf).until

    def newest(self, shelf: int) -> int | None:
        """No message on a shelf is younger than this."""
        times = self.rows_backwards(shelf, "coalesce(aged, enqueued)")
        return next((time for (time,) in times if isinstance(time, int)), None)

    # Writing

    def is_due(self) -> bool:
        """Whether there is much that is not written."""
        numbers = self._marks.number - self._written_until
        return bool(self._to_write) or self._new_runs >= self.most_new_runs or numbers >= self.most_new_numbers

    def write_if_due(self) -> None:
        """A part of it, into the transaction that is about to be committed. When all is written that there was at the
        beginning, all messages up to then are in runs that are."""
        if not self.is_due() or self._db.disk_full:
            return
        self._changed = True
        if not self._to_write:
            self._writing_until, self._to_write = self._marks.number, sorted(self._new, reverse=True)
        runs = 0
        while self._to_write and runs < WRITTEN_AT_ONCE:
            runs += self._write(self._to_write.pop())
        if not self._to_write:
            self._written_until = self._writing_until
            self._db.execute("INSERT OR REPLACE INTO keepsake VALUES ('runs', ?)", (self._written_until,))

    def _write(self, shelf: int) -> int:
        """How much there was to do."""
        new, written, held = self._new.pop(shelf, []), self._written_of(shelf), self._held(shelf)
        self._new_runs -= len(new)
        runs = [(max(first, written.until + 1), last) for first, last in new if last > written.until]
        if not held:
            runs = [run for run in runs if self._has_any(shelf, run)]
        for first, last in runs:
            self._db.execute("INSERT INTO run VALUES (?,?,?)", (shelf, last, first))
            written.until = last
        if held is not None and self._count(shelf, written, len(runs)) > SPARE_RUNS + 2 * max(held, written.swept):
            self._to_sweep.setdefault(shelf, 0)
        return len(new)

    def _written_of(self, shelf: int) -> Written:
        written = self._written.get(shelf)
        if written is None:
            until = self._db.execute("SELECT max(last) FROM run WHERE shelf=?", (shelf,)).get
            written = self._written[shelf] = Written(until or 0)
        return written

    def _count(self, shelf: int, written: Written, more: int) -> int:
        """How many runs of a shelf are written, now that there are so many more."""
        if written.runs is None:
            written.runs = self._db.execute("SELECT count(*) FROM run WHERE shelf=?", (shelf,)).get
        else:
            written.runs += more
        return written.runs or 0

    def _has_any(self, shelf: int, run: Run) -> bool:
        return self._db.execute(_HAS_ANY, (*run, shelf)).get is not None

    # Clearing

    def sweep(self) -> bool:
        """Drop some runs that have no messages any more, where there are many; whether there may be more to do."""
        if not self._to_sweep:
            return False
        self._changed = True
        shelf, since = self._to_sweep.popitem()
        written = self._written_of(shelf)
        runs = self._db.execute(_AHEAD, (shelf, since, SWEPT_AT_ONCE)).fetchall()
        empty = [last for first, last in runs if not self._has_any(shelf, (first, last))]
        for last in empty:
            self._db.execute("DELETE FROM run WHERE shelf=? AND last=?", (shelf, last))
        left = self._count(shelf, written, -len(empty))
        if len(runs) == SWEPT_AT_ONCE:
            self._to_sweep[shelf] = runs[-1][1] + 1
        else:
            written.swept = left
        return bool(self._to_sweep)

    def forget(self, shelf: int) -> bool:
        """Of a shelf that is empty and nobody's: drop some of its runs; whether there may be more."""
        self._changed = True
        self._new_runs -= len(self._new.pop(shelf, []))
        self._to_sweep.pop(shelf, None)
        self._written.pop(shelf, None)
        self._floors.pop(shelf, None)
        runs = self._db.execute("SELECT last FROM run WHERE shelf=? LIMIT ?", (shelf, SWEPT_AT_ONCE)).fetchall()
        for (last,) in runs:
            self._db.execute("DELETE FROM run WHERE shelf=? AND last=?", (shelf, last))
        return len(runs) == SWEPT_AT_ONCE
