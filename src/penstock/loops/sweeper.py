"""Makes messages ready on time, drops expired ones and clears away what was purged or deleted."""

from penstock.core.store import Store


class Sweeper:
    name = "sweeper"

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run_once(self, now: int) -> int | None:
        return await self._store.sweep(now)
