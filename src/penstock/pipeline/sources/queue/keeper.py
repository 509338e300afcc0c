"""Keeps the messages of a running batch hidden, and knows for which that can no longer be said.

A file's messages are surely ours from the plan of their batch, before which none was received, for one window; then for
one more from each extension that succeeded in time. The clock is the driver's alone. Once a window may have ended,
nothing makes it sure again: another receive may have superseded the receipts.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.pipeline.sources.queue import calls, staged
from penstock.pipeline.sources.queue.options import Settings
from penstock.pipeline.sources.queue.staging import Staging

EXTEND_BELOW = 2 / 3
"""Extend when less than this part of a window is left."""


@dataclass
class Keeper:
    settings: Settings
    staging: Staging
    clock: Callable[[], float] = time.time
    _surely_until: dict[Path, float] = field(default_factory=dict)
    _lost: set[Path] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="penstock-queue-keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def sure(self, batch: int, path: Path) -> bool:
        """Whether all messages of the file have been ours without a gap, up to now."""
        return self.clock() < self._until(batch, path) and path not in self._lost

    def _until(self, batch: int, path: Path) -> float:
        if path not in self._surely_until:
            plan = self.staging.plan(batch)
            made = plan.made_ms / 1000 if plan and not self.staging.marked(batch, "given-back") else 0.0
            self._surely_until[path] = made + self.settings.visibility_seconds
        return self._surely_until[path]

    def _run(self) -> None:
        while not self._over.wait(self.settings.visibility_seconds / 10):
            try:
                self.extend()
            except Exception:
                continue  # whatever it is, windows that end for it are noticed when their batch is settled

    def extend(self) -> None:
        """Files that are due, of batches under way. A settled batch is nobody's concern any more."""
        for batch in self.staging.batches():
            if self.staging.marked(batch, "settled"):
                continue
            for path in self.staging.files(batch):
                left = self._until(batch, path) - self.clock()
                if left < EXTEND_BELOW * self.settings.visibility_seconds:
                    self._extend(batch, path)

    def _extend(self, batch: int, path: Path) -> None:
        window, began = self.settings.visibility_seconds, self.clock()
        receipts = [one.receipt for one in staged.held(path)]
        with self.settings.client() as client:
            failed = calls.hide(client, self.settings.queue_url, receipts, window)
        if failed or self.clock() >= self._until(batch, path):
            self._lost.add(path)  # before the window below moves: `sure` looks at them the other way round
        self._surely_until[path] = began + window

    def forget(self, batch: int) -> None:
        for path in self.staging.files(batch):
            self._surely_until.pop(path, None)
            self._lost.discard(path)
