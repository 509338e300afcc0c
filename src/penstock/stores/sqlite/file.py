"""The database as a file: opened so that it is durable, brought up to date, copied, looked at, held by one alone."""

import fcntl
import os
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import apsw

from penstock.core.store import StoreError
from penstock.stores.sqlite.packing import checksum, fresh_from_the_start, readable_id, repacked

MIGRATIONS = Path(__file__).with_name("migrations")
LARGE_BYTES = (1 << 30) + 4096
CACHE_KIB, LARGE_CACHE_KIB = 4096, 65_536
LOG_PAGES, LARGE_LOG_PAGES = 4000, 16_000
"""After so many pages of the log, about, they are copied into the database."""


def connect(path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOMUTEX, statementcachesize=512)
    connection.set_busy_timeout(10_000)
    # Plans must not depend on bound values: otherwise SQLite compiles a statement anew for every execution.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "temp_store=MEMORY",
        "mmap_size=0",
        f"wal_autocheckpoint={LOG_PAGES}",
        "cell_size_check=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
    size_cache(connection)
    settings = {name: connection.execute(f"PRAGMA {name}").get for name in ("journal_mode", "synchronous")}
    if settings != {"journal_mode": "wal", "synchronous": 2}:
        raise StoreError(f"{path}: SQLite refuses to be durable here ({settings}); use a local file system.")
    return connection


def is_large(connection: apsw.Connection) -> bool:
    size: int = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get
    return size > LARGE_BYTES


def size_cache(connection: apsw.Connection) -> None:
    """For the database as large as it is now. In one smaller than 1 GiB a split of a tree's page makes SQLite look at
    every cached page at the commit, so the cache is small (ADR 016): what is not in it is in the system's. In a larger
    one there are many pages on the way to a message, which are worth keeping."""
    connection.execute(f"PRAGMA cache_size=-{LARGE_CACHE_KIB if is_large(connection) else CACHE_KIB}")


def migrate(connection: apsw.Connection) -> None:
    """Bring the schema up to date, one numbered script at a time, each in a transaction."""
    scripts = {int(file.name[:3]): file for file in MIGRATIONS.glob("[0-9][0-9][0-9]-*.sql")}
    version = connection.execute("PRAGMA user_version").get
    if version > max(scripts):
        raise StoreError(
            f"{connection.filename}: its schema is version {version} and this Penstock knows {max(scripts)}: "
            "run the newer Penstock, or restore a backup made by this one."
        )
    functions: dict[str, Any] = {
        "readable_id": readable_id,
        "packed": repacked,
        "checksum": checksum,
        "fresh_from_the_start": fresh_from_the_start,
    }
    for name, function in functions.items():
        connection.create_scalar_function(name, function)
    for number in sorted(number for number in scripts if number > version):
        with connection:
            connection.execute(scripts[number].read_text())
            connection.execute(f"PRAGMA user_version = {number}")


def copy(source: Path, target: Path) -> None:
    """A consistent copy of a database that may be in use. `target` must not exist."""
    if target.exists():
        raise StoreError(f"{target} exists already; name a file that does not.")
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    with closing(looked_at(source)) as connection:
        connection.execute("VACUUM INTO ?", (str(partial),))
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.rename(target)


def looked_at(path: Path) -> apsw.Connection:
    """To read a database that may be in use, or was left by a process that died, and to leave everything as it is. A
    connection that may only read would leave files behind where there were none; others put the log that they find
    into the database when they are the last to leave."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, path.with_name(f"{path.name}-wal").exists())
    return connection


def locked(path: Path) -> IO[bytes]:
    """The right to be the only one who uses a database, for as long as the file returned is open."""
    lock = path.with_name(f"{path.name}.lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise StoreError(
            f"{path} is in use by another Penstock; stop it, or give this one another data directory."
        ) from None
    return lock
