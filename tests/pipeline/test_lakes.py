"""Delta and Iceberg tables, in Spark sessions of their own that have the jar; and what is said without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.formats import PACKAGES, settings
from penstock.pipeline.schemas import Schema, columns
from penstock.pipeline.stamps import TableError
from penstock.pipeline.tables import open_table
from server_process import clean_environment

from .journals import Journal, line

ROOT = Path(__file__).parents[2]

THINGS = Schema("things", 1, columns("name string, size bigint"))
PROGRAM = """
import sys
from datetime import date
from penstock.pipeline.ask import Ask
from penstock.pipeline.formats import settings
from penstock.pipeline.jobs import land
from penstock.pipeline.schemas import EVENTS, Schema, columns
from penstock.pipeline.session import session
from penstock.pipeline.tables import Batch, open_table

form, out, journal = sys.argv[1:]
things = Schema("things", 1, columns("name string, size bigint"))
monday, tuesday = date(2026, 11, 16), date(2026, 11, 17)
spark = session("lakes", "local[1]", settings=settings(form, out, {"spark.ui.enabled": "false"}))

def rows(*names, day=monday):
    return spark.createDataFrame([(name, 1, day) for name in names], things.all)

def names():
    return sorted(row.name for row in open_table(spark, out, things, form).read().collect())

table = open_table(spark, out, things, form)
assert names() == [] and list(table.writers()) == []
assert table.append(rows("a", "b"), Batch("q", 0)) == 2
assert table.append(rows("a", "b"), Batch("q", 0)) is None
assert table.append(rows("c", day=tuesday), Batch("q", 1)) == 1
assert names() == ["a", "b", "c"], names()
assert table.replace(rows("d", day=tuesday), Batch("q", 2), [str(tuesday)]) == 1
assert table.replace(rows("e", day=tuesday), Batch("q", 2), [str(tuesday)]) is None
assert names() == ["a", "b", "d"], names()
assert table.replace(rows("f"), Batch("q", 3)) == 1
assert names() == ["f"] and table.has(Batch("q", 3)) and not table.has(Batch("q", 4))
assert set(table.writers()) == {"q"}
for _ in range(2):
    land.run(spark, Ask("land", journal=journal, out=out, format=form, once=True, segments_at_once=1))
    assert sorted(row.seq for row in open_table(spark, out, EVENTS, form).read().collect()) == [1, 2, 3]
print("as it should be")
"""


def python_of(form: str) -> str:
    """Iceberg has no runtime for the newest Spark yet: its tables are written with the one before."""
    if form == "delta":
        return sys.executable
    found = ROOT / ".venvs" / "spark-4.1" / "bin" / "python"
    if not found.exists() and not os.environ.get("CI"):
        pytest.skip("run `make sdk-envs`")
    return str(found)


def run(form: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment() | {"PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [python_of(form), *words], env=environment, capture_output=True, text=True, timeout=400, check=False
    )
    if "unresolved dependency" in ran.stderr and not os.environ.get("CI"):
        pytest.skip(f"{PACKAGES[form]} could not be fetched")
    return ran


@pytest.mark.parametrize("form", PACKAGES)
def test_a_batch_is_in_a_lake_once_too(form: str, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.publish(line(1), line(2))
    journal.publish(line(3))
    ran = run(form, "-c", PROGRAM, form, str(tmp_path / "tables"), str(journal.folder))
    assert ran.stdout.endswith("as it should be\n"), ran.stdout + ran.stderr[-3000:]


def test_iceberg_with_a_spark_that_it_has_no_runtime_for_is_one_clear_line(tmp_path: Path) -> None:
    words = ["pipeline", "land", "--once", "--format", "iceberg", "--out", str(tmp_path), "--master", "local[1]"]
    ran = run("delta", "-m", "penstock", *words)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(
        "penstock: land: Iceberg has no runtime for Spark 4.2 yet: pip install"
    )


@pytest.mark.parametrize("form", PACKAGES)
def test_without_the_jar_it_is_said_which(form: str, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=f"--format {form} needs its jar: --conf spark.jars.packages={PACKAGES[form]}"):
        open_table(spark, str(tmp_path), THINGS, form)


def test_somebody_who_brings_jars_is_not_made_to_fetch_them() -> None:
    assert "spark.jars.packages" not in settings("delta", "out", {"spark.jars": "mine.jar"})
    assert settings("delta", "out", {})["spark.jars.packages"] == PACKAGES["delta"]
    assert settings("parquet", "out", {"a": "b"}) == {"a": "b"}
