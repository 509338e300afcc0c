"""Locks that native code keeps from one transaction to the next: whoever else reads the database finds what they would
find without it, the log is used again, and nobody else writes."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

from penstock.stores.sqlite.file import copy, looked_at
from stores.natively import connected

ROWS, COMMITS_IN_LOG = 40, 12
LOG_PAGES = ROWS * COMMITS_IN_LOG
LOG_BYTES = LOG_PAGES * 4120


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


@pytest.fixture
def writer(path: Path) -> Iterator[apsw.Connection]:
    """Of a table whose rows are a page each, and say of which commit they are."""
    with closing(connected(path, "page (number INTEGER PRIMARY KEY, of INTEGER, content BLOB)")) as connection:
        connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
        rows = [(number, 0, bytes(3000)) for number in range(ROWS)]
        with connection:
            connection.executemany("INSERT INTO page VALUES (?,?,?)", rows)
        yield connection


def commit(writer: apsw.Connection, number: int, rows: range = range(ROWS)) -> None:
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE page SET of=? WHERE number BETWEEN ? AND ?", (number, rows.start, rows.stop - 1))
    writer.execute("COMMIT")


def pages(guest: apsw.Connection) -> list[int]:
    """The commit that each is of."""
    return [of for (of,) in guest.execute("SELECT of FROM page ORDER BY number")]


def seen(guest: apsw.Connection) -> int:
    """The commit that all are of."""
    (of,) = set(pages(guest))
    return of


def guest_of(path: Path) -> apsw.Connection:
    """One who remembers next to nothing of what he has read."""
    guest = looked_at(path)
    guest.execute("PRAGMA cache_size=1")
    return guest


def checkpoint(writer: apsw.Connection, mode: str) -> None:
    with suppress(apsw.BusyError):
        writer.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()


@pytest.mark.parametrize("seed", range(8))
def test_whoever_reads_sees_the_same_until_they_look_again(writer: apsw.Connection, path: Path, seed: int) -> None:
    chance, now, guests = random.Random(seed), pages(writer), dict[apsw.Connection, list[int]]()
    writer.set_busy_timeout(0)

    def change(number: int) -> None:
        start = chance.randrange(ROWS)
        rows = range(start, min(start + 3, ROWS))
        commit(writer, number, rows)
        now[rows.start : rows.stop] = [number] * len(rows)

    def look(guest: apsw.Connection) -> None:
        guest.execute("BEGIN")
        guests[guest] = pages(guest)
        assert guests[guest] == now

    for number in range(400):
        what = chance.random()
        if what < 0.6:
            change(number)
        elif what < 0.7:
            checkpoint(writer, chance.choice(["PASSIVE", "RESTART"]))
        elif what < 0.85 and len(guests) < 3:
            look(guest_of(path))
        elif guests:
            guest = chance.choice([*guests])
            guest.execute("COMMIT")
            del guests[guest]
            if chance.random() < 0.5:
                look(guest)
            else:
                guest.close()
        for guest, expected in guests.items():
            assert pages(guest) == expected
    for guest in guests:
        guest.close()
    assert pages(writer) == now
    assert writer.execute("PRAGMA integrity_check").get == "ok"


READING = """
import sys
from contextlib import closing
from pathlib import Path
from penstock.stores.sqlite.file import looked_at

latest = -1
while latest < int(sys.argv[2]):
    with closing(looked_at(Path(sys.argv[1]))) as guest:
        guest.execute("PRAGMA cache_size=1")
        for _ in range(20):
            guest.execute("BEGIN")
            twice = [[of for (of,) in guest.execute("SELECT of FROM page")] for _ in range(2)]
            guest.execute("COMMIT")
            assert len({*twice[0], *twice[1]}) == 1, twice
            assert twice[0][0] >= latest, (twice[0][0], latest)
            if latest < 0:
                print("reading", flush=True)
            latest = twice[0][0]
print(latest)
"""


def test_another_process_sees_whole_commits_in_their_order(writer: apsw.Connection, path: Path) -> None:
    last = 2000
    arguments = [sys.executable, "-c", READING, str(path), str(last)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reading:
        assert reading.stdout is not None
        assert reading.stdout.readline() == "reading\n"
        for number in range(1, last + 1):
            commit(writer, number)
        latest, complaints = reading.communicate(timeout=60)
    assert reading.returncode == 0, complaints
    assert int(latest) == last


@pytest.mark.parametrize("visited", [False, True])
def test_the_log_is_used_again(writer: apsw.Connection, path: Path, visited: bool) -> None:
    for number in range(1, 200):
        commit(writer, number)
        if visited and number % 10 == 0:
            with closing(guest_of(path)) as guest:
                assert seen(guest) == number
    assert Path(f"{path}-wal").stat().st_size < 2 * LOG_BYTES


def test_a_log_that_somebody_still_reads_is_used_again_when_they_have_left(writer: apsw.Connection, path: Path) -> None:
    log = Path(f"{path}-wal")
    commit(writer, 1)
    with closing(guest_of(path)) as guest:
        guest.execute("BEGIN")
        assert seen(guest) == 1
        for number in range(2, 100):
            commit(writer, number)
        assert seen(guest) == 1
    grown = log.stat().st_size
    assert grown > 2 * LOG_BYTES
    for number in range(100, 200):
        commit(writer, number)
    assert log.stat().st_size < grown + LOG_BYTES


def test_nobody_else_writes_until_the_connection_is_closed(path: Path, writer: apsw.Connection) -> None:
    commit(writer, 1)
    with closing(guest_of(path)) as guest:
        guest.set_busy_timeout(0)
        with pytest.raises(apsw.BusyError):
            guest.execute("BEGIN IMMEDIATE")
        writer.close()
        commit(guest, 2)
        assert seen(guest) == 2


def test_a_copy_is_made_meanwhile(writer: apsw.Connection, path: Path, tmp_path: Path) -> None:
    for number in range(1, 4):
        commit(writer, number)
        copied = tmp_path / f"{number}.db"
        copy(path, copied)
        with closing(apsw.Connection(str(copied))) as connection:
            assert seen(connection) == number
