"""SELECT statements in the documents run on the tables, with anything in them and with nothing."""

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.warehouse import SCHEMAS

from .traffic import a_day, frame

DOCS = Path(__file__).parent.parent.parent / "docs"
STATEMENTS = {
    f"{file.relative_to(DOCS)}-{number}": statement
    for file in sorted(DOCS.rglob("*.md"))
    for number, statement in enumerate(re.findall(r"^```sql\n(.*?)^```", file.read_text(), re.DOTALL | re.MULTILINE), 1)
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> None:
    for name, schema in SCHEMAS.items():
        spark.createDataFrame([], schema.all).createOrReplaceTempView(name)
    frame(spark, a_day(per_minute=5, minutes=10)).createOrReplaceTempView("events")


def test_there_are_examples() -> None:
    assert {name.rpartition("-")[0] for name in STATEMENTS} >= {"howto/pipeline.md", "reference/tables.md"}


@pytest.mark.parametrize("name", STATEMENTS)
def test_an_example_runs(spark: SparkSession, tables: None, name: str) -> None:
    assert spark.sql(STATEMENTS[name]).collect() is not None


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_table_is_documented_with_all_its_columns(name: str) -> None:
    text = (DOCS / "reference" / "tables.md").read_text()
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"docs/reference/tables.md has no section {name}"
    schema = SCHEMAS[name]
    assert f"Version {schema.version}" in section[1]
    if name != "events":  # its columns are the journal's fields
        assert [one for one in schema.columns.names if f"`{one}`" not in section[1]] == []
