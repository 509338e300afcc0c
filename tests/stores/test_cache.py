"""The cache is small while SQLite looks through all of it at commits, and large in a database where it does not."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from penstock.stores.sqlite.file import CACHE_KIB, LARGE_BYTES, LARGE_CACHE_KIB, connect
from penstock.stores.sqlite.upkeep import FORGET_EVERY_MS

from .conftest import Open, store_of

PAGE_BYTES = 4096
PAGES, SIZE_IS_OF, CHANGE = slice(28, 32), slice(92, 96), slice(24, 28)
"""Of a database's head: its pages, the change as of which that is their number, and the latest change."""


def cache_kib(connection: apsw.Connection) -> int:
    return -int(connection.execute("PRAGMA cache_size").get)


def grown_to(path: Path, pages: int) -> None:
    """A database that says it is so large; all but its beginning is a hole."""
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
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
