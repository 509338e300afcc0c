"""Windows of metrics that were put here: one row each, found and forgotten by time. All nine metrics take 125 bytes."""

from collections.abc import Sequence

import msgspec

from penstock.core.metrics import NAMES, Statistics
from penstock.core.queue import QueueKey
from penstock.core.series import KEPT_DAYS, PERIODS, Metrics, Window, kept_from
from penstock.stores.sqlite.database import Database

ROWS_AT_ONCE = 500

_Packed = list[Statistics | None]
"""Statistics in the order of NAMES; so a further metric can only be added at its end."""
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Packed).decode


class Series:
    def __init__(self, db: Database) -> None:
        self._db = db
        self.keep_days = KEPT_DAYS

    def put(self, windows: Sequence[Window]) -> None:
        numbers = {queue: self._number(queue) for queue in dict.fromkeys(window.queue for window in windows)}
        for window in windows:
            self._db.execute(
                "INSERT OR REPLACE INTO series VALUES (?,?,?,?)",
                (numbers[window.queue], window.period_seconds, window.start, _pack([*map(window.metrics.get, NAMES)])),
            )

    def of(self, queue: QueueKey, period_seconds: int, start: int, end: int, limit: int) -> dict[int, Metrics]:
        rows = self._db.execute(
            "SELECT start, metrics FROM series JOIN measured ON queue=id WHERE region=? AND account=? AND name=? "
            "AND period=? AND start>=? AND start<? ORDER BY start LIMIT ?",
            (*queue, period_seconds, start, end, limit),
        )
        return {at: _unpacked(packed) for at, packed in rows}

    def queues(self, region: str, account: str, since: int, after: str, limit: int) -> list[str]:
        recent = " OR ".join(
            f"EXISTS (SELECT 1 FROM series WHERE queue=id AND period={period} AND start>=?)" for period in PERIODS
        )
        rows = self._db.execute(
            f"SELECT name FROM measured WHERE region=? AND account=? AND name>? AND ({recent}) ORDER BY name LIMIT ?",
            (region, account, after, *(since for _ in PERIODS), limit),
        )
        return [name for (name,) in rows]

    def abandon(self, account: str) -> None:
        """Its queues lose their names, so nobody finds their windows; `forget` clears them away."""
        self._db.execute("UPDATE measured SET region='', account='', name=id WHERE account=?", (account,))

    def forget(self, now: int) -> bool:
        """Some of the oldest, if they are not to be kept any more, and of the abandoned; whether there may be more."""
        too_old = (
            self._forget("period=? AND start<? ORDER BY start", period, kept_from(period, self.keep_days, now))
            for period in PERIODS
        )
        return any(too_old) or self._forget("queue IN (SELECT id FROM measured WHERE region='' AND account='')")

    def _forget(self, which: str, *bindings: int) -> bool:
        rows = self._db.execute(
            f"SELECT queue, period, start FROM series WHERE {which} LIMIT ?", (*bindings, ROWS_AT_ONCE)
        ).fetchall()
        for row in rows:
            self._db.execute("DELETE FROM series WHERE queue=? AND period=? AND start=?", row)
        for queue in {queue for queue, _, _ in rows}:
            self._db.execute(
                "DELETE FROM measured WHERE id=? AND NOT EXISTS (SELECT 1 FROM series WHERE queue=id)", (queue,)
            )
        return len(rows) == ROWS_AT_ONCE

    def _number(self, queue: QueueKey) -> int:
        self._db.execute("INSERT OR IGNORE INTO measured (region, account, name) VALUES (?,?,?)", tuple(queue))
        number: int = self._db.execute(
            "SELECT id FROM measured WHERE region=? AND account=? AND name=?", tuple(queue)
        ).get
        return number


def _unpacked(packed: bytes) -> dict[str, Statistics]:
    pairs = zip(NAMES, _unpack(packed), strict=False)
    return {name: values for name, values in pairs if values is not None}
