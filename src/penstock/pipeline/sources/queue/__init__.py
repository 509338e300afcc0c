"""`penstock.queue`: any SQS queue, Penstock's or Amazon's, as a source and a sink of Spark, in batch and in streams.

options     what a program may say, checked at analysis
messages    the columns, and messages as Arrow batches
calls       what is asked of a queue
batch       the batch read
stream      the streaming read; driver and keeper are its driver's side, staging and staged its files
write       rows to messages
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from penstock.pipeline.sources.queue.options import READS, parse

if TYPE_CHECKING:
    from penstock.pipeline.sources.queue.batch import QueueReader
    from penstock.pipeline.sources.queue.stream import QueueStreamReader
    from penstock.pipeline.sources.queue.write import QueueStreamWriter, QueueWriter


class QueueSource(DataSource):
    """Imports late: Spark loads this class in processes that only want its name."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._settings = parse(options)

    @classmethod
    def name(cls) -> str:
        return "penstock.queue"

    def schema(self) -> StructType:
        from penstock.pipeline.sources.queue.messages import SCHEMA

        self._settings.check_use(*READS)
        return SCHEMA

    def reader(self, schema: StructType) -> "QueueReader":
        from penstock.pipeline.sources.queue.batch import QueueReader

        return QueueReader(self._settings, schema)

    def streamReader(self, schema: StructType) -> "QueueStreamReader":  # noqa: N802
        from penstock.pipeline.sources.queue.stream import QueueStreamReader

        return QueueStreamReader(self._settings, schema)

    def writer(self, schema: StructType, overwrite: bool) -> "QueueWriter":
        from penstock.pipeline.sources.queue.write import QueueWriter

        return QueueWriter(self._settings, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> "QueueStreamWriter":  # noqa: N802
        from penstock.pipeline.sources.queue.write import QueueStreamWriter

        return QueueStreamWriter(self._settings, schema, overwrite)
