"""What tests of the pipeline share: one Spark session for all of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline import session
from pipeline.journals import Journal
from pipeline.metrics_run import Tables

SMALL = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    ),
}
"""For few rows: compiling costs more than it saves. A fifth of what a young JVM does is to verify Spark's classes."""
EXECUTORS = {"spark.executor.extraJavaOptions": SMALL["spark.driver.extraJavaOptions"]}


MOST_FILES = 500
"""What binds Spark to Python waits with `select`, which knows the first 1,024 files of a process and no others. Tests
that kill stores in the middle leave as many open."""


@pytest.fixture(scope="session")
def java() -> None:
    """Without one there is nothing to test, which the build machine does not forgive."""
    try:
        session.check()
    except session.NotReady as reason:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(reason))


@pytest.fixture(scope="session", autouse=True)
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same for every other Spark that a test starts, as a command or on a cluster: it has this from its folder of
    settings, unless it says otherwise."""
    folder = tmp_path_factory.mktemp("settings")
    lines = (f"{name} {value}\n" for name, value in (SMALL | EXECUTORS).items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        patch.setenv("SPARK_DAEMON_JAVA_OPTS", SMALL["spark.driver.extraJavaOptions"])
        yield


@pytest.fixture(scope="session")
def spark(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if len(os.listdir("/proc/self/fd")) > MOST_FILES:
        pytest.fail("too many open files for py4j: run tests/pipeline in a process of its own, as `make test` does")
    folder = tmp_path_factory.mktemp("spark")
    settings = SMALL | {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    started = session.session("tests", "local[2]", settings=settings)
    yield started
    started.stop()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    """A journal without events, and no tables yet."""
    return Tables(spark, tmp_path)
