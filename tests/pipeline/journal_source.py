"""How tests read `penstock.journal`, and what they compare it with: the lines themselves, by Python's own parser."""

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.streaming import StreamingQuery

from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.sources.journal import JournalSource
from penstock.pipeline.sources.journal.columns import COLUMNS

FORMAT = "penstock.journal"
Row = dict[str, Any]


def read(spark: SparkSession, path: Path, **options: object) -> DataFrame:
    return spark.read.format(FORMAT).options(**{name: str(value) for name, value in options.items()}).load(str(path))


def rows(frame: DataFrame) -> list[Row]:
    """In the journal's order."""
    found = (row.asDict(recursive=True) for row in frame.collect())
    return sorted(found, key=lambda row: (row["node"] or "", row["seq"] or 0))


def planned(path: Path, *filters: Filter, **options: object) -> tuple[DataSourceReader, list[InputPartition]]:
    """As Spark's planner does it, in this process: what is left of the filters must be none."""
    given = {name: str(value) for name, value in options.items()} | {"path": str(path)}
    reader = JournalSource(given).reader(COLUMNS)
    assert list(reader.pushFilters(list(filters))) == []
    partitions = list(reader.partitions())
    return pickle.loads(pickle.dumps((reader, partitions)))


def rows_here(path: Path, *filters: Filter, **options: object) -> list[Row]:
    """As Spark's planner and its tasks do it, without Spark, in the order in which they come."""
    reader, partitions = planned(path, *filters, **options)
    found = [row for partition in partitions for batch in reader.read(partition) for row in batch.to_pylist()]
    return [row | {"attributes": None if row["attributes"] is None else dict(row["attributes"])} for row in found]


def events(found: list[Row]) -> list[Row]:
    """The fields that each line has, as it has them."""
    return [{name: row[name] for name in JOURNAL.names if row[name] is not None} for row in found]


def lines(folder: Path) -> list[Row]:
    files = sorted(folder.glob("node=*/date=*/[0-9]*.jsonl*"), key=lambda file: (file.parts[-3], file.name))
    texts = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files)
    return [json.loads(line) for text in texts for line in text.splitlines()]


class Following:
    """A stream from a journal into memory that is stopped and started again on one checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, **options: object) -> None:
        self.spark, self.folder = spark, folder
        self.options = {name: str(value) for name, value in options.items()}
        self.batches: list[list[Row]] = []

    def to_the_end(self) -> list[list[Row]]:
        """What the batches of one run had: all that there was when it began."""
        self.batches = []
        query = self.started(availableNow=True)
        query.awaitTermination()
        return self.batches

    def started(self, **trigger: Any) -> StreamingQuery:
        frame = self.spark.readStream.format(FORMAT).options(**self.options).load()
        writer = frame.writeStream.foreachBatch(self._take).option(
            "checkpointLocation", str(self.folder / "checkpoint")
        )
        return writer.trigger(**trigger).start() if trigger else writer.start()

    def _take(self, frame: DataFrame, batch: int) -> None:
        self.batches.append(rows(frame))
