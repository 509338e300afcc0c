"""A coroutine that is run step by step, as far as it gets without waiting: a task around each request costs more than
many a request. It may wait for whatever can be told to call back, and never for what needs a task."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Stepwise(Generic[T]):
    """`done` is told what it returned, or `failed` what it raised, from within `step`; after `cancel` nobody is."""

    __slots__ = ("_done", "_failed", "_loop", "_running")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        running: Coroutine[Any, Any, T],
        done: Callable[[T], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._loop, self._done, self._failed = loop, done, failed
        self._running: Coroutine[Any, Any, T] | None = running

    @property
    def over(self) -> bool:
        return self._running is None

    def step(self, waited_for: asyncio.Future[Any] | None = None) -> None:
        running = self._running
        if running is None:  # cancelled: nobody will look at what it waited for
            if waited_for is not None and not waited_for.cancelled():
                waited_for.exception()
            return
        try:
            awaited = running.send(None)
        except StopIteration as end:
            self._running = None
            self._done(end.value)
        except (Exception, asyncio.CancelledError) as error:
            self._running = None
            self._failed(error)
        else:
            if awaited is None:
                self._loop.call_soon(self.step)
            else:
                awaited.add_done_callback(self.step)

    def cancel(self) -> Exception | None:
        """Nobody waits for its end any more. What it has done stays done. What went wrong, if anything did."""
        running, self._running = self._running, None
        if running is not None:
            try:
                running.throw(asyncio.CancelledError())
                running.close()
            except (StopIteration, asyncio.CancelledError):
                pass
            except Exception as error:
                return error
        return None
