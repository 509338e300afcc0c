"""Which tables are in a folder, without making any: a folder is a table if it has the stamp of one."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline import schemas
from penstock.pipeline.files import files
from penstock.pipeline.formats import PARQUET
from penstock.pipeline.jobs.drain import MESSAGES
from penstock.pipeline.schemas import Schema
from penstock.pipeline.stamps import STAMP, TableError
from penstock.pipeline.tables import Table, open_table

SCHEMAS = {schema.name: schema for schema in [*vars(schemas).values(), MESSAGES] if isinstance(schema, Schema)}
FILLED_BY = {"events": "land", "messages": "drain"}
"""Table → the job that makes it, for who looks for it in vain."""


def tables(spark: SparkSession, out: str, form: str) -> Iterator[Table]:
    """Those that this Penstock knows, by name."""
    for _, schema in sorted(SCHEMAS.items()):
        if _there(spark, out, schema):
            yield _open(spark, out, schema, form)


def read(spark: SparkSession, out: str, schema: Schema, form: str) -> DataFrame:
    """The rows of a table that must be there."""
    if not _there(spark, out, schema):
        job = FILLED_BY.get(schema.name, schema.name)
        raise TableError(
            f"there is no table {schema.name!r} in {out}: `penstock pipeline {job} --out {out}` makes it, "
            "or name another folder with --out"
        )
    return _open(spark, out, schema, form).read()


def read_any(spark: SparkSession, out: str, schema: Schema, form: str) -> DataFrame:
    """The rows of a table that may not be there yet."""
    if not _there(spark, out, schema):
        return spark.createDataFrame([], schema.all)
    return _open(spark, out, schema, form).read()


def _open(spark: SparkSession, out: str, schema: Schema, form: str) -> Table:
    """What the jobs keep for themselves is always Parquet."""
    return open_table(spark, out, schema, PARQUET if schema.name.startswith("_") else form)


def _there(spark: SparkSession, out: str, schema: Schema) -> bool:
    return files(out, spark).read(f"{schema.name}/{STAMP}") is not None
