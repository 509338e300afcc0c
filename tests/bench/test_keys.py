"""The script that times authentication, end to end at a tiny size. What it says about time is not judged here."""

import subprocess
import sys
from pathlib import Path

from keys import OUTCOMES

BENCH = Path(__file__).parents[2] / "bench"


def test_every_kind_of_key_is_in_the_table_and_met_with_the_right_answer() -> None:
    command = [sys.executable, str(BENCH / "keys.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["CASE", "MEDIAN", "µs", "SPREAD", "µs"]
    assert [line.rsplit(maxsplit=2)[0].strip() for line in lines] == list(OUTCOMES)
