"""The cache is small while SQLite looks through all of it at commits, and large in a database where it does not. Such
a database has a long log as well, if there is room for what that needs on a full disk."""

import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from conformance.world import World
from penstock.stores.sqlite.file import (
    CACHE_KIB,
    LARGE_BYTES,
    LARGE_CACHE_KIB,
    LARGE_LOG_PAGES,
    LOG_PAGES,
    connect,
)
from penstock.stores.sqlite.reserve import LARGE_RESERVED_BYTES, RESERVED_BYTES, Reserve
from penstock.stores.sqlite.upkeep import FORGET_EVERY_MS

from .conftest import Open, store_of

PAGE_BYTES = 4096
PAGES, SIZE_IS_OF, CHANGE = slice(28, 32), slice(92, 96), slice(24, 28)
"""Of a database's head: its pages, the change as of which that is their number, and the latest change."""


def cache_kib(connection: apsw.Connection) -> int:
    return -int(connection.execute("PRAGMA cache_size").get)


def grown_to(path: Path, pages: int) -> None:
    """Let a database say that it is so large; all but its beginning is a hole."""
    with path.open("r+b") as file:
        head = bytearray(file.read(100))
        head[PAGES], head[SIZE_IS_OF] = pages.to_bytes(4, "big"), head[CHANGE]
        file.seek(0)
        file.write(head)
        file.truncate(pages * PAGE_BYTES)


@pytest.mark.parametrize(
    ("pages", "kib"), [(LARGE_BYTES // PAGE_BYTES, CACHE_KIB), (LARGE_BYTES // PAGE_BYTES + 1, LARGE_CACHE_KIB)]
)
def test_it_is_as_large_as_the_database_wants(tmp_path: Path, pages: int, kib: int) -> None:
    path = tmp_path / "test.db"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    grown_to(path, pages)
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA page_count").get == pages
        assert cache_kib(connection) == kib


async def test_it_is_looked_at_again_while_the_server_runs(opened: Open) -> None:
    world = await opened(None)
    execute = store_of(world).database.execute
    execute(f"PRAGMA cache_size=-{LARGE_CACHE_KIB}")  # as it would be had the database been larger a minute ago
    world.advance(FORGET_EVERY_MS / 1000)
    await world.sweep()
    assert -execute("PRAGMA cache_size").get == CACHE_KIB


@contextmanager
def no_file_may_have_more_than(most: int) -> Iterator[None]:
    """As if the disk had no room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def log_pages(world: World) -> int:
    await world.sweep()
    return int(store_of(world).database.execute("PRAGMA wal_autocheckpoint").get)


async def test_the_log_of_a_database_that_has_become_large_is_long(opened: Open, folder: Path) -> None:
    reserve = folder / "penstock.db-reserve"
    world = await opened(None)
    assert await log_pages(world) == LOG_PAGES
    assert reserve.stat().st_size == RESERVED_BYTES
    await world.store.close()
    grown_to(folder / "penstock.db", LARGE_BYTES // PAGE_BYTES + 1)
    assert await log_pages(await opened(None)) == LARGE_LOG_PAGES
    assert reserve.stat().st_size == LARGE_RESERVED_BYTES


def test_without_room_for_a_larger_reserve_the_one_there_is_stays(tmp_path: Path) -> None:
    reserve, file = Reserve(tmp_path / "test.db"), tmp_path / "test.db-reserve"
    assert not reserve.enlarge()  # there is none yet
    assert reserve.keep()
    with no_file_may_have_more_than(RESERVED_BYTES + 1):
        assert not reserve.enlarge()
        assert reserve.kept
        assert file.stat().st_size == RESERVED_BYTES
    assert reserve.enlarge()
    assert file.stat().st_size == LARGE_RESERVED_BYTES
    reserve.give_up()
    assert not reserve.enlarge()
    assert not file.exists()


def test_the_reserve_is_more_than_the_log_may_hold() -> None:
    assert LOG_PAGES * PAGE_BYTES < RESERVED_BYTES
    assert LARGE_LOG_PAGES * PAGE_BYTES < LARGE_RESERVED_BYTES
