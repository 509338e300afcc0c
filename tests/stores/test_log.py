"""The log of a database into which native code was loaded: its pages are written together, and no later than they are
synced; whoever reads them finds them. On SQLite's own files they are written past the system's cache."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from penstock.stores.sqlite.file import connect
from stores.natively import connected

WAL = "-wal"
MOST_BYTES, BLOCK_BYTES = 1 << 16, 4096
KEPT_BYTES = 96 << 20
Step = tuple[str, int, int]
"""What was done to the log, where, and to how many bytes."""


class Disk(apsw.VFS):
    """Remembers what is done to logs, and fails if it is told to."""

    def __init__(self) -> None:
        super().__init__("remembering", "unix", makedefault=True)
        self.steps: list[Step] = []
        self.failure: type[apsw.Error] | None = None

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return Log(self, name, flags) if flags[0] & apsw.SQLITE_OPEN_WAL else apsw.VFSFile("unix", name, flags)


class Log(apsw.VFSFile):
    def __init__(self, disk: Disk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.failure:
            raise self._disk.failure
        self._disk.steps.append(("write", offset, len(data)))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.steps.append(("sync", 0, 0))
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    apsw.set_default_vfs("unix")
    disk.unregister()


def opened(path: Path) -> apsw.Connection:
    return connected(path, "page (number INTEGER PRIMARY KEY, content BLOB)")


def fill(connection: apsw.Connection, pages: int) -> None:
    with connection:
        connection.executemany("INSERT INTO page (content) VALUES (?)", [(bytes(3000),)] * pages)


def count(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM page WHERE length(content)=3000").get)


def pieces(disk: Disk) -> list[int]:
    return [length for step, _, length in disk.steps if step == "write"]


def test_the_pages_of_a_commit_are_one_piece_and_then_synced(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        fill(connection, 1)
        disk.steps.clear()
        fill(connection, 10)
        assert [step for step, _, _ in disk.steps] == ["write", "sync"]
        assert pieces(disk)[0] > 10 * BLOCK_BYTES


def test_pieces_are_whole_blocks(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        disk.steps.clear()
        for pages in (1, 3, 40, 2):
            fill(connection, pages)
        assert {place % BLOCK_BYTES for _, at, length in disk.steps for place in (at, length)} == {0}


def test_no_piece_is_longer_than_a_page_may_be(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        fill(connection, 100)
        assert MOST_BYTES - 4120 < max(pieces(disk)) <= MOST_BYTES
        places = [(at, length) for step, at, length in disk.steps if step == "write"]
        assert all(
            at + length == following for (at, length), (following, _) in zip(places[-6:], places[-5:], strict=False)
        )
    with closing(connect(tmp_path / "db")) as connection:
        assert count(connection) == 100


def test_whoever_else_has_the_database_open_finds_what_was_committed(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection, closing(apsw.Connection(str(tmp_path / "db"))) as other:
        for commits in range(1, 20):
            fill(connection, 3)
            assert count(other) == 3 * commits


def test_a_change_larger_than_the_cache_finds_the_pages_that_it_has_written(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        connection.execute("PRAGMA cache_size=10")
        with connection:
            for _ in range(20):
                connection.executemany("INSERT INTO page (content) VALUES (?)", [(bytes(3000),)] * 20)
                connection.execute("UPDATE page SET content = zeroblob(3000)")
            assert count(connection) == 400
            assert "sync" not in {step for step, _, _ in disk.steps[-5:]}
        assert count(connection) == 400
        assert connection.execute("PRAGMA integrity_check").get == "ok"
    with closing(connect(tmp_path / "db")) as connection:
        assert count(connection) == 400


def test_what_was_rolled_back_is_overwritten(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        connection.execute("PRAGMA cache_size=10")
        for _ in range(5):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO page (content) VALUES (?)", [(bytes(3000),)] * 100)
            connection.execute("ROLLBACK")
            fill(connection, 3)
    with closing(connect(tmp_path / "db")) as connection:
        assert count(connection) == 15
        assert connection.execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.parametrize("failure", [apsw.FullError, apsw.IOError])
def test_a_disk_that_fails_is_told_of_by_the_commit_and_leaves_nothing(
    tmp_path: Path, disk: Disk, failure: type[apsw.Error]
) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        fill(connection, 2)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO page (content) VALUES (zeroblob(3000))")
        disk.failure = failure
        with pytest.raises(failure):
            connection.execute("COMMIT")
        disk.failure = None
        assert count(connection) == 2
        fill(connection, 3)
    with closing(connect(tmp_path / "db")) as connection:
        assert count(connection) == 5


def test_a_log_that_begins_anew_is_read_as_before(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path / "db")) as connection:
        for rounds in range(1, 6):
            fill(connection, 30)
            connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if rounds % 2 else 'RESTART'})").fetchall()
            assert count(connection) == 30 * rounds
    assert not (tmp_path / f"db{WAL}").exists()


# On SQLite's own files


def is_cached(log: Path, at: int) -> bool:
    """Whether the system has a block in its cache."""
    file = os.open(log, os.O_RDONLY)
    try:
        return os.preadv(file, [bytearray(BLOCK_BYTES)], at, os.RWF_NOWAIT) == BLOCK_BYTES
    except BlockingIOError:
        return False
    finally:
        os.close(file)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the system's cache can be passed by."""
    try:
        os.close(os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip("this file system has no way past the cache")
    return tmp_path / "db"


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{WAL}")


def test_whoever_reads_through_the_cache_finds_what_was_written_past_it(path: Path) -> None:
    with closing(opened(path)) as connection, closing(apsw.Connection(str(path))) as other:
        fill(connection, 20)
        assert not is_cached(log_of(path), 10 * BLOCK_BYTES)
        for commits in range(1, 60):
            fill(connection, 1 + commits % 30)
            assert count(other) == count(connection)
            if commits % 20 == 0:
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        assert other.execute("PRAGMA integrity_check").get == "ok"


def test_a_log_that_is_there_at_the_start_is_kept_as_well(path: Path) -> None:
    with closing(connect(path)) as first:
        first.execute("CREATE TABLE page (number INTEGER PRIMARY KEY, content BLOB)")
        fill(first, 50)
        with closing(opened(path)) as connection:
            connection.execute("PRAGMA cache_size=10")
            assert count(connection) == 50
            fill(connection, 5)
            assert count(connection) == count(first) == 55


def test_a_log_longer_than_what_is_kept_is_left_to_sqlite_until_it_begins_anew(path: Path) -> None:
    with closing(opened(path)) as connection, closing(apsw.Connection(str(path))) as reader:
        connection.execute("PRAGMA cache_size=100")
        reader.execute("BEGIN")
        assert count(reader) == 0  # and may look again: the log cannot begin anew
        while log_of(path).stat().st_size < KEPT_BYTES + (1 << 20):
            fill(connection, 2000)
        assert is_cached(log_of(path), KEPT_BYTES)
        filled = count(connection)
        assert (count(reader), connection.execute("PRAGMA integrity_check").get) == (0, "ok")
        reader.execute("COMMIT")
        assert count(reader) == filled
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        fill(connection, 3)
        assert not is_cached(log_of(path), 0)
        assert count(reader) == count(connection) == filled + 3
    with closing(connect(path)) as connection:
        assert count(connection) == filled + 3
        assert connection.execute("PRAGMA integrity_check").get == "ok"
