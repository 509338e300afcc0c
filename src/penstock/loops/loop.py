"""A background service that runs when something is due, and sleeps without a timer's tick in between."""

import asyncio
import contextlib
from typing import Protocol

import structlog

from penstock.core.clock import Clock
from penstock.core.errors import Unavailable

log = structlog.get_logger("penstock")

PAUSE_AFTER_ERROR_MS = 1000


class Service(Protocol):
    name: str

    async def run_once(self, now: int) -> int | None:
        """Do what is due; return when to run again (epoch ms), or None for: when woken."""


class Loop:
    """Runs a service at the times it asks for. `expect` brings the next run forward."""

    def __init__(self, service: Service, clock: Clock) -> None:
        self._service, self._clock = service, clock
        self._wake = asyncio.Event()
        self._next: int | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name=self._service.name)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def expect(self, at: int) -> None:
        """Something will be due at this time."""
        if self._next is None or at < self._next:
            self._next = at
            self._wake.set()

    async def _run(self) -> None:
        while True:
            self._next = await self._step()
            while (wait := self._seconds()) is None or wait > 0:
                self._wake.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):  # `wait_for` loses a cancellation that meets what it waits for
                        await self._wake.wait()
            await asyncio.sleep(0)

    async def _step(self) -> int | None:
        now = self._clock.now()
        try:
            return await self._service.run_once(now)
        except Unavailable as error:
            log.warning("background service waits for the store", service=self._service.name, reason=str(error))
            return now + PAUSE_AFTER_ERROR_MS
        except Exception:
            log.exception("background service failed", service=self._service.name)
            return now + PAUSE_AFTER_ERROR_MS

    def _seconds(self) -> float | None:
        return None if self._next is None else (self._next - self._clock.now()) / 1000
