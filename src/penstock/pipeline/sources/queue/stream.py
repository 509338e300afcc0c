"""The streaming read as Spark sees it. An offset is the number of a batch; everything else is in the staging."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from penstock.pipeline.sources.queue import staged
from penstock.pipeline.sources.queue.driver import Driver
from penstock.pipeline.sources.queue.messages import check_schema
from penstock.pipeline.sources.queue.options import STREAM, Settings, WrongOption
from penstock.pipeline.sources.queue.staging import Staging

Offset = dict[str, int]


@dataclass
class StagedShare(InputPartition):
    batch: int
    index: int
    share: int


class QueueStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, settings: Settings, schema: StructType) -> None:
        settings.check_use(STREAM)
        check_schema(schema)
        if settings.staging is None:
            raise WrongOption(
                "a streaming read needs option stagingLocation: a directory that driver and executors share, "
                "of this query alone"
            )
        self._settings, self._columns = settings, schema.names
        self._staging = Staging(settings.staging)
        self._driver: Driver | None = None

    def initialOffset(self) -> Offset:  # noqa: N802
        return {"batch": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._settings.most_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._driving().aim()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        return {"batch": self._driving().latest(start["batch"], getattr(limit, "max_rows", None))}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        return [StagedShare(*share) for share in self._driving().shares(start["batch"], end["batch"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, StagedShare)
        task = staged.Task(self._settings, self._staging, partition.batch, partition.index, partition.share)
        yield from staged.rows(task.file(), self._columns)

    def commit(self, end: Offset) -> None:
        self._driving().settle(end["batch"])

    def stop(self) -> None:
        if self._driver:
            self._driver.stop()
            self._driver = None

    def _driving(self) -> Driver:
        """Not made with the reader: that is made in other processes, too, and sent to executors."""
        if self._driver is None:
            _end_in_order()
            self._driver = Driver(self._settings, self._staging)
        return self._driver


def _end_in_order() -> None:
    """Spark ends a query's process by SIGTERM, twice; `stop` is called only where that is an exception, once."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(0)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
