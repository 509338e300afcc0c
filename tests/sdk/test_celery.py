"""Celery with its SQS transport: a task outlives the worker that died with it, is put off, and is done."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server_process import Server

from .conftest import program

FOLDER = Path(__file__).parent / "celery"
PATIENCE_SECONDS = 60
COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")
Work = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def celery(server: Server, tmp_path: Path) -> Iterator[Work]:
    """`celery("worker")` starts that command of Celery; what still runs at the end is killed."""
    running: list[subprocess.Popen[bytes]] = []
    python = program("celery", "python")

    def start(*words: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{len(running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [python, "-m", "celery", "--workdir", tmp_path, "-A", "work", *words],
                env=server.environment | {"PYTHONPATH": str(FOLDER), "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=log,
                stderr=log,
            )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


def is_empty(sqs: Any) -> bool:
    counts = sqs.get_queue_attributes(QueueUrl="celery-work", AttributeNames=COUNTS)["Attributes"]
    return set(counts.values()) == {"0"}


def test_a_task_outlives_its_worker_and_is_done_by_the_next(celery: Work, sqs: Any, tmp_path: Path) -> None:
    worker = ("worker", "--pool", "solo", "--without-gossip", "--without-mingle", "--without-heartbeat")
    assert celery("call", "work.paint", "--args", '["né ሴ 🎈"]').wait(PATIENCE_SECONDS) == 0
    assert celery(*worker).wait(PATIENCE_SECONDS) == -9
    celery(*worker)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ((tmp_path / "done").exists() and is_empty(sqs)):
        assert time.monotonic() < deadline, (tmp_path / "2.log").read_text()
        time.sleep(0.1)
    assert (tmp_path / "done").read_text() == "né ሴ 🎈"
