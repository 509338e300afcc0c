"""High-water marks, which no restart may lower: the last number that was given, and the latest time that was told.

Neither is written at every change: numbers are set aside on disk in blocks, and the time is noted now and then.
"""

from penstock.stores.sqlite.database import Database

NUMBERS_AT_ONCE = 10_000
TIME_NOTED_EVERY_MS = 100


class Marks:
    def __init__(self, db: Database) -> None:
        self._db = db
        self.number = self.numbers_end = self.noted_time = 0
        """The last number that was given, and the last of those that were set aside."""

    def load(self) -> None:
        self.number = self.numbers_end = self._db.execute("SELECT value FROM keepsake WHERE name='numbers'").get or 0

    def next_number(self) -> int:
        """One never given before, also not before a restart."""
        return self.numbers(1)

    def numbers(self, count: int) -> int:
        """So many that follow one another: the first of them."""
        first = self.number + 1
        self.number += count
        if self.number > self.numbers_end:
            self.numbers_end = self.number + NUMBERS_AT_ONCE
            self._db.execute("INSERT OR REPLACE INTO keepsake VALUES ('numbers', ?)", (self.numbers_end,))
        return first

    def known_time(self) -> int:
        known: int | None = self._db.execute("SELECT value FROM keepsake WHERE name='time'").get
        return known or 0

    def note_time_if_due(self, latest: int) -> None:
        if self.is_time_due(latest):
            self.note_time(latest)

    def is_time_due(self, latest: int) -> bool:
        return latest > self.noted_time + TIME_NOTED_EVERY_MS

    def note_time(self, now: int) -> None:
        self.noted_time = now
        self._db.execute("INSERT OR REPLACE INTO keepsake VALUES ('time', ?)", (now,))
