"""`penstock backup FILE`: a consistent copy of the embedded store, while the server runs or not."""

import argparse
import os
from pathlib import Path

from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import CommandError, Parser
from penstock.config import Settings, database_path

PLACE = ("data", "store")
"""The settings that say where the embedded store is."""


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} FILE [options]"
    parser.description = (
        "Copy the embedded store to a new file, also while the server runs. Secrets in it, and messages of encrypted\n"
        "queues, can be read with the master key alone, which is not in it: keep both, apart from each other.\n"
        "`penstock restore FILE` puts it back."
    )
    parser.examples += [
        "penstock backup before-upgrade.db",
        "penstock backup /backups/orders.db --data /var/lib/penstock",
    ]
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write; it must not exist")
    add_settings(parser, PLACE)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    source, target = embedded(loaded(arguments).settings), arguments.file
    if not source.exists():
        raise CommandError(f"there is no database at {source}; name the server's directory with --data")
    if not target.parent.is_dir():
        raise CommandError(f"there is no directory {target.parent}")
    import apsw

    from penstock.core.store import StoreError
    from penstock.stores.sqlite.file import copy

    os.umask(0o077)
    try:
        copy(source, target)
    except (StoreError, apsw.Error, OSError) as error:
        raise CommandError(f"no backup was made: {error}") from None
    print(f"Copied {source} to {target}: {size(target)}.")
    return 0


def embedded(settings: Settings) -> Path:
    path = database_path(settings)
    if path is None:
        raise CommandError(f"{settings.store} is not the embedded store; use that store's own tools")
    return path


def size(path: Path) -> str:
    return f"{path.stat().st_size:,} bytes"
