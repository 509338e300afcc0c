"""What this run has done so far, for the table at the end of `make battery`: cycles survived, requests, messages.

A cycle is what a part repeats: a kill, a power cut, a race, a broken exchange, a fuzzed request.
"""

import json
import os
from collections import Counter
from pathlib import Path

DONE: Counter[str] = Counter()


def count(**numbers: int) -> None:
    DONE.update(numbers)


def write_down(tests: int) -> None:
    """Where whoever started this run wants to read it. Where nothing else was counted, a test is a cycle."""
    DONE.setdefault("cycles", tests)
    if target := os.environ.get("PENSTOCK_TALLY"):
        Path(target).write_text(json.dumps(DONE))
