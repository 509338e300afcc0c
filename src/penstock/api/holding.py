"""Holds refusals back until a moment that does not depend on how long they took to decide.

A thread of its own wakes them, because the loop's timers count whole milliseconds from the moment they are set: the
work before that would be seen in every answer. It refuses to know what is held, and why.
"""

import asyncio
import time
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

Waiting = tuple[float, asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Holding:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: SimpleQueue[Waiting] = SimpleQueue()
        self._thread: Thread | None = None

    async def since(self, started: float) -> None:
        """Until so long after a moment of `perf_counter`. Moments are expected to come in order."""
        until = started + self._seconds
        if until <= time.perf_counter():
            return
        if self._thread is None:
            self._thread = Thread(target=self._wake, name="holding", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        released = loop.create_future()
        self._waiting.put((until, loop, released))
        await released

    def _wake(self) -> None:
        while True:
            until, loop, released = self._waiting.get()
            time.sleep(max(0.0, until - time.perf_counter()))
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_release, released)


def _release(released: "asyncio.Future[None]") -> None:
    if not released.done():
        released.set_result(None)
