"""Drivers of `penstock pipeline` as processes, and moments to kill them at."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

END_SECONDS = 240
LOOK_SECONDS = 0.005
"""Steps take longer than this, and looking more often takes from the driver the core that it needs."""
SMALL = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.driver.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


@dataclass
class Driver:
    """One run of a job, to its end or to its death. A test that fails or is interrupted leaves none behind."""

    words: Sequence[str]
    master: str
    log: Path

    def start(self) -> "Driver":
        settings = [f"--conf={name}={value}" for name, value in SMALL.items()]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "penstock", "pipeline", *self.words, "--master", self.master, *settings],
                env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def end(self) -> int:
        try:
            return self.process.wait(END_SECONDS)
        finally:
            self.kill()

    def kill_when(self, moment: Callable[[], bool]) -> bool:
        """Whether the moment came before the job's end."""
        deadline = time.monotonic() + END_SECONDS
        try:
            while self.process.poll() is None and time.monotonic() < deadline:
                if moment():
                    return True
                time.sleep(LOOK_SECONDS)
        finally:
            self.kill()
        return False

    def kill(self) -> None:
        """-9, to Python and to its JVM, if it has not ended."""
        if self.process.poll() is not None:
            return
        family = [*psutil.Process(self.process.pid).children(recursive=True), psutil.Process(self.process.pid)]
        for process in family:
            with suppress(psutil.NoSuchProcess):  # a worker leaves by itself when its JVM is gone
                process.kill()
        self.process.wait()

    def said(self) -> str:
        return self.log.read_text(errors="replace")


def files(folder: Path, pattern: str) -> int:
    return sum(1 for _ in folder.glob(pattern)) if folder.exists() else 0


def moments(table: Path, checkpoint: Path) -> dict[str, Callable[[], Callable[[], bool]]]:
    """Name → something that, asked at a driver's start, tells when the moment has come."""

    def grows(folder: Path, pattern: str) -> Callable[[], Callable[[], bool]]:
        def at_start() -> Callable[[], bool]:
            before = files(folder, pattern)
            return lambda: files(folder, pattern) > before

        return at_start

    return {
        "planned": grows(checkpoint, "offsets/*"),
        "being written": grows(table, "_staging/*/*"),
        "moved": grows(table, "date=*/*.parquet"),
        "committed": grows(table, "_manifest/*.json"),
        "remembered": grows(checkpoint, "commits/*"),
    }
