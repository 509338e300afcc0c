"""Journal → table `lifecycle`: a row for every stay of a message in a queue, when it has ended.

What has not ended is in the table `lifecycle_open`, which is the memory of the job and replaced with each batch. What
ended is written first and what is open last: killed between the two, a batch finds the same open stays again, ends the
same ones, and the table knows that it has them.

The memory is in parts by the day on which a message was first seen, and a batch reads and writes only those days that
it touches: a backlog of last week costs today's batches a look at its keys.
"""

from collections.abc import Callable, Iterable
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import stays
from penstock.pipeline.ask import Ask
from penstock.pipeline.checkpoint import Checkpoint
from penstock.pipeline.density import Covered
from penstock.pipeline.events import JournalError
from penstock.pipeline.files import files
from penstock.pipeline.following import Job, follow
from penstock.pipeline.schemas import LIFECYCLE, LIFECYCLE_OPEN, PARTITION
from penstock.pipeline.tables import Batch, Table, open_table


def run(spark: SparkSession, ask: Ask) -> int:
    ended = open_table(spark, ask.out, LIFECYCLE, ask.format)
    memory = open_table(spark, ask.out, LIFECYCLE_OPEN, ask.format)
    checkpoint = Checkpoint(files(ask.checkpoint_place, spark), query="", fresh=False)
    recorder = Recorder(ended, memory, ask.own["give_up_after"], checkpoint.covered)
    return follow(spark, Job(ask, [ended, memory], recorder.write))


class Recorder:
    def __init__(
        self,
        ended: Table,
        memory: Table,
        give_up_days: int,
        covered: Callable[[int], Covered] = lambda batch: {},
    ) -> None:
        self._ended, self._memory, self._give_up_days, self._covered = ended, memory, give_up_days, covered

    def write(self, events: DataFrame, batch: Batch) -> int | None:
        if self._memory.has(batch):
            return None
        told = stays.told(events).persist()
        try:
            covers = stays.extent(told)
            return 0 if covers is None else self._commit(told, covers, batch)
        finally:
            told.unpersist()

    def _commit(self, told: DataFrame, covers: stays.Extent, batch: Batch) -> int:
        self._in_order(covers, self._covered(batch.number or 0))
        open_before = self._memory.read()
        days = covers.days | self._touched(open_before, told, covers)
        merged = stays.merge(told, open_before.where(_of(days)), covers, self._give_up_days).persist()
        try:
            rows = self._ended.append(stays.ended(merged, self._give_up_days), batch)
            self._memory.replace(stays.open_stays(merged), batch, sorted(map(str, days)))
        finally:
            merged.unpersist()
        return rows or 0

    def _in_order(self, covers: stays.Extent, read: Covered) -> None:
        """Spark takes files by their time of change; with an end before its beginning, rows would be wrong for good."""
        for node, first in covers.firsts.items():
            last = max((last for _, last in read.get(node, ())), default=0)
            if first < last:
                raise JournalError(
                    f"event {first} of node {node} comes after event {last}: the files' times of change are not in the "
                    "order of their numbers, as after a copy without them. Begin again with another --out, and with "
                    "--segments-at-once high enough for all of them"
                )

    def _touched(self, open_before: DataFrame, told: DataFrame, covers: stays.Extent) -> frozenset[date]:
        """Days of the memory that have stays which this batch says something about, or gives up."""
        over = stays.given_up_before(covers.today, self._give_up_days)
        looks = [
            open_before.where(F.col(PARTITION) < F.lit(over)),
            open_before.where(~_of(covers.days)).join(told.select(*stays.KEY), list(stays.KEY), "left_semi"),
        ]
        if covers.purged:
            emptied = told.where(F.col("event").isin(*stays.QUEUE_ENDS)).select("arn")
            looks.append(open_before.join(F.broadcast(emptied), "arn", "left_semi"))
        return frozenset(row[PARTITION] for look in looks for row in look.select(PARTITION).distinct().collect())


def _of(days: Iterable[date]) -> F.Column:
    return F.col(PARTITION).isin(*days)
