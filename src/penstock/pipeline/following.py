"""Follows the journal batch by batch, for every job that does: has the job commit, and accounts for what was read.

A batch is committed in this order, and may be tried again after a crash at any point of it:

    1  the job's tables, which know a batch that they have
    2  `_corrupt`: what the batch could not read, or should have had
    3  the checkpoint: how far each node is
    4  the server, if it knows us as a reader: what it need no longer keep for us

Spark plans the same files for a batch that is tried again, so each step finds the same.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import density, events, streaming
from penstock.pipeline.ask import Ask
from penstock.pipeline.checkpoint import Checkpoint, open_checkpoint
from penstock.pipeline.inputs import open_input
from penstock.pipeline.progress import Progress, Step
from penstock.pipeline.ranges import total
from penstock.pipeline.schemas import CORRUPT
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import Batch, Day, Table, open_table

Write = Callable[[DataFrame, Batch], int | None]
"""Commits the events of a batch; the number of rows, or None if all of it had been committed before."""
WriteDay = Callable[[DataFrame, Batch, Callable[[], Day | None]], int | None]
"""Commits events without their date if they turn out to be of one day: see `Table.append_day`."""


@dataclass(frozen=True)
class Job:
    """`tables` are those that `write` fills; the first is the one that the checkpoint belongs to."""

    ask: Ask
    tables: Sequence[Table]
    write: Write
    write_day: WriteDay | None = None
    """The quick way for a batch of one day, where the job has one."""
    late: Callable[[], int] = lambda: 0
    """How many events have come too late for what they belong to, where that can be."""


def follow(spark: SparkSession, job: Job) -> int:
    follower = Follower(spark, job)
    try:
        if job.ask.dry_run:
            print(follower.plan())  # noqa: T201 - what was asked for
        else:
            follower.run()
    finally:
        follower.close()
    return 0


class Follower:
    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark, self._job, self._ask = spark, job, job.ask
        self._progress = Progress(self._ask.job)
        self._corrupt = open_table(spark, self._ask.out, CORRUPT)
        self._checkpoint = self._open()
        self._input = open_input(spark, self._ask, self._checkpoint)
        self._found = 0

    def _open(self) -> Checkpoint:
        ask, table = self._ask, self._job.tables[0]
        about = {"table": table.id, "queues": " ".join(sorted(ask.queue)), "accounts": " ".join(sorted(ask.account))}
        opened = open_checkpoint(self._spark, ask.checkpoint_place, ask.job, about)
        if opened.fresh and table.writers():
            raise TableError(
                f"the table {table.schema.name!r} in {ask.out} was filled with another checkpoint than "
                f"{opened.place}, which is new: name that one, or another --out"
            )
        return opened

    def plan(self) -> str:
        waiting = self._input.waiting(self._checkpoint.covered())
        names = ", ".join(table.schema.name for table in self._job.tables)
        target = f"{names} in {self._ask.out} ({self._ask.format}), checkpoint {self._checkpoint.place}"
        return f"{self._ask.job}: {waiting:,} events of {self._input.name} → {target}"

    def close(self) -> None:
        self._input.close()

    def run(self) -> None:
        for table in (*self._job.tables, self._corrupt):
            table.tidy(self._checkpoint.query)
        pace = streaming.Pace(self._ask.once, self._ask.every)
        streaming.run(self._input.stream(), self._batch, self._checkpoint.place, pace)
        took = self._progress.seconds
        self._progress.end(
            f"{self._ask.job}: {self._told()} in {took:.1f} s"
            + (f", {self._found:,} findings in {CORRUPT.name}" if self._found else "")
        )

    def _told(self) -> str:
        """Batches of a remote session are committed, and counted, on its server."""
        return f"{self._progress.rows:,} rows" if getattr(self._spark, "_jvm", None) else "done"

    def _batch(self, lines: DataFrame, number: int) -> None:
        began = time.monotonic()
        batch = Batch(self._checkpoint.query, number)
        rows, count = self._quickly(batch, number) or self._carefully(lines, batch)
        before = self._checkpoint.covered(number)
        findings, after = self._input.examine(lines, count, before, number)
        if findings:
            self._corrupt.append(density.rows(self._spark, findings, self._ask.job), batch)
        self._checkpoint.cover(number, before, after)
        self._input.acknowledge(after)
        self._found += len(findings)
        done, waiting = sum(map(total, after.values())), self._input.waiting(after)
        took, late = time.monotonic() - began, self._job.late()
        self._progress.show(Step(number, rows or 0, took, done, waiting, self._found, late))

    def _quickly(self, batch: Batch, number: int) -> tuple[int, density.Count] | None:
        if self._job.write_day is None or (whole := self._input.whole(number)) is None:
            return None
        rows = self._job.write_day(whole.rows, batch, whole.day)
        return None if rows is None else (rows, whole.count)

    def _carefully(self, lines: DataFrame, batch: Batch) -> tuple[int | None, density.Count]:
        census = density.Census()
        counted = census.of(lines)
        rows = self._job.write(self._chosen(counted), batch)
        if rows is None:
            counted.write.format("noop").mode("overwrite").save()  # committed before: only to know what was in it
        return rows, census.result()

    def _chosen(self, lines: DataFrame) -> DataFrame:
        rows = events.readable(lines)
        for column, wanted in (("queue", self._ask.queue), ("account", self._ask.account)):
            if wanted:
                rows = rows.where(F.col(column).isin(*wanted))
        return rows
