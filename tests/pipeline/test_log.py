"""What Spark itself says on the terminal when a job fails: nothing, for the job has a line for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.pipeline import session

FAILING = """
import sys
from pathlib import Path
from penstock.pipeline import streaming
from penstock.pipeline.session import session
from penstock.pipeline.told import Told

spark = session("failing", "local[1]", settings={"spark.ui.enabled": "false"})
folder = Path(sys.argv[1])
(folder / "in").mkdir()
(folder / "in" / "one.txt").write_text("one")

def write(batch, number):
    batch.selectExpr("cast(raise_error('it had to') as string) as value").write.parquet(str(folder / "out"))

try:
    lines = spark.readStream.schema("value string").text(str(folder / "in"))
    streaming.run(lines, write, str(folder / "checkpoint"), streaming.Pace(once=True))
except Told as told:
    print("told:", told, file=sys.stderr)
"""


def test_a_task_a_write_and_a_query_that_fail_are_the_one_line_of_the_job(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "SPARK_SUBMIT_OPTS"}
    command = [sys.executable, "-c", FAILING, str(tmp_path)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=600, check=False)
    of_java = "WARNING: Using incubator modules"  # by the JVM itself, before anybody can tell it not to
    said = [line for line in done.stderr.splitlines() if not line.startswith(of_java)]
    assert len(said) == 1, done.stderr
    assert said[0].startswith("told: ")
    assert "it had to" in said[0]


@pytest.mark.parametrize("name", [session.QUIET, session.VERBOSE])
def test_a_log_has_the_level_of_sparks_shell_which_would_change_it_otherwise(name: str) -> None:
    lines = Path(session.__file__).with_name(name).read_text().splitlines()
    levels = dict(line.split(" = ") for line in lines if ".level = " in line)
    assert levels["rootLogger.level"] == levels["logger.shell.level"]
