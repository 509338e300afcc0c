"""Events on their way to the journal: committed with the changes they tell of, kept until the journal has them on disk.

The events of one commit are one row of lines, packed if some are alike. The journal is handed the lines after the
commit; when it says that they are in its files, the rows go with the next commit. So after any death of the process the
rows that are left say what the journal may lack.
"""

from collections.abc import Sequence

from penstock.core.journal import Batch, Journal
from penstock.core.outbox import Outbox
from penstock.stores.sqlite.database import Database

_LAST = "journal-seq"


class Outgoing:
    def __init__(self, db: Database, outbox: Outbox) -> None:
        self._db, self._outbox = db, outbox
        self._journal: Journal | None = None
        self._batch: Batch | None = None
        self._published = self._dropped = 0

    def attach(self, journal: Journal) -> None:
        self._journal = journal
        self._outbox.attach(journal.node, journal.level, self.last())

    def last(self) -> int:
        """The number of the last event that was committed; it outlives the rows."""
        kept = self._db.execute("SELECT value FROM keepsake WHERE name=?", (_LAST,)).get or 0
        return int(self._db.execute("SELECT last FROM outbox ORDER BY first DESC LIMIT 1").get or kept)

    def after(self, seq: int, limit: int) -> Sequence[Batch]:
        rows: list[Batch] = self._db.execute(
            "SELECT first, last, lines FROM outbox WHERE last>? ORDER BY first LIMIT ?", (seq, limit)
        ).fetchall()
        return rows

    def published(self, seq: int) -> None:
        """The journal has everything up to this number."""
        self._published = max(self._published, seq)

    @property
    def has_published(self) -> bool:
        """Whether there are rows to be dropped."""
        return self._published > self._dropped

    def write(self) -> None:
        """Into the transaction that is about to be committed."""
        self._batch = batch = self._outbox.take()
        if batch is not None:
            self._db.execute("INSERT INTO outbox VALUES (?,?,?)", batch)
        if self.has_published:
            self._dropped = self._published
            self._db.execute("DELETE FROM outbox WHERE first<=? AND last<=?", (self._dropped, self._dropped))
            self._db.execute("INSERT OR REPLACE INTO keepsake VALUES (?,?)", (_LAST, self._outbox.seq))

    def written(self) -> None:
        """The commit is on disk."""
        if self._batch is not None:
            self._outbox.committed()
            self.hand_over(self._batch)
            self._batch = None

    def hand_over(self, batch: Batch) -> None:
        """What is on disk."""
        if self._journal is not None:
            self._journal.committed(*batch)

    def forget(self) -> None:
        """The transaction was rolled back."""
        self._batch, self._dropped = None, 0
        self._outbox.forget()
