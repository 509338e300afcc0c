"""The journal over many lives: whatever happens to the process or the machine, files and store agree afterwards."""

import asyncio
import contextlib
import json
import shutil
from pathlib import Path

import pytest

from penstock.core.journal import Event
from penstock.core.store import StoreError
from penstock.journal.disk import Disk
from penstock.journal.keeping import FORMAT, NODE, JournalOfServer, without_journal

from .desk import Desk, DyingDisk, Fatal, ForgetfulDisk, FullDisk, Killed

SMALL = {"segment_bytes": 700}


async def live(desk: Desk, disk: Disk | None = None) -> None:
    """A life in which segments are opened, synced, rolled by size and by time, published and taken up again."""
    await desk.begin(disk, **SMALL)
    for number in range(6):
        await desk.send(f"{number}-a", f"{number}-b")
        await desk.receive()
        if number % 2:
            await desk.tick()
    await desk.tick(61)
    await desk.send("last")
    await desk.journal.stop()


async def steps_of_a_life(folder: Path) -> int:
    disk = DyingDisk(0, "before")
    await live(Desk(folder), disk)
    return disk.steps


async def check(desk: Desk) -> None:
    """Another life, which must find everything and go on."""
    await desk.begin(**SMALL)
    assert desk.written() == desk.lines
    await desk.send("after")
    await desk.tick(61)
    await desk.journal.stop()
    assert desk.written() == desk.lines
    assert len(desk.files) == len(desk.journal.files.all(desk.journal.node)), "something was left behind"
    assert not await desk.store.outbox_after(0, 1)


@pytest.mark.parametrize("how", ["before", "after", "torn"])
async def test_a_kill_at_any_step_neither_loses_nor_repeats_an_event(tmp_path: Path, how: str) -> None:
    steps = await steps_of_a_life(tmp_path / "healthy")
    assert steps > 50
    for at in range(1, steps + 1):
        desk = Desk(tmp_path / str(at))
        with pytest.raises(Killed):
            await live(desk, DyingDisk(at, how))
        await check(desk)


@pytest.mark.parametrize("how", ["all", "half", "zeros"])
async def test_a_power_cut_at_any_step_neither_loses_nor_repeats_an_event(tmp_path: Path, how: str) -> None:
    for at in range(1, await steps_of_a_life(tmp_path / "healthy") + 1):
        desk, disk = Desk(tmp_path / str(at)), ForgetfulDisk(at, how)
        with pytest.raises(Killed):
            await live(desk, disk)
        disk.lose_power()
        await check(desk)


async def test_a_start_that_is_killed_can_be_repeated(tmp_path: Path) -> None:
    for at in range(1, 12):
        desk = Desk(tmp_path / str(at))
        with pytest.raises(Killed):
            await live(desk, DyingDisk(40, "torn"))
        disk = DyingDisk(at, "torn")
        with contextlib.suppress(Killed):
            await desk.begin(disk, **SMALL)
        await check(desk)


async def test_segments_are_published_under_names_that_say_what_is_in_them(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    await desk.send("a", "b")
    assert desk.files == ["_open-00000000000000000001.jsonl"]
    assert desk.written() == desk.lines
    await desk.tick(60)
    assert desk.files[0] == "00000000000000000001-00000000000000000003.jsonl.gz"
    assert desk.written() == desk.lines
    [*_, file] = desk.find("*")
    assert file.parent.parent.name == f"node={desk.journal.node}"
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_new_day_has_a_folder_of_its_own(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    await desk.send("a")
    desk.clock.advance(86_400)
    await desk.send("b")
    assert len({path.parent for path in desk.find("*")}) == 2
    assert desk.written() == desk.lines


async def test_the_store_is_told_what_is_on_disk_and_forgets_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    await desk.send("a")
    assert await desk.store.outbox_after(0, 10)
    await desk.tick()
    assert not [batch for batch in await desk.store.outbox_after(0, 10) if batch[0] < 3]


async def test_while_the_disk_is_full_events_wait_in_the_store(tmp_path: Path) -> None:
    desk, disk = Desk(tmp_path), FullDisk(450)
    journal = await desk.begin(disk)
    for body in "abcd":
        await desk.send(body)
    assert journal.trouble() == "The journal's disk is full."
    assert desk.lines[: len(desk.written())] == desk.written() != desk.lines
    await desk.tick()
    assert journal.trouble()
    disk.room = 10**6
    await desk.tick()
    assert journal.trouble() is None
    await desk.send("e")
    assert desk.written() == desk.lines


async def test_a_full_disk_does_not_stop_the_server_from_stopping_or_starting(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    journal = await desk.begin(FullDisk(450))
    for body in "abcd":
        await desk.send(body)
    await journal.stop()
    await desk.begin()
    assert desk.written() == desk.lines


async def test_a_disk_that_fails_stops_the_server(tmp_path: Path) -> None:
    class Failing(Disk):
        def sync(self, file: int) -> None:
            raise OSError(5, "Input/output error")

    desk = Desk(tmp_path)
    await desk.begin(Failing())
    await desk.send("a")
    with pytest.raises(Fatal, match="Input/output error"):
        await desk.tick()


async def test_a_server_without_a_journal_makes_the_next_one_another_node_s(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = await desk.begin()
    await desk.send("a")
    await first.stop()
    again = await desk.begin()
    assert again.node == first.node
    await again.stop()
    await without_journal(again, desk.store)
    assert [name.startswith("_open") for name in desk.files] == [False], "what it left open was not published"
    third = await desk.begin()
    assert third.node != first.node
    [baseline] = desk.written()
    assert b'"event":"GAUGE"' in baseline
    assert b'"reason":"baseline"' in baseline
    assert b'"count":1' in baseline


async def test_with_the_journal_off_its_end_is_not_written_where_another_server_writes(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    journal = await desk.begin()
    await desk.send("a")
    await journal.stop()
    with Disk().claim(tmp_path), pytest.raises(StoreError, match="in use by another Penstock"):
        await without_journal(journal, desk.store)
    assert [name.startswith("_open") for name in desk.files] == [True]
    await without_journal(journal, desk.store)
    assert [name.startswith("_open") for name in desk.files] == [False]


async def test_a_store_that_is_older_than_its_journal_goes_on_as_another_node(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = await desk.begin()
    await desk.send("a", "b")
    await desk.tick(61)
    await first.stop()
    old = Desk(tmp_path)
    await old.store.put(NODE, first.node.encode())
    second = await old.begin()
    assert second.node != first.node
    await old.send("x")
    assert old.written() == old.lines
    assert old.written(first.node) == desk.lines


async def test_lines_after_the_store_s_last_event_are_cut_off(tmp_path: Path) -> None:
    """A disk that lied lost the store's last commits: their lines go too, for there is no event without a change."""
    desk = Desk(tmp_path)
    first = await desk.begin()
    await desk.send("a")
    await first.stop()
    [file] = desk.find("_open*")
    with file.open("ab") as end:
        end.write(desk.lines[-1].replace(b'"seq":2', b'"seq":3'))
    await desk.begin()
    assert desk.written() == desk.lines


async def test_a_journal_whose_files_were_deleted_goes_on_with_its_numbers(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    journal = await desk.begin()
    await desk.send("a")
    await desk.tick(61)
    await journal.stop()
    for path in desk.find("*"):
        path.unlink()
    await desk.begin()
    await desk.send("b")
    assert desk.written() == desk.lines[-1:]


async def test_a_journal_whose_directory_is_removed_under_it_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "journal")
    await desk.begin()
    await desk.send("a")
    await desk.tick()
    shutil.rmtree(tmp_path / "journal")
    await desk.tick(61)
    await desk.send("b")
    await desk.tick(61)
    written = desk.written()
    assert any(b'"id-b"' in line for line in written)
    assert written == desk.lines[-len(written) :]


async def test_a_directory_that_cannot_be_written_is_noticed_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        await Desk(tmp_path / "file" / "journal").begin()


async def test_a_node_that_was_killed_before_its_baseline_was_written_is_given_up(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.send("from before there was a journal")
    with pytest.raises(Killed):
        await desk.begin(DyingDisk(1, "after"))
    given_up = desk.journal.node
    desk.lines.clear()
    await check(desk)
    assert desk.journal.node != given_up
    assert b'"reason":"baseline"' in desk.written()[0]


async def test_the_last_events_before_the_journal_is_switched_off_are_not_lost(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(Killed):
        await live(desk, DyingDisk(30, "torn"))
    journal = await _not_started(desk)
    await without_journal(journal, desk.store)
    assert desk.written() == desk.lines
    assert not desk.find("_*")


async def test_a_restored_store_leaves_the_old_node_whole_and_published(tmp_path: Path) -> None:
    """The backup knew two events less than the open segment has."""
    desk = Desk(tmp_path)
    first = await desk.begin()
    await desk.send("a")
    await first.stop()
    restored = Desk(tmp_path)
    await restored.store.put(NODE, f"-{first.node}".encode())
    second = await restored.begin()
    assert second.node != first.node
    assert restored.written(first.node) == desk.lines
    assert [path.name[0] for path in restored.find("*") if first.node in str(path)] == ["0"]


async def _not_started(desk: Desk) -> JournalOfServer:
    return JournalOfServer(desk.store, desk.clock, desk.journal.keeping)


async def test_a_first_segment_that_a_power_cut_took_is_written_again_from_the_store(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin(segment_bytes=1)
    await desk.send("a")
    await desk.send("b")
    first, *others = desk.find("_open-*")
    assert others, "each commit has a segment of its own"
    first.write_bytes(b"")
    await desk.begin()
    assert desk.written() == desk.lines


async def test_a_gap_between_open_segments_does_not_hold_a_reader_up(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin(segment_bytes=1)
    for body in "abc":
        await desk.send(body)
    desk.find("_open-*")[1].write_bytes(b"")
    before = await desk.journal.read(desk.journal.node, 1, 10**6)
    assert before.more
    after = await desk.journal.read(desk.journal.node, before.next, 10**6)
    assert after.first > before.next
    assert after.lines.splitlines(keepends=True)[-1] == desk.lines[-1]
    await desk.journal.stop()


async def test_the_fields_of_a_version_are_said_before_its_first_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin()
    said = json.loads((desk.journal.files.directory / FORMAT).read_bytes())
    assert said == {"version": 1, "fields": list(Event.__struct_fields__)}


async def test_a_change_of_readers_goes_to_its_end_though_nobody_waits_for_it(tmp_path: Path) -> None:
    """A thread cannot be called back: were the next change to start beside it, one of the two would be lost."""
    journal = await Desk(tmp_path).begin()
    gone = asyncio.ensure_future(journal.register("gone", 1))
    await asyncio.sleep(0)
    gone.cancel()
    await journal.register("here", 2)
    assert {reader.name for reader in await journal.readers()} == {"gone", "here"}
    await journal.stop()
