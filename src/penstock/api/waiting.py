"""Long polls: receivers parked until a message can be had, at no cost while they wait.

Waiters of a queue are woken in the order in which they came, one for each sign that a message may be there. One
that finds nothing takes its old place again. A waiter whose client has gone is cancelled and takes nothing.

Whoever can be served without looking by itself says so when it begins to wait: then it may be called instead of woken.

Between looking and waiting a receiver is in nobody's line, and a sign then would pass it by. So it takes down how many
signs there were before it looks, and does not wait if there are more by then.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

_Waiter = asyncio.Future[bool]


Place = tuple[int, _Waiter, Any]
"""Of one who waits: its ticket, what it waits for, and what it can be served by without looking itself, if it can."""


class WaitingRoom:
    def __init__(self) -> None:
        self.lines: dict[int, list[Place]] = {}
        """Of the queues at which somebody waits."""
        self._tickets = count()
        self._parked: Counter[str] = Counter()
        self._signs: dict[int, int] = {}
        self.closed = False

    def __len__(self) -> int:
        return self._parked.total()

    def parked(self, account: str) -> int:
        return self._parked[account]

    def ticket(self) -> int:
        """A place in the order of arrival; a receiver keeps it for as long as it waits."""
        return next(self._tickets)

    def signs(self, queue_id: int) -> int:
        """How many signs of messages there were for this queue."""
        return self._signs.get(queue_id, 0)

    async def wait(
        self, queue_id: int, account: str, ticket: int, seconds: float, signs: int, served_by: Any = None
    ) -> bool:
        """True once there may be a message, or one was given to whoever said what it can be served by; false when the
        time is over or the room closes. `signs` are those that were there before the receiver looked."""
        if self.closed or seconds <= 0:
            return False
        if self.signs(queue_id) != signs:
            return True
        loop = asyncio.get_running_loop()
        waiter: _Waiter = loop.create_future()
        heapq.heappush(self.lines.setdefault(queue_id, []), (ticket, waiter, served_by))
        timer = loop.call_later(seconds, _finish, waiter, False)
        self._parked[account] += 1
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.cancel():  # not woken yet
                raise
            if not waiter.cancelled() and waiter.result():
                self.wake(queue_id)
            raise
        finally:
            timer.cancel()
            self._parked[account] -= 1
            self._tidy(queue_id)

    def wake(self, queue_id: int, messages: int = 1) -> bool:
        """There may be so many messages: let as many look, the first in line first. Whether anyone does."""
        self._signs[queue_id] = self._signs.get(queue_id, 0) + 1
        line, left = self.lines.get(queue_id), messages
        while line and left:
            _, waiter, _ = heapq.heappop(line)
            left -= _finish(waiter, True)
        return left < messages

    def call(self, queue_id: int, messages: int) -> list[Place] | None:
        """Those who are first in line for so many messages, out of line: they are to be served, and then to be
        `dismiss`ed, or to take their places again (`keep_waiting`). None if one of them has to look by itself."""
        line, called = self.lines[queue_id], list[Place]()
        while line and len(called) < messages:
            place = heapq.heappop(line)
            if place[1].done():
                continue
            called.append(place)
            if place[2] is None:
                self.keep_waiting({queue_id: called})
                return None
        return called

    def keep_waiting(self, called: Mapping[int, Iterable[Place]]) -> None:
        """By queue."""
        for queue_id, places in called.items():
            for place in places:
                heapq.heappush(self.lines[queue_id], place)

    def dismiss(self, called: Iterable[Place]) -> None:
        for _, waiter, _ in called:
            _finish(waiter, True)

    def wake_all(self, queue_id: int) -> None:
        """The queue is gone."""
        self._signs.pop(queue_id, None)
        for _, waiter, _ in self.lines.pop(queue_id, ()):
            _finish(waiter, True)

    def close(self) -> None:
        """Answer everyone now, and let nobody wait again."""
        self.closed = True
        for line in self.lines.values():
            for _, waiter, _ in line:
                _finish(waiter, False)

    def _tidy(self, queue_id: int) -> None:
        """Drop those who left from the head of the line, and the line when it is empty."""
        line = self.lines.get(queue_id)
        while line and line[0][1].done():
            heapq.heappop(line)
        if not line:
            self.lines.pop(queue_id, None)


def _finish(waiter: _Waiter, woken: bool) -> bool:
    if waiter.done():
        return False
    waiter.set_result(woken)
    return True
