"""Reading the journal from any number on, and what is kept of it for whom."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.core.errors import ServiceError
from penstock.core.journal import Segment, UnknownReader
from penstock.core.queue import QueueKey
from penstock.journal.reader import CURSORS, Reader
from penstock.journal.readers import Readers
from penstock.journal.retention import DAY_MS, Removed, Retention
from penstock.journal.segments import Segments

from .desk import ORDERS, Desk

OTHER = QueueKey("us-east-1", "000000000000", "other")


Open = Callable[[Desk], Reader]


@pytest.fixture
def reading() -> Iterator[Open]:
    """Makes readers of a desk's journal, and closes them."""
    made: list[Reader] = []

    def open_reader(desk: Desk) -> Reader:
        made.append(Reader(desk.journal.files))
        return made[-1]

    yield open_reader
    for reader in made:
        reader.close()


async def desk_with_segments(folder: Path, number: int = 3) -> Desk:
    """So many published segments with two events or more in each, and two events in an open one."""
    desk = Desk(folder)
    await desk.begin()
    for name in range(number):
        await desk.send(f"{name}")
        await desk.tick(61)
    await desk.send("x", "y")
    return desk


def everything(reader: Reader, desk: Desk, most: int, seq: int = 1) -> list[bytes]:
    lines: list[bytes] = []
    while True:
        chunk = reader.read(desk.journal.node, seq, most)
        assert chunk.first == seq
        lines += chunk.lines.splitlines(keepends=True)
        seq = chunk.next
        if not chunk.more:
            return lines


@pytest.mark.parametrize("most", [1, 300, 500, 10_000, 1_048_576])
async def test_reading_in_pieces_of_any_size_gives_every_line_once(tmp_path: Path, reading: Open, most: int) -> None:
    desk = await desk_with_segments(tmp_path)
    reader = reading(desk)
    assert everything(reader, desk, most) == desk.lines
    assert everything(reader, desk, most, 4) == desk.lines[3:]


async def test_a_piece_is_no_larger_than_asked_for_unless_a_single_line_is(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path)
    reader = reading(desk)
    assert reader.read(desk.journal.node, 1, 1).lines == desk.lines[0]
    two = len(desk.lines[0]) + len(desk.lines[1])
    assert reader.read(desk.journal.node, 1, two).next == 3
    assert reader.read(desk.journal.node, 1, two - 1).next == 2


async def test_a_reader_goes_on_while_its_segment_is_written_and_published(tmp_path: Path, reading: Open) -> None:
    desk = Desk(tmp_path)
    await desk.begin(segment_bytes=65_536)
    reader, read, seq = reading(desk), [], 1
    for number in range(30):
        await desk.send(f"{number}")
        if number % 7 == 0:
            await desk.tick(61)
        if number % 3 == 0:
            chunk = reader.read(desk.journal.node, seq, 10**6)
            read += chunk.lines.splitlines(keepends=True)
            seq = chunk.next
            assert read == desk.lines


async def test_a_line_that_is_only_half_written_is_not_read(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path, 0)
    reader, [file] = reading(desk), desk.find("_open*")
    with file.open("ab") as end:
        end.write(b'{"node":"')
        end.flush()
        chunk = reader.read(desk.journal.node, 1, 10**6)
        assert chunk.lines.splitlines(keepends=True) == desk.lines
        end.write(b'x","seq":4}\n')
        end.flush()
        assert reader.read(desk.journal.node, chunk.next, 10**6).lines == b'{"node":"x","seq":4}\n'


async def test_where_earlier_events_are_gone_reading_begins_with_what_there_is(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path)
    oldest = desk.journal.files.all(desk.journal.node)[0]
    desk.journal.files.remove(oldest)
    chunk = reading(desk).read(desk.journal.node, 1, 10**6)
    assert chunk.first == oldest.last + 1
    assert chunk.lines.splitlines(keepends=True) == desk.lines[oldest.last :]
    assert reading(desk).read("nobody", 7, 10**6) == (b"", 7, 7, False)


async def test_a_gap_is_never_within_a_piece(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path)
    reader, node = reading(desk), desk.journal.node
    first, second, *_ = desk.journal.files.closed(node)
    assert reader.read(node, 1, 1).next == 2
    for forced in (first, second):
        desk.journal.files.remove(forced)
    before = reader.read(node, 2, 10**6)
    assert (before.first, before.next, before.more) == (2, first.last + 1, True)
    assert before.lines.splitlines(keepends=True) == desk.lines[1 : first.last]
    after = reader.read(node, before.next, 10**6)
    assert after.first == second.last + 1
    assert after.lines.splitlines(keepends=True) == desk.lines[second.last :]


async def test_one_queue_alone_can_be_read_with_what_comes_to_it_from_others(tmp_path: Path, reading: Open) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    await desk.send("a", queue=ORDERS)
    await desk.send("b", queue=OTHER)
    reader, node = reading(desk), desk.journal.node
    for name in ("other", OTHER.arn):
        chunk = reader.read(node, 1, 10**6, name)
        assert chunk.lines.splitlines(keepends=True) == desk.lines[2:]
        assert chunk.next == 5
    assert reader.read(node, 1, 10**6, OTHER.arn.replace("us-east-1", "eu-west-1")).lines == b""


class Counting(Segments):
    listings = 0

    def all(self, node: str) -> list[Segment]:
        self.listings += 1
        return super().all(node)


async def test_files_are_not_listed_again_for_every_segment_that_is_read(tmp_path: Path) -> None:
    """Where little happens a week is ten thousand small ones."""
    desk = await desk_with_segments(tmp_path, 30)
    files = Counting(tmp_path)
    with closing(Reader(files)) as reader:
        assert reader.read(desk.journal.node, 1, 10**6).lines.splitlines(keepends=True) == desk.lines
    assert files.listings <= 2


async def test_files_are_listed_again_when_a_name_has_come_or_gone(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    node, files = desk.journal.node, Counting(tmp_path)

    def listings() -> int:
        for folder in tmp_path.glob("node=*/date=*"):
            os.utime(folder, ns=(0, folder.stat().st_mtime_ns - 10**10))  # as if nothing had happened for a while
        files.listings = 0
        assert files.known(node) == files.known(node)
        return files.listings

    assert listings() == 1
    files.remove(files.all(node)[0])
    assert listings() == 1
    assert files.known(node) == Segments(tmp_path).all(node)
    files.listings = 0
    await desk.tick(61)
    assert files.known(node) == Segments(tmp_path).all(node)
    assert files.listings


async def test_no_more_files_are_held_open_than_readers_need(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path, 1)
    reader = reading(desk)
    for _ in range(3 * CURSORS):
        reader.read(desk.journal.node, 1, 1)
    assert len(reader._kept) <= CURSORS


# Readers


def test_a_reader_is_remembered_with_what_it_committed(tmp_path: Path) -> None:
    Readers(tmp_path).register("spark", 5)
    Readers(tmp_path).commit("spark", "a", 3)
    Readers(tmp_path).commit("spark", "b", 7)
    Readers(tmp_path).register("spark", 9)
    assert Readers(tmp_path).all() == {"spark": ("spark", 5, {"a": 3, "b": 7})}
    Readers(tmp_path).remove("spark")
    assert Readers(tmp_path).all() == {}


def test_what_all_readers_committed_is_what_the_slowest_did(tmp_path: Path) -> None:
    readers = Readers(tmp_path)
    assert readers.committed("a") is None
    for name, seq in (("fast", 9), ("slow", 4)):
        readers.register(name, 0)
        readers.commit(name, "a", seq)
    assert readers.committed("a") == 4
    assert readers.committed("b") == 0


def test_readers_that_are_not_there_and_names_that_are_no_names_are_refused(tmp_path: Path) -> None:
    readers = Readers(tmp_path)
    for refused in (lambda: readers.commit("nobody", "a", 1), lambda: readers.remove("nobody")):
        with pytest.raises(UnknownReader):
            refused()
    for name in ("", "a b", "../x", "x" * 81):
        with pytest.raises(ServiceError):
            readers.register(name, 0)


# Retention


async def test_segments_go_when_they_are_old(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    now = _aged(desk, days=[9, 3, 1])
    retention = Retention(desk.journal.files, Readers(tmp_path), keep_days=2, keep_bytes=0)
    assert retention.enforce(now) == Removed(2, 0)
    assert len(desk.journal.files.closed(desk.journal.node)) == 1
    assert desk.journal.files.open(desk.journal.node)


async def test_segments_go_oldest_first_when_there_is_too_much(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    now = _aged(desk, days=[3, 2, 1])
    newest = desk.journal.files.all(desk.journal.node)[2:]
    cap = sum(segment.size for segment in newest)
    assert Retention(desk.journal.files, Readers(tmp_path), 0, cap).enforce(now) == Removed(2, 0)
    assert desk.journal.files.all(desk.journal.node) == newest


async def test_what_a_reader_has_not_committed_is_kept_whatever_its_age(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    now, readers = _aged(desk, days=[9, 9, 9]), Readers(tmp_path)
    first, second, _ = desk.journal.files.closed(desk.journal.node)
    readers.register("spark", 0)
    retention = Retention(desk.journal.files, readers, 1, 0)
    assert retention.enforce(now) == Removed(0, 0)
    readers.commit("spark", desk.journal.node, second.last - 1)
    assert retention.enforce(now) == Removed(1, 0)
    assert not first.path.exists()
    assert second.path.exists()
    readers.remove("spark")
    assert retention.enforce(now) == Removed(2, 0)


async def test_the_cap_on_bytes_wins_over_readers_and_that_is_counted(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    now, readers = _aged(desk, days=[3, 2, 1]), Readers(tmp_path)
    readers.register("spark", 0)
    newest = desk.journal.files.all(desk.journal.node)[2:]
    retention = Retention(desk.journal.files, readers, 0, sum(segment.size for segment in newest))
    assert retention.enforce(now) == Removed(2, 2)
    assert desk.journal.files.all(desk.journal.node) == newest


async def test_what_is_committed_goes_before_what_is_not(tmp_path: Path) -> None:
    """Of two nodes the reader is done with the newer."""
    desk = await desk_with_segments(tmp_path, 1)
    other = await _another_node(tmp_path)
    now, readers = _aged(desk, days=[9]), Readers(tmp_path)
    readers.register("spark", 0)
    readers.commit("spark", other.journal.node, 10**6)
    total = sum(s.size for d in (desk, other) for s in d.journal.files.all(d.journal.node))
    assert Retention(desk.journal.files, readers, 0, total - 1).enforce(now) == Removed(1, 0)
    assert desk.journal.files.closed(desk.journal.node)


async def test_the_folders_of_a_node_that_is_gone_go_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    await desk.send("a")
    desk.journal.writer.roll()
    await desk.tick(1)
    for path in desk.find("_open*"):
        path.unlink()
    assert Retention(desk.journal.files, Readers(tmp_path), 1, 0).enforce(_aged(desk, days=[9])) == Removed(1, 0)
    assert Segments(tmp_path).nodes() == []


async def _another_node(folder: Path) -> Desk:
    desk = Desk(folder)
    await desk.begin()
    await desk.send("z")
    await desk.tick(61)
    return desk


def _aged(desk: Desk, days: list[int]) -> int:
    """Make published segments so many days old; what time it is."""
    now = 1_800_000_000_000
    for segment, age in zip(desk.journal.files.closed(desk.journal.node), days, strict=False):
        os.utime(segment.path, (0, (now - age * DAY_MS) / 1000))
    for path in desk.find("_open*"):
        os.utime(path, (0, now / 1000))
    return now


async def test_the_time_of_any_event_can_be_asked_for(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    times = [json.loads(line)["ts_ms"] for line in desk.lines]
    assert [await desk.journal.time_of(seq) for seq in range(1, len(times) + 1)] == times
    assert await desk.journal.time_of(len(times) + 1) is None
    await desk.journal.stop()


async def test_the_time_of_an_event_that_cannot_be_read_is_that_of_the_next_that_can(tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    first = desk.journal.files.closed(desk.journal.node)[0]
    time = await desk.journal.time_of(first.last + 1)
    first.path.write_bytes(first.path.read_bytes()[:20])
    assert await desk.journal.time_of(1) == time
    await desk.journal.stop()


@pytest.mark.parametrize("queue", [None, "orders"])
async def test_what_a_flipped_bit_altered_is_never_read(queue: str | None, tmp_path: Path) -> None:
    desk = await desk_with_segments(tmp_path)
    files, node = desk.journal.files, desk.journal.node
    second = files.closed(node)[1]
    image = second.path.read_bytes()
    unharmed = [line for number, line in enumerate(desk.lines, 1) if not second.first <= number <= second.last]
    for place in range(10, len(image), 7):  # behind the head, whose time and system are not data
        second.path.write_bytes(image[:place] + bytes([image[place] ^ 16]) + image[place + 1 :])
        found, seq, more = list[bytes](), 1, True
        with closing(Reader(files)) as reader:
            while more:
                chunk = reader.read(node, seq, 10**6, queue)
                found += chunk.lines.splitlines(keepends=True)
                seq, more = chunk.next, chunk.more
        assert found == unharmed, place


async def test_a_line_that_cannot_be_read_is_not_of_the_queue_asked_for(tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path, 0)
    [file] = desk.find("_open*")
    file.write_bytes(file.read_bytes().replace(b'"region"', b'"reg\xff\n"', 1))
    assert reading(desk).read(desk.journal.node, 1, 10**6, "orders").lines.count(b"SENT") == 2


@pytest.mark.parametrize("left", [0, 0.3, 0.9])
async def test_a_damaged_segment_is_a_gap_and_not_the_end(left: float, tmp_path: Path, reading: Open) -> None:
    desk = await desk_with_segments(tmp_path)
    reader, node = reading(desk), desk.journal.node
    whole = everything(reader, desk, 1_000_000)
    second = desk.journal.files.closed(node)[1]
    second.path.write_bytes(second.path.read_bytes()[: round(left * second.size)])
    reader, found, missing, seq = reading(desk), [], [], 1
    more = True
    while more:
        chunk = reader.read(node, seq, 1_000_000)
        more = chunk.more
        missing += range(seq, chunk.first)
        found += chunk.lines.splitlines(keepends=True)
        seq = chunk.next
    assert missing
    assert set(missing) <= set(range(second.first, second.last + 1))
    assert found == [line for number, line in enumerate(whole, 1) if number not in missing]
