"""What the journal needs done in the background: lines made to last, segments published, old ones deleted.

It sleeps while nothing happens: the journal wakes it with the first event after a pause.
"""

from penstock.core.store import Store
from penstock.journal.keeping import JournalOfServer
from penstock.journal.writer import FULL_DISK

SYNC_EVERY_MS = 1000
MINUTE_MS = 60_000


class JournalKeeper:
    name = "journal"

    def __init__(self, journal: JournalOfServer, store: Store) -> None:
        self._journal, self._store = journal, store
        self._retain_at = 0

    async def run_once(self, now: int) -> int | None:
        writer = self._journal.writer
        try:
            await self._journal.settle(now)
            if self._retain_at <= now:  # first, because it makes room for the rest
                self._retain_at = now + MINUTE_MS
                await self._journal.enforce_retention()
            await writer.catch_up(self._store)
            opened = writer.open
            if opened and opened.since + self._journal.keeping.segment_seconds * 1000 <= now:
                writer.roll()
            await writer.sync(self._store)
            await writer.publish()
        except OSError as error:
            if error.errno not in FULL_DISK:
                self._journal.on_fatal(error)
            writer.full = True
        else:
            writer.full = writer.full and writer.behind
        return self._next(now)

    def _next(self, now: int) -> int:
        """A second later while there is something to make last; else when a segment is over, or one may be too old."""
        writer = self._journal.writer
        if not self._journal.idle:
            return now + SYNC_EVERY_MS
        writer.rest()
        due = [self._retain_at]
        if writer.open:
            due.append(writer.open.since + self._journal.keeping.segment_seconds * 1000)
        return max(now + 1, min(due))
