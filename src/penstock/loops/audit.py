"""What the audit log needs done in the background: lines made to last, what was counted told, old files removed.

It sleeps while nothing happens: the log wakes it with the first entry after a pause.
"""

from penstock.audit.log import Log
from penstock.core.errors import Unavailable

SAVE_EVERY_MS = 1000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000


class AuditKeeper:
    name = "audit"

    def __init__(self, audit: Log) -> None:
        self._audit = audit
        self._summarise_at: int | None = None
        self._forget_at = 0

    async def run_once(self, now: int) -> int | None:
        if self._summarise_at is not None and self._summarise_at <= now:
            self._summarise_at = None
            self._audit.summarise(now)
        try:
            await self._audit.lasting()
            if self._forget_at <= now:
                self._forget_at = now + HOUR_MS
                await self._audit.forget(now)
        except Unavailable:  # the log has said so
            return now + SAVE_EVERY_MS
        return self._next(now)

    def _next(self, now: int) -> int:
        if self._summarise_at is None and self._audit.counted:
            self._summarise_at = now + MINUTE_MS
        soon = self._forget_at if self._audit.idle else now + SAVE_EVERY_MS
        return min(soon, self._forget_at, self._summarise_at or self._forget_at)
