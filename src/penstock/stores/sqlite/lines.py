"""The order in which a queue's ready messages are handed out. Reads only; the caller decides what becomes of them.

A standard queue without groups is one line, by the time since which a message is visible. Those that were never handed
out are visible since they came: they are fresh, have no place of their own, and stand in line as they came, so that
sending and receiving them leaves the index of places alone. With groups, the quiet ones and the messages without a
group are merged by that time, and the noisy ones follow, fewest in flight first. A FIFO queue gives, group by group,
the messages from a group's head up to the first that is hidden.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from itertools import chain, starmap, takewhile

from penstock.stores.sqlite.cards import COLUMNS, Card
from penstock.stores.sqlite.catalogue import READY, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.runs import Runs

_LINE = f"SELECT {COLUMNS} FROM message WHERE shelf=? AND grp=? AND place IS NOT NULL ORDER BY place, number"
_STANDS_FRESH = "state=0 AND place IS NULL"
_GROUPS = "FROM message_group WHERE shelf=?1 AND noisy=?2 AND available IS NOT NULL"
_IN_TURN = f"SELECT id, available, head {_GROUPS} ORDER BY available, head"
_LINE_IN_TURN = f"""SELECT {COLUMNS} FROM message
    WHERE shelf=?1 AND grp=(SELECT id {_GROUPS} ORDER BY available, head LIMIT 1) AND place IS NOT NULL
    ORDER BY place, number"""
_HEADS = f"""SELECT {", ".join(f"m.{column}" for column in COLUMNS.split(", "))}
    FROM message_group AS g CROSS JOIN message AS m ON m.shelf=g.shelf AND m.grp=g.id AND m.place=g.head
    WHERE g.shelf=? AND g.noisy=0 AND g.available IS NOT NULL ORDER BY g.available, g.head"""
_NOISY = f"SELECT id, in_flight {_GROUPS}"


def _turn(card: Card) -> tuple[int, int]:
    return card.enqueued if card.place is None else card.place, card.number


def _is_ready(card: Card) -> bool:
    return card.state == READY


class Lines:
    def __init__(self, db: Database, runs: Runs) -> None:
        self._db, self._runs = db, runs

    def ready(self, entry: Entry) -> Iterator[Card]:
        """Ready messages in the order of hand-out, found as they are asked for."""
        if entry.fifo:
            return self._fifo(entry)
        if entry.groups:
            return chain(self._quiet(entry), self._noisy(entry))
        return self._alone(entry)

    def _alone(self, entry: Entry) -> Iterator[Card]:
        """Messages without a group: those that came back or have been elsewhere, and those that are fresh."""
        fresh = self._fresh(entry)
        if not entry.placed:
            return fresh
        placed = self._line(entry, 0)
        first = next(placed, None)
        if first is None:
            entry.placed = False
            return fresh
        return heapq.merge(chain([first], placed), fresh, key=_turn)

    def _fresh(self, entry: Entry) -> Iterator[Card]:
        """As they came. Where the first of them was found is where the next call begins: it passes over nothing
        twice."""
        if entry.fresh is None:
            return iter(())
        cards = starmap(Card, self._runs.rows(entry.shelf, entry.fresh, COLUMNS, _STANDS_FRESH))
        first = next(cards, None)
        if first is None:
            entry.fresh = None
            return iter(())
        entry.fresh = first.number
        return chain([first], cards)

    def taken(self, entry: Entry, cards: Sequence[Card]) -> None:
        """All that is in line up to the last of these is fresh no more."""
        for card in reversed(cards):
            if card.place is None:
                entry.fresh = card.number + 1
                return

    def _line(self, entry: Entry, group: int) -> Iterator[Card]:
        return starmap(Card, self._db.execute(_LINE, (entry.shelf, group)))

    def _quiet(self, entry: Entry) -> Iterator[Card]:
        """Lines merged by turn. A group joins when its first message is next: groups come sorted by that."""
        groups = chain(self._db.execute(_IN_TURN, (entry.shelf, 0)), [(None, math.inf, 0)])
        heap: list[tuple[tuple[int, int], Card, Iterator[Card]]] = []
        self._join(heap, self._alone(entry))
        for group, available, head in groups:
            while heap and heap[0][0] < (available, head):
                _, card, line = heapq.heappop(heap)
                yield card
                self._join(heap, line)
            if group is not None:
                self._join(heap, self._line(entry, group))

    def _join(self, heap: list[tuple[tuple[int, int], Card, Iterator[Card]]], line: Iterator[Card]) -> None:
        if (card := next(line, None)) is not None:
            heapq.heappush(heap, (_turn(card), card, line))

    def _noisy(self, entry: Entry) -> Iterator[Card]:
        """There are few: each holds over a tenth of something."""
        heap = [
            (in_flight, group, self._line(entry, group))
            for group, in_flight in self._db.execute(_NOISY, (entry.shelf, 1)).fetchall()
        ]
        heapq.heapify(heap)
        while heap:
            in_flight, group, line = heap[0]
            if (card := next(line, None)) is None:
                heapq.heappop(heap)
            else:
                yield card
                heapq.heapreplace(heap, (in_flight + 1, group, line))

    def heads(self, entry: Entry) -> Iterator[Card]:
        """Of a FIFO queue: the first message of each group, if it is ready."""
        return filter(_is_ready, starmap(Card, self._db.execute(_HEADS, (entry.shelf,))))

    def _fifo(self, entry: Entry) -> Iterator[Card]:
        """Nearly always the first group has what is asked for: it is found together with its messages."""
        shelf, first = (entry.shelf, 0), None
        for card in starmap(Card, self._db.execute(_LINE_IN_TURN, shelf)):
            first = card.group
            if not _is_ready(card):
                break
            yield card
        if first is None:
            return
        for group, _, _ in self._db.execute(_IN_TURN, shelf):
            if group != first:
                yield from takewhile(_is_ready, self._line(entry, group))
