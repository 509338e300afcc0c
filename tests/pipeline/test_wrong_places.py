"""Places that are not what a job takes them for: one line that names them."""

import errno
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.cli.parser import CommandError
from penstock.cli.pipeline import carried_out
from penstock.pipeline.tables import ParquetTable

from .jobs_asked import asked
from .journals import Journal, line


def run(spark: SparkSession, journal: Path, out: Path, job: str = "land") -> int:
    return carried_out(spark, asked(job, "--journal", str(journal), "--out", str(out), "--once"))


@pytest.mark.parametrize("job", ["land", "metrics", "lifecycle"])
def test_a_journal_that_is_not_there_is_no_empty_journal(job: str, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"penstock: {job}: there is no journal in .*jurnal: name the folder"):
        run(spark, tmp_path / "jurnal", tmp_path / "tables", job)


def test_a_journal_that_has_nothing_yet_is_fine(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    assert run(spark, journal.folder, tmp_path / "tables") == 0


def test_a_file_in_the_place_of_a_folder(spark: SparkSession, journal: Journal, tmp_path: Path) -> None:
    file = journal.publish(line(1))
    with pytest.raises(CommandError, match=r"^penstock: land: .*_format\.json: Not a directory$"):
        run(spark, file, tmp_path / "tables")
    with pytest.raises(CommandError, match=r"^penstock: land: .*_table\.json: Not a directory$"):
        run(spark, journal.folder, file)


def test_a_disk_that_is_full_as_a_batch_is_committed(
    spark: SparkSession, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.publish(line(1))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a manifest")

    with monkeypatch.context() as patch:
        patch.setattr(ParquetTable, "_commit", full)
        with pytest.raises(CommandError, match=r"^penstock: land: a manifest: No space left on device$"):
            run(spark, journal.folder, tmp_path / "tables")
    assert run(spark, journal.folder, tmp_path / "tables") == 0
