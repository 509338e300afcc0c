"""kill -9 of a driver at chosen moments: each message is once in an idempotent sink, and the queue ends up empty."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from pipeline.drivers import LOOK_SECONDS
from pipeline.queue.conftest import TestQueue

PROGRAM = Path(__file__).with_name("streaming_program.py")
SECONDS = 180
MESSAGES = 1500
"""Six batches: more than are committed before the last kill."""
MOMENTS = {
    "planned": "staging/*/plan.json",
    "received": "staging/*/*.arrow",
    "in the sink": "out/batch=*/_SUCCESS",
    "committed by Spark": "checkpoint/commits/[0-9]*",
    "deleted": "staging/*/settled",
}


def start(folder: Path, queue: TestQueue) -> "subprocess.Popen[bytes]":
    options = queue.options | {"maxMessagesPerTrigger": "250", "visibilityTimeout": "5", "numPartitions": "2"}
    arguments = [f"{name}={value}" for name, value in options.items()]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), *arguments], stdout=log, stderr=log, start_new_session=True
        )


def kill_when_there_is_another(pattern: str, folder: Path, process: "subprocess.Popen[bytes]") -> None:
    before = set(folder.glob(pattern))
    deadline = time.monotonic() + SECONDS
    try:
        while not set(folder.glob(pattern)) - before:
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(LOOK_SECONDS)
    finally:
        kill(process)


def kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_each_message_is_in_the_sink_once_whenever_the_driver_was_killed(
    spark: SparkSession, queue: TestQueue, tmp_path: Path
) -> None:
    queue.send(*map(str, range(MESSAGES)))
    for pattern in MOMENTS.values():
        kill_when_there_is_another(pattern, tmp_path, start(tmp_path, queue))
    last = start(tmp_path, queue)
    try:
        assert last.wait(SECONDS) == 0, (tmp_path / "log").read_text()[-3000:]
    finally:
        kill(last)
    found = Counter(int(row.body) for row in spark.read.parquet(str(tmp_path / "out")).select("body").collect())
    assert found == Counter(range(MESSAGES))
    assert queue.counts() == (0, 0)
