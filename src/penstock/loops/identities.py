"""Sees within a second what another process changed of accounts, users, policies and keys."""

from penstock.api.identities import Identities

EVERY_MS = 500


class Refresher:
    name = "identities"

    def __init__(self, identities: Identities) -> None:
        self._identities = identities

    async def run_once(self, now: int) -> int | None:
        await self._identities.refresh()
        return now + EVERY_MS
