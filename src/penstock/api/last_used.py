"""When each permanent key was last used, where and for what: noted in memory on every request, written now and then.

A note costs a request one assignment. What is written is up to a minute old, and a crash loses that minute.
"""

import msgspec

from penstock.api.identities import Identities
from penstock.core.directory import AccessKey

MOST_AT_ONCE = 500

Use = tuple[int, str, str]
"""When (epoch ms), in which region, of which service."""


class LastUsed:
    def __init__(self) -> None:
        self._uses: dict[str, Use] = {}

    def note(self, access_key: str, region: str, service: str, now: int) -> None:
        """Only of keys that proved to be someone's: nothing that strangers make up is remembered."""
        self._uses[access_key] = now, region, service

    async def write(self, identities: Identities) -> bool:
        """Whether there is more to write. Keys that settings name are kept nowhere, and those deleted are forgotten."""
        noted = [self._uses.popitem() for _ in range(min(len(self._uses), MOST_AT_ONCE))]
        if any(name in identities.directory.keys for name, _ in noted):
            try:
                async with identities.changing() as directory:
                    there = [(directory.keys[name], use) for name, use in noted if name in directory.keys]
                    await identities.save(*(_used(key, use) for key, use in there))
            except Exception:
                self._uses = dict(noted) | self._uses
                raise
        return bool(self._uses)


def _used(key: AccessKey, use: Use) -> AccessKey:
    at, region, service = use
    return msgspec.structs.replace(key, used=max(at, key.used or 0), used_region=region, used_service=service)
