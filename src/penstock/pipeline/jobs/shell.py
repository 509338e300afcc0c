"""A session with every table as a view of its name: for one statement, or for a person at a prompt."""

import code
import sys
from collections.abc import Mapping
from contextlib import suppress

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.pipeline import statements, warehouse
from penstock.pipeline.ask import Ask
from penstock.pipeline.stamps import TableError

MOST_ROWS = 1000
"""Of a table on the terminal; --json has no limit."""


def run(spark: SparkSession, ask: Ask) -> int:
    views = register(spark, ask.out, ask.format)
    if ask.own.get("sql"):
        with statements.told("--sql"):
            show(spark.sql(ask.own["sql"]), ask.own["json"])
        return 0
    if ask.own.get("json"):
        raise TableError("--json is for the rows of a statement: give one with --sql")
    interact(spark, views)
    return 0


def register(spark: SparkSession, out: str, form: str) -> Mapping[str, DataFrame]:
    views = {table.schema.name: table.read() for table in warehouse.tables(spark, out, form)}
    if not views:
        raise TableError(f"there is no table in {out}: `penstock pipeline land --out {out}` makes the first")
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    return views


def show(frame: DataFrame, as_json: bool) -> None:
    """As lines of JSON, with every column in each."""
    if not as_json:
        frame.show(MOST_ROWS, truncate=False)
        return
    lines = frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("line"))
    for row in lines.toLocalIterator():
        sys.stdout.write(f"{row['line']}\n")


def interact(spark: SparkSession, views: Mapping[str, DataFrame]) -> None:
    with suppress(ImportError):
        import readline  # noqa: F401 - gives the prompt its history
    names = "\n".join(f"  {name:16} {', '.join(frame.columns)}" for name, frame in views.items())
    banner = f"spark, sql(…), F, and these tables, in SQL and as DataFrames:\n{names}"
    code.interact(banner, local={"spark": spark, "sql": spark.sql, "F": F, **views}, exitmsg="")
