"""`penstock restore FILE`: a backup becomes the embedded store of a server that is not running.

The backup is copied beside its destination and the copy is checked, so that what was checked is what is used, and a
backup that is wrong or cut short touches nothing. Only then, under the lock that a server would hold, is it renamed.
"""

import argparse
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from penstock.cli.backup import PLACE, embedded, size
from penstock.cli.master_key import written_with
from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import CommandError, Parser
from penstock.core.store import StoreError
from penstock.journal.keeping import ENDED, NODE
from penstock.stores.sqlite.file import MIGRATIONS, locked

COMPANIONS = ("", "-wal", "-shm")
TABLES = {"queue", "message", "keepsake"}
"""Those without which a database is not Penstock's; schema versions may add others."""


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} FILE [options]"
    parser.description = "Put a backup in the place of the embedded store. The server must not be running."
    parser.examples += ["penstock restore before-upgrade.db", "penstock restore before-upgrade.db --force"]
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that `penstock backup` wrote")
    parser.add_argument("--force", action="store_true", help="move a database that is there aside first")
    add_settings(parser, PLACE)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    source, target = arguments.file, embedded(loaded(arguments).settings)
    if not source.is_file():
        raise CommandError(f"there is no file {source}")
    if _companion(source, "-wal").exists():
        raise CommandError(f"{source} is a database in use, not a backup; copy it with `penstock backup`")
    os.umask(0o077)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with locked(target):
            _replace(source, target, arguments.force)
    except (StoreError, OSError) as error:
        raise CommandError(str(error)) from None
    print(f"Restored {target} from {source}: {size(target)}.")
    if writer := written_with(target):
        print(f"It opens with the master key {writer}: `penstock master-key list` shows those that are here.")
    return 0


def _replace(source: Path, target: Path, force: bool) -> None:
    there = any(_companion(target, suffix).exists() for suffix in COMPANIONS)  # a log alone would be replayed too
    if there and not force:
        raise CommandError(f"{target} is there already; --force moves it aside")
    with _checked_copy(source, target.with_name(f"{target.name}.partial")) as copy:
        if there:
            print(f"Moved {target} to {_put_aside(target)}.")
        copy.rename(target)
    folder = os.open(target.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


@contextmanager
def _checked_copy(source: Path, partial: Path) -> Iterator[Path]:
    try:
        shutil.copyfile(source, partial)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        if problem := _problem(partial):
            raise CommandError(f"{source} {problem}; nothing was changed")
        _become_another_node(partial)
        yield partial
    finally:
        for companion in COMPANIONS:
            _companion(partial, companion).unlink(missing_ok=True)


def _problem(path: Path) -> str:
    """Why a file cannot be used as the store, as the end of a sentence; nothing if it can."""
    newest = max(int(file.name[:3]) for file in MIGRATIONS.glob("[0-9][0-9][0-9]-*.sql"))
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
            version = database.execute("PRAGMA user_version").get
            if not tables >= TABLES or version < 1:
                return "is not a database of Penstock"
            if version > newest:
                return f"has schema {version} and this Penstock knows {newest}: use the newer Penstock"
            found = " ".join(database.execute("PRAGMA integrity_check(1)").get.split())
            return "" if found == "ok" else f"is damaged ({found})"
    except apsw.NotADBError:
        return "is not a database of Penstock"
    except apsw.Error as error:
        return f"is damaged ({error})"


def _become_another_node(path: Path) -> None:
    """What happened since the backup is in the journal under the old node's name: the same numbers must not be given
    again to other events."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        node: bytes = database.execute("SELECT value FROM keepsake WHERE name=?", (NODE,)).get or b""
        if node:
            ended = ENDED.encode() + node.removeprefix(ENDED.encode())
            database.execute("UPDATE keepsake SET value=? WHERE name=?", (ended, NODE))
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _put_aside(target: Path) -> Path:
    """Move a database and its log away, together, to names that nobody has."""
    label = time.strftime("%Y%m%d-%H%M%S")
    aside = next(
        name
        for name in (target.with_name(f"{target.stem}-{label}{more}{target.suffix}") for more in ("", *"abcdefgh"))
        if not name.exists()
    )
    for companion in COMPANIONS:
        if (file := _companion(target, companion)).exists():
            file.rename(_companion(aside, companion))
    return aside


def _companion(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
