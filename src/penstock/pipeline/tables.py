"""Tables of Parquet files in folders by date, with commits that happen once.

A batch is written to a folder that readers pass over, its files are moved beside the others under names that tell
their batch, and one new file of the manifest makes them part of the table. A driver that is killed on the way leaves
files that no manifest names: they are removed when the batch is written again, and readers who go by the manifest never
see them. The manifest, not the folder, says what the table is.

Small files are merged when a date has gathered enough of them; that is a commit like any other.

Delta and Iceberg tables have such a log of their own: `lakes`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pyspark.sql import DataFrame, DataFrameWriter, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.files import files
from penstock.pipeline.formats import PARQUET
from penstock.pipeline.manifest import Commit, Manifest, State
from penstock.pipeline.schemas import PARTITION, Schema
from penstock.pipeline.stamps import TableError, identity

STAGING = "_staging"
MERGE_AT = 16
"""Small files of a date that are worth merging."""
SMALL_BYTES = 32 << 20
MERGED_BYTES = 128 << 20


class Overtaken(Exception):
    """Another writer took away files that this commit was to replace."""


@dataclass(frozen=True)
class Batch:
    """Whose commit it is, and which. Without a number it is upkeep, and may happen any number of times."""

    query: str
    number: int | None

    @property
    def name(self) -> str:
        """What the files of this batch begin with."""
        return f"{self.query[:8]}-{self.number:08d}"


class Day(NamedTuple):
    date: str
    rows: int


class Table(Protocol):
    id: str
    schema: Schema

    def read(self) -> DataFrame: ...

    def append(self, rows: DataFrame, batch: Batch) -> int | None:
        """The number of rows, or None if this batch has been committed before."""

    def append_day(self, rows: DataFrame, batch: Batch, day: Callable[[], Day | None]) -> int | None:
        """Rows without their date: `day` tells, once they have been read, of which they all are. If that is None, or
        this batch has been committed before, or the table has no such way, nothing is done, and the answer is None."""

    def replace(
        self, rows: DataFrame, batch: Batch, dates: Sequence[str] | None = None, seen: Mapping[str, int] | None = None
    ) -> int | None:
        """In the place of everything that is there now, or of everything of these dates. What another writer adds
        meanwhile stays; if it takes away, this fails. Rows that were made of the table's own come with the writers that
        were `seen` before it was read: if there are others now, this fails as well."""

    def tidy(self, query: str) -> None:
        """Remove what a writer of this query left behind when it was killed."""

    def has(self, batch: Batch) -> bool: ...

    def writers(self) -> Mapping[str, int]:
        """The queries that have committed to it, and the last batch of each."""


def open_table(spark: SparkSession, out: str, schema: Schema, form: str = PARQUET) -> Table:
    if form == PARQUET:
        return ParquetTable(spark, f"{out.rstrip('/')}/{schema.name}", schema)
    from penstock.pipeline.lakes import open_lake  # it knows tables, too

    return open_lake(spark, out, schema, form)


def overtaken(table: Table) -> TableError:
    return TableError(f"the table {table.schema.name!r} was written by another job meanwhile: start again")


def in_order(rows: DataFrame, schema: Schema) -> DataFrame:
    """The columns as the table has them."""
    return rows.select(*(F.col(f"`{one.name}`").cast(one.dataType).alias(one.name) for one in schema.all))


class ParquetTable:
    def __init__(self, spark: SparkSession, place: str, schema: Schema) -> None:
        self.schema = schema
        self._spark = spark
        self._files = files(place, spark)
        self._manifest = Manifest(self._files)
        self.id = identity(self._files, schema)

    # Reading

    def state(self) -> State:
        return self._manifest.state()

    def has(self, batch: Batch) -> bool:
        return batch.number is not None and self.state().has(batch.query, batch.number)

    def writers(self) -> Mapping[str, int]:
        return self.state().batches

    def read(self) -> DataFrame:
        return self._frame(list(self.state().live))

    def _frame(self, paths: Sequence[str]) -> DataFrame:
        if not paths:
            nothing = (F.lit(None).cast(one.dataType).alias(one.name) for one in self.schema.all)
            return self._spark.range(0).select(*nothing)  # createDataFrame would start a worker of Python for it
        reader = self._spark.read.schema(self.schema.all).option("basePath", self._files.url())
        return reader.parquet(*map(self._files.url, paths))

    # Writing

    def append(self, rows: DataFrame, batch: Batch) -> int | None:
        if self.has(batch):
            return None
        added, number = self._place(rows, batch.name)
        self._commit(batch, added, number)
        self._merge_small(batch)
        return number

    def append_day(self, rows: DataFrame, batch: Batch, day: Callable[[], Day | None]) -> int | None:
        if self.has(batch):
            return None
        self._stage(rows.write, batch.name)
        if (found := day()) is None:
            self._files.remove(f"{STAGING}/{batch.name}")
            return None
        self._commit(batch, self._move(batch.name, f"{PARTITION}={found.date}"), found.rows)
        self._merge_small(batch)
        return found.rows

    def replace(
        self, rows: DataFrame, batch: Batch, dates: Sequence[str] | None = None, seen: Mapping[str, int] | None = None
    ) -> int | None:
        if self.has(batch):
            return None
        state = self.state()
        if seen is not None and state.batches != seen:
            raise overtaken(self)
        folders = None if dates is None else {f"{PARTITION}={date}" for date in dates}
        gone = [path for path in state.live if folders is None or path.split("/")[0] in folders]
        added, number = self._place(rows, batch.name)
        try:
            self._commit(batch, added, number, gone)
        except Overtaken:
            self._clear(batch.name)
            raise overtaken(self) from None
        return number

    def _place(self, rows: DataFrame, name: str) -> tuple[list[str], int]:
        """The rows as files in their places, which nothing names yet."""
        counted, observation = self._counted(rows)
        self._stage(counted.write.partitionBy(PARTITION), name)
        return self._move(name), int(observation.get["rows"])

    def _stage(self, writer: DataFrameWriter, name: str) -> None:
        self._clear(name)
        writer.mode("overwrite").parquet(self._files.url(f"{STAGING}/{name}"))

    def _move(self, name: str, all_to: str | None = None) -> list[str]:
        staging, added = f"{STAGING}/{name}", []
        for found in sorted(self._files.below(staging)):
            folder, _, file = found.path.removeprefix(f"{staging}/").rpartition("/")
            if file.endswith(".parquet"):
                added.append(f"{all_to or folder}/{name}-{file}")
                self._files.move(found.path, added[-1])
        self._files.remove(staging)
        return added

    def _counted(self, rows: DataFrame) -> tuple[DataFrame, Observation]:
        observation = Observation()
        return in_order(rows, self.schema).observe(observation, F.count(F.lit(1)).alias("rows")), observation

    def _clear(self, name: str) -> None:
        """Take away what an earlier try left."""
        live = self.state().live
        for found in list(self._files.below()):
            if found.path.rpartition("/")[2].startswith(f"{name}-") and found.path not in live:
                self._files.remove(found.path)

    def _commit(self, batch: Batch, added: Sequence[str], rows: int, gone: Collection[str] = ()) -> None:
        def make(state: State) -> Commit:
            if not state.live.keys() >= set(gone):
                raise Overtaken
            return Commit(batch.query, batch.number, list(added), list(gone), rows)

        self._manifest.commit(make)
        for path in gone:
            self._files.remove(path)

    # Upkeep

    def _merge_small(self, batch: Batch) -> None:
        live = self.state().live
        small: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for found in self._files.below():
            if found.path in live and found.size < SMALL_BYTES:
                small[found.path.split("/")[0]][found.path] = found.size
        for date, sizes in small.items():
            if len(sizes) >= MERGE_AT:
                self._merge(sizes, Batch(batch.query, None), f"{batch.name}-merged-{date[-10:]}")

    def _merge(self, sizes: Mapping[str, int], batch: Batch, name: str) -> None:
        rows = self._frame(sorted(sizes)).coalesce(max(1, round(sum(sizes.values()) / MERGED_BYTES)))
        added, _ = self._place(rows, name)
        try:
            self._commit(batch, added, 0, sizes.keys())
        except Overtaken:  # what is in the new file is no longer so
            self._clear(name)

    def tidy(self, query: str) -> None:
        """Remove what a writer of this query left behind when it was killed."""
        self._clear(query[:8])
        self._files.remove(STAGING)
