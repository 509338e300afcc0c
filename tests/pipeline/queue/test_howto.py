"""The program of docs/howto/spark-queue.md works as it is written, and its table of options is the real one."""

import re
import subprocess
import sys
from pathlib import Path

from penstock.pipeline.sources.queue.messages import SCHEMA
from penstock.pipeline.sources.queue.options import OPTIONS
from pipeline.queue.conftest import TestQueue

PAGE = (Path(__file__).parents[3] / "docs" / "howto" / "spark-queue.md").read_text()
SECONDS = 300


def test_the_program_of_the_page_drains_what_it_has_sent(queue: TestQueue, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    own = {"QUEUE_URL": queue.url, "FOLDER": str(tmp_path), "PYSPARK_PYTHON": sys.executable}
    own |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=queue.server.environment | own,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "100 orders"
    assert queue.counts() == (0, 0)


def test_every_option_and_its_default_is_on_the_page() -> None:
    cells = [line.split("|") for line in PAGE.splitlines() if line.startswith("| `")]
    for option in OPTIONS:
        (default,) = [row[3].strip() for row in cells if f"`{option.name}`" in row[1]]
        if isinstance(option.default, bool):
            assert default == str(option.default).lower()
        elif option.default is not None:
            assert default == f"{option.default:,}"


def test_every_column_is_on_the_page() -> None:
    assert [name for name in SCHEMA.names if f"`{name}`" not in PAGE] == []
