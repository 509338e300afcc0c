"""The script that measures the server beside the pipeline, at a tiny size. What it says about speed is not judged."""

import subprocess
import sys
from pathlib import Path

from pipeline_beside import WAYS

BENCH = Path(__file__).parents[2] / "bench"


def test_every_way_is_in_the_table_and_the_jobs_did_work_beside_the_server(java: None) -> None:
    command = [sys.executable, str(BENCH / "pipeline_beside.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    about, _, heading, *rows = done.stdout.splitlines()
    assert "rows written beside the server: land " in about
    assert heading.split()[:2] == ["CASE", "cycles/s"]
    assert [row.rsplit(maxsplit=4)[0].strip() for row in rows] == list(WAYS)
    assert all(float(figure.replace(",", "")) > 0 for row in rows for figure in row.split()[-4:-1])
