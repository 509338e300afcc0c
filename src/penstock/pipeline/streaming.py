"""Runs a streaming job: Spark plans the batches and remembers them, `write` commits each, here somebody watches.

Spark may ask for the last batch again after a crash; the tables know it by its number. A signal lets the batch that is
being written come to its end. What `write` raised is raised here again, instead of what Spark and py4j made of it.
"""

import re
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame

from penstock.pipeline.told import Told

Write = Callable[[DataFrame, int], None]


@dataclass(frozen=True)
class Pace:
    once: bool = False
    """Take what is there now, and end."""
    every: str = "10 seconds"


class JobFailed(Told):
    """Spark gave the job up; the message is the cause, in one line."""


def run(frame: DataFrame, write: Write, checkpoint: str, pace: Pace) -> None:
    raised: list[Exception] = []

    def writing(batch: DataFrame, number: int) -> None:
        try:
            write(batch, number)
        except Exception as error:
            raised.append(error)
            raise

    trigger: dict[str, Any] = {"availableNow": True} if pace.once else {"processingTime": pace.every}
    writer = frame.writeStream.foreachBatch(writing).option("checkpointLocation", checkpoint)
    query = writer.trigger(**trigger).start()
    stopping = threading.Event()

    def stop(number: int, where: FrameType | None) -> None:
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not query.awaitTermination(1):
            if stopping.is_set():
                query.stop()
    except StreamingQueryException as error:
        if raised and not _of_spark(raised[-1]):
            raise raised[-1] from None
        raise JobFailed(cause(str(error))) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _of_spark(error: Exception) -> bool:
    return type(error).__module__.startswith(("pyspark", "py4j"))


FAILED = re.compile(r"terminated with exception: (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
"""What Spark says of a query that failed; the query itself, with its plan, follows for a page."""
OURS = re.compile(r"^(?:\S+: )?penstock\.pipeline\.[\w.]+: (.+)$", re.MULTILINE)


def cause(trace: str) -> str:
    """What our own code raised on an executor, or else the last cause in a trace of the JVM, in one line."""
    if ours := OURS.findall(trace):
        return str(ours[-1]).strip()
    causes = re.findall(r"^\s*(?:Caused by: )?([\w.$]+(?:Exception|Error)): (.+)$", trace, re.MULTILINE)
    if not causes:
        failed = FAILED.search(trace)
        return " ".join((failed[1] if failed else trace).split())[:500]
    name, words = causes[-1]
    return f"{words.strip()} ({name.rpartition('.')[2]})"
