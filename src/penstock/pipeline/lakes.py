"""The same tables as Delta or Iceberg tables, for those who have a lake already.

Both keep a log of commits themselves, and both can note on a commit whose it is: so a batch that comes again is known
here as it is by our own manifest.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline.files import files
from penstock.pipeline.formats import CATALOGUE, CLASSES, PACKAGES
from penstock.pipeline.schemas import PARTITION, Schema
from penstock.pipeline.stamps import TableError, identity
from penstock.pipeline.tables import Batch, Day, Table, in_order, overtaken

NOTE = "penstock-batch"
PACKAGES_OF_SPARK = "spark.jars.packages"


def open_lake(spark: SparkSession, out: str, schema: Schema, form: str) -> Table:
    _need_jar(spark, form)
    place = f"{out.rstrip('/')}/{schema.name}"
    return DeltaTable(spark, place, schema) if form == "delta" else IcebergTable(spark, place, schema)


def _need_jar(spark: SparkSession, form: str) -> None:
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        return  # the server of a --remote session has it or says so
    if (
        form == "iceberg"
        and spark.version.startswith("4.2")
        and PACKAGES[form] in spark.conf.get(PACKAGES_OF_SPARK, "")
    ):
        raise TableError(
            "Iceberg has no runtime for Spark 4.2 yet: pip install 'pyspark==4.1.*' to write its tables from a journal "
            f"in a folder, or name a jar of your own with --conf {PACKAGES_OF_SPARK}=…"
        )
    try:
        jvm.java.lang.Class.forName(CLASSES[form], False, jvm.java.lang.Thread.currentThread().getContextClassLoader())
    except Py4JJavaError:
        raise TableError(
            f"--format {form} needs its jar: --conf spark.jars.packages={PACKAGES[form]}, or one that fits this Spark"
        ) from None


def _note(batch: Batch) -> str:
    return f"{batch.query}:{batch.number}"


def _last(notes: Iterable[str]) -> dict[str, int]:
    """Query → its last batch."""
    batches = [note.rpartition(":")[::2] for note in notes]
    return {query: max(int(number) for one, number in batches if one == query) for query, _ in batches}


class DeltaTable:
    def __init__(self, spark: SparkSession, place: str, schema: Schema) -> None:
        self.schema = schema
        self._spark, self._place = spark, files(place, spark).url()
        self.id = identity(files(place, spark), schema)

    def read(self) -> DataFrame:
        if not self._notes():
            return self._spark.createDataFrame([], self.schema.all)
        return in_order(self._spark.read.format("delta").load(self._place), self.schema)

    def _notes(self) -> dict[str, int]:
        """Whose commits there are, each with its number of rows."""
        if not files(self._place, self._spark).read("_delta_log/00000000000000000000.json"):
            return {}
        history = self._spark.sql(f"DESCRIBE HISTORY delta.`{self._place}`").collect()
        return {
            row["userMetadata"]: int(row["operationMetrics"].get("numOutputRows", 0))
            for row in history
            if row["userMetadata"]
        }

    def has(self, batch: Batch) -> bool:
        return _note(batch) in self._notes()

    def writers(self) -> Mapping[str, int]:
        return _last(self._notes())

    def append(self, rows: DataFrame, batch: Batch) -> int | None:
        return self._write(rows, batch, "append", {"mergeSchema": "true"})

    def append_day(self, rows: DataFrame, batch: Batch, day: Callable[[], Day | None]) -> int | None:
        return None  # Delta sorts rows into days itself

    def replace(
        self, rows: DataFrame, batch: Batch, dates: Sequence[str] | None = None, seen: Mapping[str, int] | None = None
    ) -> int | None:
        if seen is not None and self.writers() != seen:
            raise overtaken(self)
        days = ", ".join(f"DATE'{date}'" for date in dates or ())
        where = {} if dates is None else {"replaceWhere": f"{PARTITION} IN ({days})"}
        return self._write(rows, batch, "overwrite", where)

    def _write(self, rows: DataFrame, batch: Batch, mode: str, options: Mapping[str, str]) -> int | None:
        if self.has(batch):
            return None
        writer = in_order(rows, self.schema).write.format("delta").mode(mode).partitionBy(PARTITION)
        mine = {"txnAppId": batch.query, "txnVersion": str(batch.number), "userMetadata": _note(batch)}
        writer.options(**options, **mine).save(self._place)
        return self._notes()[_note(batch)]

    def tidy(self, query: str) -> None:
        """Delta's VACUUM does it."""


class IcebergTable:
    """In the catalogue that `settings` makes: a folder of tables, without a service."""

    def __init__(self, spark: SparkSession, place: str, schema: Schema) -> None:
        self.schema = schema
        self._spark, self._name = spark, f"{CATALOGUE}.lake.{schema.name}"
        self.id = identity(files(place, spark), schema)
        if not spark.catalog.tableExists(self._name):
            empty = spark.createDataFrame([], schema.all)
            empty.writeTo(self._name).using("iceberg").partitionedBy(F.col(PARTITION)).create()

    def read(self) -> DataFrame:
        return in_order(self._spark.table(self._name), self.schema)

    def _notes(self) -> dict[str, int]:
        snapshots = self._spark.table(f"{self._name}.snapshots").select("summary").collect()
        return {row.summary[NOTE]: int(row.summary.get("added-records", 0)) for row in snapshots if NOTE in row.summary}

    def has(self, batch: Batch) -> bool:
        return _note(batch) in self._notes()

    def writers(self) -> Mapping[str, int]:
        return _last(self._notes())

    def append(self, rows: DataFrame, batch: Batch) -> int | None:
        return self._write(rows, batch, lambda writer: writer.append())

    def append_day(self, rows: DataFrame, batch: Batch, day: Callable[[], Day | None]) -> int | None:
        return None  # Iceberg sorts rows into days itself

    def replace(
        self, rows: DataFrame, batch: Batch, dates: Sequence[str] | None = None, seen: Mapping[str, int] | None = None
    ) -> int | None:
        if seen is not None and self.writers() != seen:
            raise overtaken(self)
        gone = F.lit(True) if dates is None else F.col(PARTITION).isin(*map(date.fromisoformat, dates))
        return self._write(rows, batch, lambda writer: writer.overwrite(gone))

    def _write(self, rows: DataFrame, batch: Batch, write: Callable[[Any], None]) -> int | None:
        if self.has(batch):
            return None
        write(in_order(rows, self.schema).writeTo(self._name).option(f"snapshot-property.{NOTE}", _note(batch)))
        return self._notes()[_note(batch)]

    def tidy(self, query: str) -> None:
        """Iceberg's remove_orphan_files does it."""
