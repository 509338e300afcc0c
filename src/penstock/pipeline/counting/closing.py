"""How far windows are closed: a minute in a file beside the checkpoint, planned before anything is written.

A batch that is tried again finds what it planned, so it closes the same windows, whatever `--lateness` says now.
"""

import json
from typing import Any

from pyspark.sql import SparkSession

from penstock.pipeline.files import files
from penstock.pipeline.tables import Batch

FILE = "_closed.json"
FINAL = "final"
"""The query under which windows are closed that no event has closed."""


class Closing:
    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._folder = files(checkpoint, spark)

    def reached(self) -> int | None:
        """Everything before this minute is closed, or about to be; None if no job has been here."""
        kept = self._kept()
        return kept["after"] if kept else None

    def planned(self) -> Batch | None:
        """The last batch that planned."""
        kept = self._kept()
        return Batch(kept["query"], kept["number"]) if kept else None

    def before(self, batch: Batch) -> int:
        """What was closed when this batch began."""
        kept = self._kept()
        if kept is None:
            return 0
        return int(kept["before"] if self.planned() == batch else kept["after"])

    def plan(self, batch: Batch, after: int) -> int:
        """What is closed when this batch ends: what was planned for it first, and never less than before."""
        kept = self._kept()
        if kept and self.planned() == batch:
            return int(kept["after"])
        before = self.before(batch)
        after = max(before, after)
        plan = {"query": batch.query, "number": batch.number, "before": before, "after": after}
        self._folder.replace(FILE, json.dumps(plan).encode())
        return after

    def _kept(self) -> dict[str, Any] | None:
        content = self._folder.read(FILE)
        return json.loads(content) if content else None
