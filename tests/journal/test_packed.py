"""Lines that come packed: they become text a moment later, in another thread, and are nowhere out of order, missing or
twice."""

import asyncio
import errno
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest

from penstock.core.outbox import PACKED, unpacked
from penstock.journal.disk import Disk
from penstock.journal.writer import GATHER_SECONDS

from .desk import Desk, Fatal, FullDisk

BATCHES = 30


def packed(lines: bytes) -> bytes:
    return PACKED + msgspec.msgpack.encode([lines])


def all_of_them(number: int) -> bool:
    return True


def every_third(number: int) -> bool:
    return number % 3 == 0


class PackingDesk(Desk):
    """Its store packs the lines of commits that `packs` chooses."""

    packs: Callable[[int], bool] = staticmethod(all_of_them)

    def _listen(self) -> None:
        commits = count()

        def committed(first: int, last: int, lines: bytes) -> None:
            self.lines += lines.splitlines(keepends=True)
            self.journal.writer.committed(first, last, packed(lines) if self.packs(next(commits)) else lines)

        self.journal.committed = committed  # type: ignore[method-assign]

    async def keep(self) -> None:
        """What is done in the background, once."""
        await self.keeper.run_once(self.clock.now())

    async def send_many(self, number: int = BATCHES) -> None:
        for place in range(number):
            await self.send(f"m{place}")


@pytest.fixture
async def desk(tmp_path: Path) -> PackingDesk:
    return PackingDesk(tmp_path)


def test_what_is_packed_has_its_lines() -> None:
    assert unpacked(packed(b"{}\n")) == unpacked(b"{}\n") == b"{}\n"


def test_what_was_packed_as_text_is_still_read() -> None:
    part = [b'{"seq":', b',"id":"', b',"by":"me"', 7, [b'a"', b"}\n", b'b","size":3', b',"duration_ms":4}\n']]
    kept = PACKED + msgspec.msgpack.encode([b"{}\n", part])
    assert unpacked(kept) == (
        b'{}\n{"seq":7,"id":"a","by":"me"}\n{"seq":8,"id":"b","size":3,"by":"me","duration_ms":4}\n'
    )


@pytest.mark.parametrize("packs", [all_of_them, every_third])
async def test_lines_are_in_the_files_in_their_order(desk: PackingDesk, packs: Callable[[int], bool]) -> None:
    desk.packs = packs
    await desk.begin()
    await desk.send_many()
    await desk.journal.writer.settle()
    assert desk.written() == desk.lines
    await desk.send_many()
    await desk.keep()
    assert desk.journal.writer.idle
    assert desk.written() == desk.lines
    await desk.journal.stop()


async def test_they_are_there_a_moment_later_though_nobody_asks(desk: PackingDesk) -> None:
    await desk.begin()
    await desk.send_many()
    assert not desk.journal.writer.idle
    await desk.journal.wait(desk.store.journal_seq(), 60)
    assert desk.written() == desk.lines
    await desk.journal.stop()


async def test_who_reads_finds_what_was_just_committed(desk: PackingDesk) -> None:
    journal = await desk.begin()
    await desk.send_many()
    read = await journal.read(journal.node, 1, 1 << 20)
    assert read.lines.splitlines(keepends=True) == desk.lines
    await journal.stop()


async def test_who_waits_is_told(desk: PackingDesk) -> None:
    journal = await desk.begin()
    await desk.send("first")
    await journal.writer.settle()
    waiting = asyncio.ensure_future(journal.wait(journal.last + 1, 3600))
    await asyncio.sleep(0)
    await desk.send("second")
    await asyncio.wait_for(waiting, 60)
    assert desk.written() == desk.lines
    await journal.stop()
    assert desk.written() == desk.lines


async def test_it_can_be_asked_for_at_any_moment(desk: PackingDesk) -> None:
    await desk.begin()
    for moment in range(200):
        await desk.send("a")
        desk.journal.writer._begin_to_append()
        for _ in range(moment % 10):
            await asyncio.sleep(0)
        await desk.journal.writer.settle()
        assert desk.journal.writer.last == desk.store.journal_seq()
    await desk.journal.stop()
    assert desk.written() == desk.lines


async def test_to_ask_for_it_ends_though_more_comes_all_the_time(desk: PackingDesk) -> None:
    disk = OneByOne()
    journal = await desk.begin(disk)
    await desk.send("first")
    goal, settling = desk.store.journal_seq(), asyncio.ensure_future(journal.writer.settle())
    await asyncio.to_thread(disk.asked.wait, 60)
    await desk.send("another")
    disk.going_on.set()
    await asyncio.wait_for(settling, 10)
    assert journal.last == goal
    disk.going_on.set()
    await journal.stop()
    assert desk.written() == desk.lines


async def test_many_commits_are_written_at_once(desk: PackingDesk) -> None:
    disk = Counting()
    journal = await desk.begin(disk)
    await desk.send_many()
    await journal.writer.settle()
    assert disk.written == 1
    assert desk.written() == desk.lines
    await journal.stop()


async def test_segments_are_rolled_on_the_way(desk: PackingDesk) -> None:
    await desk.begin(segment_bytes=1000)
    await desk.send_many()
    await desk.keep()
    await desk.send_many()
    await desk.journal.stop()
    assert len(desk.files) > BATCHES // 10
    assert desk.written() == desk.lines


async def test_a_server_that_stops_writes_them(desk: PackingDesk) -> None:
    await desk.begin()
    await desk.send_many()
    await desk.journal.stop()
    assert desk.written() == desk.lines


async def test_what_a_full_disk_did_not_take_comes_from_the_outbox(desk: PackingDesk) -> None:
    disk = FullDisk(1 << 20)
    journal = await desk.begin(disk)
    await desk.send_many(3)
    await journal.writer.settle()
    disk.room = 1000
    await desk.send_many()
    await journal.writer.settle()
    assert journal.trouble()
    await desk.send_many()
    disk.room = 1 << 20
    await desk.keep()
    assert journal.trouble() is None
    assert desk.written() == desk.lines
    await journal.stop()


class Counting(Disk):
    written = 0

    def write(self, file: int, lines: bytes) -> None:
        self.written += 1
        super().write(file, lines)


class Slow(Disk):
    """Writes when it is told to."""

    def __init__(self) -> None:
        self.asked, self.going_on = threading.Event(), threading.Event()

    def write(self, file: int, lines: bytes) -> None:
        self.asked.set()
        self.going_on.wait(60)
        super().write(file, lines)


class OneByOne(Slow):
    """It has to be told for each."""

    def write(self, file: int, lines: bytes) -> None:
        super().write(file, lines)
        self.going_on.clear()


async def test_an_event_after_all_was_published_is_told_of_whatever_came_meanwhile(desk: PackingDesk) -> None:
    disk, wakes = Slow(), list[None]()
    journal = await desk.begin(disk)
    journal.wake = lambda: wakes.append(None)
    disk.going_on.set()
    await desk.send("a")
    await journal.writer.settle()
    desk.clock.advance(61)
    disk.going_on.clear()
    disk.asked.clear()
    keeping = asyncio.ensure_future(desk.keep())
    await desk.send("b")
    await asyncio.to_thread(disk.asked.wait, 60)
    await desk.send("c")
    disk.going_on.set()
    await keeping
    for _ in range(2):
        desk.clock.advance(61)
        await desk.keep()
    assert journal.idle
    assert desk.find("_open-*") == []
    wakes.clear()
    await desk.send("d")
    assert wakes
    await journal.stop()


async def test_a_disk_that_does_not_keep_up_is_caught_up_with_from_the_outbox(desk: PackingDesk) -> None:
    disk = Slow()
    journal = await desk.begin(disk)
    await desk.send("first")
    await journal.wait(desk.store.journal_seq(), 2 * GATHER_SECONDS)
    journal.writer.most_gathered = 1000
    await desk.send_many()
    assert journal.writer.behind
    disk.going_on.set()
    await desk.keep()
    assert not journal.writer.behind
    assert desk.written() == desk.lines
    await journal.stop()


async def test_a_disk_that_fails_stops_the_server(desk: PackingDesk) -> None:
    class Broken(Disk):
        def write(self, file: int, lines: bytes) -> None:
            raise OSError(errno.EIO, "Input/output error")

    journal = await desk.begin(Broken())
    await desk.send("a")
    with pytest.raises(Fatal):
        await journal.writer.settle()
