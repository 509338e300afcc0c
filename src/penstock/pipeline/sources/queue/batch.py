"""The batch read: what is in the queue now, once for each action that Spark runs on it.

Nothing tells a source that a batch read has succeeded. So messages are not deleted, and come back when their window
ends; `deleteAfterRead` deletes them before Spark has the rows, which is at most once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from penstock.pipeline.sources.queue import calls
from penstock.pipeline.sources.queue.messages import batch_of, check_schema
from penstock.pipeline.sources.queue.options import BATCH, Settings
from penstock.pipeline.sources.queue.staged import chunks


@dataclass
class ReceivedShare(InputPartition):
    share: int


class QueueReader(DataSourceReader):
    def __init__(self, settings: Settings, schema: StructType) -> None:
        settings.check_use(BATCH)
        check_schema(schema)
        self._settings, self._columns = settings, schema.names

    def partitions(self) -> list[InputPartition]:
        settings = self._settings
        with settings.client() as client:
            depth = calls.depth(client, settings.queue_url)
        total = max(1, min(depth, settings.most or depth))
        number = min(settings.partitions, total)
        return [ReceivedShare(total // number + (index < total % number)) for index in range(number)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ReceivedShare)
        settings, window = self._settings, self._settings.visibility_seconds
        with settings.client() as client:
            receive = calls.Share(client, settings.queue_url, partition.share, settings.wait_seconds, window, window)
            for chunk in chunks(receive.messages()):
                if settings.delete_after_read:
                    calls.delete(client, settings.queue_url, [message["ReceiptHandle"] for message in chunk])
                yield batch_of(chunk, settings.queue_url).select(self._columns)
