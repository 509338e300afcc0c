"""Writes down once a minute which keys were used since: never a write for a request."""

from penstock.api.identities import Identities
from penstock.api.last_used import LastUsed

EVERY_MS = 60_000
REST_MS = 1000


class UseWriter:
    name = "last used"

    def __init__(self, used: LastUsed, identities: Identities) -> None:
        self._used, self._identities = used, identities

    async def run_once(self, now: int) -> int:
        more = await self._used.write(self._identities)
        return now + (REST_MS if more else EVERY_MS)
