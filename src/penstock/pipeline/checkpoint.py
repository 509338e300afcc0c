"""A checkpoint is of one job into one table: its stamp says which, and a job that finds another's does not start."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from penstock.pipeline.density import Covered
from penstock.pipeline.files import Files, files
from penstock.pipeline.stamps import TableError

STAMP = "_penstock.json"
COVERED = "_covered.json"


@dataclass(frozen=True)
class Checkpoint:
    folder: Files
    query: str
    """The name under which this checkpoint's batches are committed."""
    fresh: bool

    @property
    def place(self) -> str:
        return self.folder.url()

    def covered(self, before: int | None = None) -> Covered:
        """What had been read before this batch; without a batch, until now."""
        kept = json.loads(self.folder.read(COVERED) or b"{}")
        again = before is not None and kept.get("batch", -1) >= before
        ranges = kept["before"] if again else kept.get("after", {})
        return {node: [(first, last) for first, last in found] for node, found in ranges.items()}

    def cover(self, batch: int, before: Covered, after: Covered) -> None:
        self.folder.replace(COVERED, json.dumps({"batch": batch, "before": before, "after": after}).encode())


def open_checkpoint(spark: SparkSession, place: str, job: str, about: Mapping[str, str]) -> Checkpoint:
    """`about` is what must not change between two runs: the table, and which events go into it."""
    folder = files(place, spark)
    stamp = {"job": job, **about}
    found = _found(folder)
    if found is None:
        if any(file.path.startswith(("offsets/", "commits/")) for file in folder.below()):
            raise TableError(f"{place} is a checkpoint that no job of Penstock made")
        query = uuid.uuid4().hex
        folder.create(STAMP, json.dumps({**stamp, "query": query}).encode())
        return Checkpoint(folder, query, fresh=True)
    for name, value in stamp.items():
        if found.get(name, value) != value:
            raise TableError(
                f"the checkpoint {place} is of another {name}: {found[name]!r}, not {value!r}. "
                "Name its own, or a new one with --checkpoint"
            )
    return Checkpoint(folder, found["query"], fresh=False)


def _found(folder: Files) -> dict[str, str] | None:
    content = folder.read(STAMP)
    try:
        return None if content is None else dict(json.loads(content))
    except ValueError:
        raise TableError(f"{folder.url(STAMP)} is not the stamp of a checkpoint") from None
