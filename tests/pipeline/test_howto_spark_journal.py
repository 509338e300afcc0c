"""docs/howto/spark-journal.md: its program runs, and its tables have what there is."""

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.sources.journal.options import OPTIONS
from pipeline.journals import Journal, line

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "spark-journal.md").read_text()


def test_the_program_of_the_page_runs_and_goes_on_where_it_stopped(
    spark: SparkSession, journal: Journal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    program = program.replace("/var/lib/penstock/journal", str(journal.folder)).replace("/srv/pipeline", str(tmp_path))
    journal.publish(line(1), line(2, "RECEIVED"), line(3, "DELETED"))
    exec(program, {})
    journal.publish(line(4, queue="parcels"))
    exec(program, {})
    copied = spark.read.parquet(str(tmp_path / "events"))
    assert sorted(row["seq"] for row in copied.collect()) == [1, 3, 4]
    shown = capsys.readouterr().out
    assert re.search(r"\| *orders\| *1\|\n\|parcels\| *1\|", shown)


def test_every_option_is_in_the_page() -> None:
    assert [name for name in OPTIONS if f"`{name}`" not in PAGE] == []
