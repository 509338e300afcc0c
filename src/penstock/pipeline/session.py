"""A Spark session as the jobs want it, or one clear line about what is missing.

Nothing of Spark is imported before Java has been looked for: a JVM that is not there, or is too old, shows itself as a
page of traces otherwise.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipeline.told import Told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
"""The oldest Java that Spark 4 runs on."""

REMOTE = ("pyspark", "pyarrow", "pandas", "grpc", "grpc_status", "zstandard")
"""What a session with a Spark Connect server imports."""

SETTINGS: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.maxConcurrentOutputFileWriters": "16",  # else rows are sorted by date before they are written
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.streaming.stopTimeout": "30s",
    # A driver killed as it plans its first batch leaves a draft behind that Spark would refuse for ever. That nobody
    # shares a checkpoint is seen to by its stamp.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.adaptive.enabled": "true",
}
"""What the jobs rely on; `--conf` may say otherwise."""

QUIET, VERBOSE = "log4j2.properties", "log4j2-verbose.properties"
"""What Spark itself says on the terminal: errors, and none of those that a job tells in its own line; or everything
that went wrong, with traces."""

OWN_PYTHON = Path(__file__).with_name("spark_python.sh")
"""Starts the Python of the driver, with the installed pyspark and not with Spark's zip of the same."""


class NotReady(Told):
    """Something that a session needs is not there; the message says which command installs it."""


def check(environ: Mapping[str, str] = os.environ) -> None:
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise NotReady("the pipeline needs Spark: pip install 'penstock[spark]'")
    found = _java(environ)
    if found is None:
        raise NotReady(f"Spark needs Java {JAVA}: apt-get install openjdk-{JAVA}-jre-headless, or set JAVA_HOME")
    if found < JAVA:
        raise NotReady(
            f"Spark needs Java {JAVA} or newer and found Java {found}: apt-get install openjdk-{JAVA}-jre-headless, "
            "or set JAVA_HOME"
        )


def check_remote() -> None:
    """A server has Java and Spark; what is needed here is what speaks to it."""
    if missing := [name for name in REMOTE if find_spec(name) is None]:
        raise NotReady(f"--remote needs {', '.join(missing)}: pip install 'penstock[spark-connect]'")


def _java(environ: Mapping[str, str]) -> int | None:
    home = environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environ.get("PATH"))
    try:
        said = subprocess.run([program or "java", "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(version[1]) if version else None


def session(
    name: str,
    master: str = "local[*]",
    remote: str | None = None,
    settings: Mapping[str, str] | None = None,
    verbose: bool = False,
) -> "SparkSession":
    """A new session, or the one that this process has already, with our data sources registered. A `verbose` one has
    Spark's own warnings and traces on the terminal."""
    if remote is None:
        check()
    else:
        check_remote()
    _set_up(VERBOSE if verbose else QUIET, python((settings or {}).get("spark.master", master), os.environ))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"penstock {name}")
    builder = builder.remote(remote) if remote else builder.master(master)
    for key, value in {**SETTINGS, **(settings or {})}.items():
        if remote is None or key.startswith("spark.sql."):  # others are the server's own, and it would complain
            builder = builder.config(key, value)
    return builder.getOrCreate()


def python(master: str, environ: Mapping[str, str]) -> str:
    """What Spark starts as Python. The script is for this machine alone: executors elsewhere may not have it. And for a
    Spark that came with the installed pyspark: beside another one, only the zip is sure to fit."""
    spark = find_spec("pyspark")
    installed = bool(spark and spark.origin and Path(spark.origin).parents[1] == Path(sysconfig.get_path("purelib")))
    here = re.fullmatch(r"local(\[.*\])?", master) is not None
    ours = here and installed and "SPARK_HOME" not in environ and os.access(OWN_PYTHON, os.X_OK)
    return str(OWN_PYTHON) if ours else sys.executable


def _set_up(log: str, python: str) -> None:
    """Workers here run what the driver runs, and not whatever `python3` is on the path."""
    os.environ["PYTHON_OF_THE_DRIVER"] = sys.executable
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        if os.environ.get(name, str(OWN_PYTHON)) == str(OWN_PYTHON):  # what an earlier session has set is not a wish
            os.environ[name] = python
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    place = Path(__file__).with_name(log).as_uri()
    os.environ.setdefault("SPARK_SUBMIT_OPTS", f"-Dlog4j2.configurationFile={place}")
