"""What the store in memory remembers beside queues: values by name, and records with one version for all of them."""

from collections.abc import Sequence

from penstock.core.directory import Record, RecordKey
from penstock.core.keyring import Keyring
from penstock.core.store import RecordsChanged


class Keepsakes:
    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, bytes] = {}
        self._records: dict[RecordKey, bytes] = {}
        self._version = 0

    async def keep(self, name: str, value: bytes) -> bytes:
        return self._kept.setdefault(name, value)

    async def put(self, name: str, value: bytes) -> None:
        self._kept[name] = value

    async def records(self) -> tuple[int, Sequence[Record]]:
        return self._version, [Record(key, value) for key, value in self._records.items()]

    async def records_version(self) -> int:
        return self._version

    async def change_records(self, version: int, saved: Sequence[Record], removed: Sequence[RecordKey]) -> int:
        if version != self._version:
            raise RecordsChanged
        self._records.update((record.key, record.value) for record in saved)
        for key in removed:
            self._records.pop(key, None)
        self._version += 1
        return self._version

    def attach_keys(self, keyring: Keyring) -> None:
        """There is no file in which anything could lie in clear."""

    async def reseal(self) -> int:
        return 0
