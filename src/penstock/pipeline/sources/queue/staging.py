"""The staging of a stream: what was received for a batch, on disk before Spark sees a row of it.

    stagingLocation/
      owner.json                 the queue that this staging is of
      owner.lock                 held by the driver of the running query
      unsure.json                ids of messages that are done with, and may come again: {id: when it was noted}
      <batch>/plan.json          the shares of a batch and when it was planned, by the driver's clock
      <batch>/<index>.arrow      what the task of one share received; once there, it never changes
      <batch>/given-back         the messages were made visible again: others may hold them
      <batch>/settled            Spark committed the batch, and its messages are deleted

A file appears whole under its name or not at all, so a batch that is planned again has the same rows. The folder of a
settled batch stays until the next one is settled: should Spark's own note of its commit be lost with the power, the
rows are still there.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from penstock.pipeline.files import sync

FORGET_MS = 15 * 86_400_000
"""A message lives for fourteen days at most; what is older than that cannot come again."""
TAKEOVER_SECONDS = 30.0
"""For so long a query that has been stopped may still be giving messages back."""


class StagingError(Exception):
    """The staging is not what this query left, or somebody else's."""


@dataclass(frozen=True)
class Plan:
    shares: tuple[int, ...]
    made_ms: int


class Staging:
    """Paths and what is in them. Any process may read; only the one that has called `claim` plans and settles."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock: IO[bytes] | None = None

    # The owner

    def claim(self, queue_url: str, sleep: Callable[[float], None] = time.sleep) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._lock = (self.root / "owner.lock").open("ab")
        except OSError as error:
            raise StagingError(f"stagingLocation {self.root} cannot be used: {error.strerror}") from error
        deadline = time.monotonic() + TAKEOVER_SECONDS
        while not self._locked():
            if time.monotonic() > deadline:
                self.release()
                raise StagingError(f"stagingLocation {self.root} is in use by another running query: give each its own")
            sleep(0.1)
        owner = self.root / "owner.json"
        if not owner.exists():
            write_whole(owner, json.dumps({"queue": queue_url, "version": 1}).encode())
        elif (theirs := json.loads(owner.read_text())["queue"]) != queue_url:
            self.release()
            raise StagingError(f"stagingLocation {self.root} is of another queue, {theirs}: give each query its own")

    def _locked(self) -> bool:
        assert self._lock is not None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    # Batches

    def folder(self, batch: int) -> Path:
        return self.root / f"{batch:012d}"

    def batches(self) -> list[int]:
        return sorted(int(entry.name) for entry in self.root.iterdir() if entry.name.isdigit())

    def plan(self, batch: int) -> Plan | None:
        try:
            found = json.loads((self.folder(batch) / "plan.json").read_text())
        except FileNotFoundError:
            return None
        return Plan(tuple(found["shares"]), found["made_ms"])

    def write_plan(self, batch: int, plan: Plan) -> None:
        self.folder(batch).mkdir(exist_ok=True)
        write_whole(self.folder(batch) / "plan.json", json.dumps(asdict(plan)).encode())
        sync(self.root)

    def file(self, batch: int, index: int) -> Path:
        return self.folder(batch) / f"{index}.arrow"

    def files(self, batch: int) -> list[Path]:
        return sorted(self.folder(batch).glob("*.arrow"))

    def mark(self, batch: int, word: str) -> None:
        write_whole(self.folder(batch) / word, b"")

    def marked(self, batch: int, word: str) -> bool:
        return (self.folder(batch) / word).exists()

    def discard(self, batch: int) -> None:
        shutil.rmtree(self.folder(batch), ignore_errors=True)

    # Messages that may come again

    def unsure(self) -> dict[str, int]:
        try:
            return dict(json.loads((self.root / "unsure.json").read_text()))
        except FileNotFoundError:
            return {}

    def note_unsure(self, add: Iterable[str], remove: Iterable[str], now_ms: int) -> None:
        before = self.unsure()
        after = {**before, **dict.fromkeys(add, now_ms)}
        for gone in remove:
            after.pop(gone, None)
        after = _young(after, now_ms)
        if after != before:
            write_whole(self.root / "unsure.json", json.dumps(after).encode())


def _young(noted: Mapping[str, int], now_ms: int) -> dict[str, int]:
    return {message: when for message, when in noted.items() if now_ms - when < FORGET_MS}


def write_whole(path: Path, content: bytes) -> None:
    """The whole content, or what was there before."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync(path.parent)


def publish(temporary: Path, path: Path) -> bool:
    """Give a finished file its name, unless another has it: then False."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    sync(path.parent)
    return True
