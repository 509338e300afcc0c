"""Starts that cannot go well end in one clear line, and not in a stack of calls."""

import subprocess
from pathlib import Path

import pytest

from server_process import Server

from .ailments import Machine


def complaint(server: Server) -> str:
    """What a server says that cannot start."""
    try:
        server.start()
    except AssertionError:
        assert server.process.returncode == 1, server.output()
    else:
        server.stop()
        pytest.fail("it started")
    lines = (server.folder / "stderr").read_text().splitlines()
    assert len(lines) == 1, "\n".join(lines)
    assert lines[0].startswith("penstock: ")
    return lines[0]


@pytest.mark.parametrize("used_before", [False, True])
def test_a_read_only_directory_is_told_in_one_line(small: Path, folder: Path, used_before: bool) -> None:
    server = Server(folder, {"PENSTOCK_AUTH": "off", "PENSTOCK_DATA": str(small / "data")})
    if used_before:
        server.start()
        server.stop()
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    assert str(small / "data") in complaint(server)


def fill(place: Path) -> None:
    with (place / "more").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        file.writelines([bytes(4096)] * 10_000)


@pytest.mark.parametrize("used_before", [False, True])
def test_a_full_disk_is_told_in_one_line(small: Path, folder: Path, used_before: bool) -> None:
    server = Server(folder, {"PENSTOCK_AUTH": "off", "PENSTOCK_DATA": str(small / "data")})
    if used_before:
        server.start()
        server.stop()
    fill(small)
    assert str(small / "data") in complaint(server)


@pytest.mark.parametrize("damage", [b"this is no database at all".ljust(100), bytes(100)], ids=["text", "zeros"])
def test_garbage_instead_of_a_database_is_told_in_one_line(folder: Path, damage: bytes) -> None:
    server = Server(folder, {"PENSTOCK_AUTH": "off"})
    server.start()
    server.stop()
    with (server.data / "penstock.db").open("r+b") as file:
        file.write(damage)
    before = (server.data / "penstock.db").read_bytes()
    assert str(server.data / "penstock.db") in complaint(server)
    assert (server.data / "penstock.db").read_bytes() == before, "what may still be mended was written to"


def test_a_damaged_list_of_the_journal_s_readers_is_told_in_one_line(folder: Path) -> None:
    """Whoever took it for an empty one would delete what readers have not read."""
    server = Server(folder, {"PENSTOCK_AUTH": "off"})
    place = server.data / "journal" / "_readers.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(b'[["spark",17')
    assert f"{place} is damaged" in complaint(server)


def test_a_second_server_on_the_same_data_is_told_in_one_line(folder: Path) -> None:
    first = Server(folder, {"PENSTOCK_AUTH": "off"})
    first.start()
    (folder / "second").mkdir()
    try:
        second = Server(folder / "second", {"PENSTOCK_AUTH": "off", "PENSTOCK_DATA": str(first.data)})
        assert "in use" in complaint(second)
    finally:
        first.stop()


def test_a_second_server_on_the_same_journal_is_told_in_one_line(folder: Path) -> None:
    """Its store may be a copy of the first one's: then both would write the same segment."""
    first = Server(folder, {"PENSTOCK_AUTH": "off"})
    first.start()
    (folder / "second").mkdir()
    journal = first.data / "journal"
    try:
        second = Server(folder / "second", {"PENSTOCK_AUTH": "off", "PENSTOCK_JOURNAL_DIRECTORY": str(journal)})
        assert f"{journal} is in use" in complaint(second)
    finally:
        first.stop()


def test_a_place_where_sqlite_cannot_be_durable_is_refused_in_one_line(folder: Path) -> None:
    """I20. There is no setting that would turn it off."""
    machine = Machine(folder)
    machine.falls_ill("no-wal")
    server = Server(folder, {"PENSTOCK_AUTH": "off"} | machine.settings)
    assert "durable" in complaint(server)


def test_a_damaged_copy_of_the_credentials_is_written_anew(folder: Path) -> None:
    server = Server(folder, {"PENSTOCK_AUTH": "off"})
    server.start()
    server.stop()
    copy = server.data / "credentials"
    good = copy.read_bytes()
    copy.write_bytes(b"\xff" + good[1:])
    server.start()
    assert server.stop() == 0
    assert copy.read_bytes() == good
