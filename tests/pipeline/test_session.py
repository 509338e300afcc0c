"""A session, and what is said when there can be none."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import session
from penstock.pipeline.session import NotReady, check


def java(folder: Path, version: str) -> dict[str, str]:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return {"JAVA_HOME": str(folder)}


def test_a_missing_java_is_one_line_with_the_command_that_installs_it(tmp_path: Path) -> None:
    with pytest.raises(
        NotReady, match=r"^Spark needs Java 17: apt-get install openjdk-17-jre-headless, or set JAVA_HOME$"
    ):
        check({"JAVA_HOME": str(tmp_path)})


@pytest.mark.parametrize(("version", "found"), [("11.0.2", 11), ("1.8.0_392", 8)])
def test_an_old_java_is_named(version: str, found: int, tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=rf"needs Java 17 or newer and found Java {found}: apt-get install"):
        check(java(tmp_path, version))


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_newer_java_will_do(version: str, tmp_path: Path) -> None:
    check(java(tmp_path, version))


def test_what_a_remote_session_lacks_is_one_line_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "REMOTE", ("pyspark", "a_package_that_is_not_here"))
    with pytest.raises(
        NotReady, match=r"^--remote needs a_package_that_is_not_here: pip install 'penstock\[spark-connect\]'$"
    ):
        session.session("test", remote="sc://127.0.0.1")


def test_a_session_counts_time_in_utc(spark: SparkSession) -> None:
    assert spark.sql("select cast(timestamp_millis(0) as string)").first()[0] == "1970-01-01 00:00:00"
