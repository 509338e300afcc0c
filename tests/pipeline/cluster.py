"""A standalone Spark cluster on this machine: a master and two workers, as processes that can be killed."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pyspark

HOME = Path(pyspark.__file__).parent
START_SECONDS = 120
EXECUTOR = "CoarseGrainedExecutorBackend"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.master = f"spark://127.0.0.1:{free_port()}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int = 2) -> None:
        port = self.master.rpartition(":")[2]
        self._launch("master", "master.Master", "--port", port)
        for number in range(workers):
            work = self.folder / f"worker-{number}"
            self._launch(f"worker-{number}", "worker.Worker", "-c", "1", "-m", "1g", "-d", str(work), self.master)
        deadline = time.monotonic() + START_SECONDS
        while self._said("master").count("Registering worker") < workers:
            assert time.monotonic() < deadline, f"the cluster did not start:\n{self._said('master')}"
            time.sleep(0.2)

    def _launch(self, name: str, what: str, *words: str) -> None:
        arguments = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}", "--host", "127.0.0.1"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [*arguments, "--webui-port", str(free_port()), *words],
                    env=os.environ
                    | {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _said(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def executors(self) -> list[psutil.Process]:
        found = [child for one in self._processes for child in psutil.Process(one.pid).children(recursive=True)]
        return [process for process in found if EXECUTOR in " ".join(_words(process))]

    def stop(self) -> None:
        for process in self._processes:
            for child in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            process.kill()
            process.wait()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has just gone
        return []


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    running = Cluster(folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()
