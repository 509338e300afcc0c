"""Full disks, the journal's and the store's: what makes room goes on, and nothing that was committed is forgotten."""

import errno
from pathlib import Path

import pytest

from penstock.core.errors import Unavailable
from penstock.core.journal import EMPTY_RECEIVE, Event
from penstock.journal.disk import Disk
from penstock.journal.keeping import JournalOfServer, without_journal
from penstock.journal.segments import Segments
from penstock.stores.memory import MemoryStore

from .desk import ORDERS, Desk, FullDisk


class NoRoomToPublish(Disk):
    full = False

    def compress(self, source: Path, target: Path) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().compress(source, target)


class FullStore(MemoryStore):
    """Takes nothing that can wait."""

    full = False

    async def gauge(self, *arguments: object) -> None:  # type: ignore[override]
        if self.full:
            raise Unavailable("The disk is full.")
        await super().gauge(*arguments)  # type: ignore[arg-type]


async def polled(folder: Path) -> Desk:
    """Someone asks for messages, and the store has become full."""
    store = FullStore()
    desk = Desk(folder, store)
    await desk.begin()
    await desk.send("a")
    store.full = True
    desk.journal.note(Event("", 0, desk.clock.now(), EMPTY_RECEIVE, *ORDERS))
    return desk


async def test_what_is_too_much_is_deleted_while_segments_cannot_be_published(tmp_path: Path) -> None:
    desk, disk = Desk(tmp_path), NoRoomToPublish()
    journal = await desk.begin(disk, keep_bytes=1)
    await desk.send("a")
    await desk.tick(61)
    assert desk.find("0*"), "a segment is published"
    disk.full = True
    await desk.send("b")
    await desk.tick(61)
    assert journal.trouble()
    assert desk.find("0*") == []
    disk.full = False
    await desk.tick()
    assert journal.trouble() is None


async def test_lines_are_made_to_last_while_the_store_has_no_room_for_notes(tmp_path: Path) -> None:
    desk = await polled(tmp_path)
    await desk.keeper.run_once(desk.clock.now())
    assert desk.journal.writer.idle
    await desk.journal.stop()


async def test_a_server_whose_store_is_full_stops(tmp_path: Path) -> None:
    desk = await polled(tmp_path)
    await desk.journal.stop()
    assert desk.written() == desk.lines


async def test_a_journal_is_not_switched_off_before_its_last_events_have_found_room(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    journal = await desk.begin(FullDisk(450))
    for body in "abcd":
        await desk.send(body)
    await journal.stop()
    full = JournalOfServer(desk.store, desk.clock, journal.keeping, segments=Segments(tmp_path, FullDisk(0)))
    with pytest.raises(OSError, match="there is no room for the last events of the journal"):
        await without_journal(full, desk.store)
    await without_journal(JournalOfServer(desk.store, desk.clock, journal.keeping), desk.store)
    assert desk.written() == desk.lines
