"""Deletes the messages of batches that Spark has committed, in a thread, while tasks receive the next one.

A batch is marked as settled when all of its messages are deleted, or noted as unsure. Until then the ids in its files
are those that a later batch must not have as rows again: `staged` looks there. So it does not matter when a driver is
killed, nor which of the two is faster.
"""

import threading
from collections.abc import Callable

from penstock.pipeline.sources.queue import calls, staged
from penstock.pipeline.sources.queue.keeper import Keeper
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.staging import Staging


class Settler:
    def __init__(self, settings: Settings, staging: Staging, keeper: Keeper, clock: Callable[[], float]) -> None:
        self._settings, self._staging, self._keeper, self._clock = settings, staging, keeper, clock
        self._client = settings.client()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self.begun = 0
        """The last batch that is settled, or about to be."""

    def unsettled(self, end: int) -> list[int]:
        return [
            batch for batch in self._staging.batches() if batch <= end and not self._staging.marked(batch, "settled")
        ]

    def begin(self, end: int) -> None:
        self.wait()
        self.begun = end
        self._thread = threading.Thread(target=self._run, args=(end,), name="penstock-queue-settler", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until what was begun is done; what went wrong with it is raised here."""
        if self._thread:
            self._thread.join()
        if self._failure:
            raise self._failure

    def stop(self, seconds: float) -> None:
        self._client.patience_seconds = seconds
        if self._thread:
            self._thread.join(seconds)
        self._client.close()

    def _run(self, end: int) -> None:
        try:
            for batch in self.unsettled(end):
                self._settle(batch)
            for batch in [batch for batch in self._staging.batches() if batch <= end][:-1]:
                self._keeper.forget(batch)
                self._staging.discard(batch)
        except Exception as failure:
            self._failure = failure

    def _settle(self, batch: int) -> None:
        unsure, sure = set[str](), set[str]()
        for path in self._staging.files(batch):
            held = staged.held(path)
            failed = calls.delete(self._client, self._settings.queue_url, [one.receipt for one in held])
            certain = self._keeper.sure(batch, path)
            for one in held:
                (sure if certain and one.receipt not in failed else unsure).add(one.message_id)
        self._staging.note_unsure(unsure - sure, sure, int(self._clock() * 1000))
        self._staging.mark(batch, "settled")
