"""What the callers of one commit wait for.

One object for all of them instead of a future for each. To an asyncio task it is a future, and the task goes on in a
later turn of the loop. Whoever runs a coroutine without a task (`listeners/http_connection.py`) is called back within
the commit, so that its answer leaves in the same turn. It cannot be cancelled, since others wait for it too: a task
that is told to stop does so when the commit is over.
"""

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any

from penstock.core.errors import Unavailable


class Written:
    __slots__ = ("_asyncio_future_blocking", "_callbacks", "_done", "_loop", "_reason", "latest_first")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._done, self._reason = loop, False, ""
        self._callbacks: list[tuple[Callable[[Any], object], Context | None]] = []
        self.latest_first = False
        self._asyncio_future_blocking = False  # by its being there, asyncio knows a future

    def __await__(self) -> Generator["Written", None, None]:
        if not self._done:
            self._asyncio_future_blocking = True
            yield self
        if self._reason:
            raise Unavailable(self._reason)

    def tell(self, reason: str = "") -> None:
        """The commit is on disk, or for this reason it is not."""
        self._done, self._reason = True, reason
        if self.latest_first:
            self._callbacks.reverse()
        for callback, context in self._callbacks:
            if context is None:
                callback(self)
            else:
                self._loop.call_soon(callback, self, context=context)
        self._callbacks.clear()

    # What asyncio asks of a future. How the commit went is told to those who await it, each by an error of its own.

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:
        self._callbacks.append((callback, context))

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def result(self) -> None: ...

    def exception(self) -> None: ...

    def cancel(self, msg: object = None) -> bool:
        return False

    def cancelled(self) -> bool:
        return False
