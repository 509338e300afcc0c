"""A log in a folder, over any number of lives of the server, with a clock that moves when told to."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.audit.files import Files, lines
from penstock.audit.log import Log
from penstock.core.audit import Entry, Kind, Sealed, read_line
from penstock.core.clock import ManualClock
from penstock.journal.disk import Disk
from penstock.loops.audit import AuditKeeper

Begin = Callable[..., Log]


class Fatal(Exception):
    """The server would have stopped."""


class FullDisk(Disk):
    """Takes a part of the first lines when it is `full`, and no more."""

    full = True

    def write(self, file: int, lines: bytes) -> None:
        super().write(file, lines[: len(lines) // 2] if self.full else lines)
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")


class CountingDisk(Disk):
    syncs = 0

    def sync(self, file: int) -> None:
        self.syncs += 1
        super().sync(file)


class SickDisk(Disk):
    def sync(self, file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def begin(tmp_path: Path, clock: ManualClock) -> Begin:
    """`begin(file_bytes=…)`: a server's log, where the last one ended."""

    def fatal(error: BaseException) -> None:
        raise Fatal(str(error))

    def begin(**given: Any) -> Log:
        log = Log(tmp_path, clock, **{"keep_days": 90, "on_fatal": fatal} | given)
        log.start()
        return log

    return begin


def entry(clock: ManualClock, **given: Any) -> Entry:
    facts: dict[str, Any] = {
        "seq": 0,
        "ts_ms": clock.now(),
        "kind": Kind.CHANGE,
        "result": "ok",
        "action": "CreateUser",
    }
    return Entry(**facts | given)


def denied(clock: ManualClock, peer: str = "192.0.2.1") -> Entry:
    return entry(clock, kind=Kind.DENIED, result="denied", code="AccessDenied", peer=peer)


async def written(log: Log, *entries: Entry) -> None:
    """As the request pipeline writes them."""
    for one in entries:
        if log.admits(one):
            log.write(one)
    await log.lasting()


def kept(log: Log) -> list[Sealed]:
    return [read_line(line) for file in log.files.all() for line in lines(file.path)]


def files(folder: Path) -> list[Path]:
    return [file.path for file in Files(folder).all()]


async def an_hour(log: Log, clock: ManualClock) -> None:
    """What the loop does in an hour in which nothing new happens."""
    keeper, end = AuditKeeper(log), clock.now() + 3_600_000
    while (again := await keeper.run_once(clock.now())) is not None and again <= end:
        clock.advance((again - clock.now()) / 1000)
