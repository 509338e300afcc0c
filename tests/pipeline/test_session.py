"""A session, and what is said when there can be none."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
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


def test_workers_here_import_the_pyspark_that_is_installed_and_compiled(spark: SparkSession) -> None:
    def imported(_: int) -> str:
        import pyspark

        return str(pyspark.__file__)

    assert spark.sparkContext.parallelize([0], 1).map(imported).collect() == [pyspark.__file__]


def test_what_a_program_has_on_its_path_its_workers_have_too() -> None:
    given = "/spark/python/lib/pyspark.zip:/spark/jars/core.jar:/mine/a b:/mine/*:/spark/python/lib/pyspark.zip"
    environ = {"PYTHONPATH": given, "SPARK_HOME": "/spark", "PYTHON_OF_THE_DRIVER": sys.executable}
    told = subprocess.run(
        [session.OWN_PYTHON, "-c", "import os; print(os.environ['PYTHONPATH'])"],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "/mine/a b:/mine/*\n"


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[4,2]"])
def test_workers_of_this_machine_are_started_by_the_script(master: str) -> None:
    assert session.python(master, {}) == str(session.OWN_PYTHON)


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host", "local-cluster[1,1,1024]"])
def test_workers_of_a_cluster_are_not_asked_for_a_script_that_they_may_not_have(master: str) -> None:
    assert session.python(master, {}) == sys.executable


def test_workers_of_another_spark_import_what_it_brings() -> None:
    assert session.python("local[2]", {"SPARK_HOME": "/opt/spark"}) == sys.executable
