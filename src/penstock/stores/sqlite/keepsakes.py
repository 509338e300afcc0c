"""What is remembered beside queues: values by name, and records with one version for all of them."""

from collections.abc import Sequence

from penstock.core.directory import Record, RecordKey
from penstock.core.store import RecordsChanged
from penstock.stores.sqlite.database import Database

_VERSION = "records-version"


class Keepsakes:
    def __init__(self, db: Database) -> None:
        self._db = db

    def keep(self, name: str, value: bytes) -> bytes:
        self._db.execute("INSERT OR IGNORE INTO keepsake VALUES (?,?)", (name, value))
        kept: bytes = self._db.execute("SELECT value FROM keepsake WHERE name=?", (name,)).get
        return kept

    def put(self, name: str, value: bytes | int) -> None:
        self._db.execute("INSERT OR REPLACE INTO keepsake VALUES (?,?)", (name, value))

    def records(self) -> tuple[int, Sequence[Record]]:
        rows = self._db.execute("SELECT kind, account, name, value FROM record").fetchall()
        return self.version(), [Record(RecordKey(*key), value) for *key, value in rows]

    def version(self) -> int:
        known: int | None = self._db.execute("SELECT value FROM keepsake WHERE name=?", (_VERSION,)).get
        return known or 0

    def change(self, version: int, saved: Sequence[Record], removed: Sequence[RecordKey]) -> int:
        if version != self.version():
            raise RecordsChanged
        for record in saved:
            self._db.execute("INSERT OR REPLACE INTO record VALUES (?,?,?,?)", (*record.key, record.value))
        for key in removed:
            self._db.execute("DELETE FROM record WHERE kind=? AND account=? AND name=?", key)
        self.put(_VERSION, version + 1)
        return version + 1
