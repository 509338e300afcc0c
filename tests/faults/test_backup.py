"""B17: a backup made while everybody works. What is restored from it is the truth of one moment of the backup.

The history is cut at that moment: what had ended before the backup began is certain, what overlaps it may be in it or
not, and what came later never happened. Then everything must hold of it, with the drain of the restored server.
"""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from server_process import Server, clean_environment
from tally import count

from .audit import faults_of
from .history import Operation
from .invariants import violations
from .workload import Workload

SECONDS = 3


def penstock(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", *words], cwd=folder, env=clean_environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def as_of(operations: Sequence[Operation], began: float, ended: float) -> list[Operation]:
    kept = [operation for operation in operations if operation.start < ended]
    during = [operation for operation in kept if operation.end >= began]
    taken = {m["handle"]: m["id"] for o in during if o.op == "receive" for m in o.reply.get("messages", ())}
    doubtful = {taken[h] for o in during if o.op == "delete" for h in o.request["handles"] if h in taken}
    return [
        without(operation, doubtful) if operation.end < began else replace(operation, outcome="info", reply={})
        for operation in kept
    ]


def without(operation: Operation, doubtful: set[str]) -> Operation:
    """What was received and deleted during the backup may be in it or not: as if its send had not been answered."""
    if operation.op != "send" or not operation.ok:
        return operation
    results = [{} if result.get("id") in doubtful else result for result in operation.reply["results"]]
    return replace(operation, reply={"results": results})


def test_a_backup_under_load_holds_all_that_was_acknowledged_before_it(
    start: Callable[..., Server], folder: Path, rng: random.Random
) -> None:
    server = start(PENSTOCK_AUTH="on")
    with closing(Workload(server, folder / "history", str(rng.random()))) as work:
        work.prepare()
        work.start(producers=4, consumers=4)
        time.sleep(rng.uniform(1, SECONDS))
        began = time.monotonic()
        penstock(folder, "backup", "copy.db")
        ended = time.monotonic()
        time.sleep(0.5)
        work.stop()
    operations = as_of(work.history(), began, ended)
    assert server.stop() == 0
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    penstock(elsewhere, "restore", str(folder / "copy.db"))
    assert faults_of(elsewhere / "data" / "penstock.db", elsewhere) == []
    shutil.copy(server.data / "master.key", elsewhere / "data")
    restored = start(elsewhere, PENSTOCK_AUTH="on")
    with closing(Workload(restored, folder / "drained", "")) as work:
        work.count()
        work.drain()
    count(cycles=1)
    assert any(operation.op == "send" and operation.ok for operation in operations)
    assert violations([*operations, *work.history()]) == {}
    assert restored.stop() == 0
