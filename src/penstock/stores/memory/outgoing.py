"""Events on their way to the journal, for as long as the process lives."""

from collections.abc import Sequence

from penstock.core.journal import Batch, Journal
from penstock.core.outbox import Outbox


class Outgoing:
    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._batches: list[Batch] = []
        self._journal: Journal | None = None

    def attach(self, journal: Journal) -> None:
        self._journal = journal
        self._outbox.attach(journal.node, journal.level, self.last())

    def last(self) -> int:
        return self._outbox.seq - len(self._outbox)

    def after(self, seq: int, limit: int) -> Sequence[Batch]:
        return [batch for batch in self._batches if batch[1] > seq][:limit]

    def published(self, seq: int) -> None:
        self._batches = [batch for batch in self._batches if batch[1] > seq]

    def commit(self) -> None:
        batch = self._outbox.take()
        if batch and self._journal:
            self._outbox.committed()
            self._batches.append(batch)
            self._journal.committed(*batch)
