"""`penstock master-key ACTION`: which master keys there are, and a new one in place of the one in force."""

import argparse
import asyncio
from contextlib import closing
from pathlib import Path

import apsw

from penstock import registry
from penstock.cli.backup import embedded
from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import CommandError, Parser
from penstock.config import Settings
from penstock.core.store import Store, StoreError
from penstock.core.vault import name_of, sealer_of
from penstock.masterkey import KEPT, keys_of
from penstock.rotation import rotation
from penstock.stores.sqlite.file import looked_at

PLACE = ("data", "store", "master_key_file", "master_key")


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} ACTION [options]"
    parser.description = (
        "The master key seals the secrets and the data keys that lie in the store. Keys are told by their names; none\n"
        "is ever shown."
    )
    parser.examples += ["penstock master-key list", "penstock master-key rotate --data /var/lib/penstock"]
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions", prog=parser.prog)
    listing = actions.add_parser("list", help="Show the master keys there are.", description="Show the master keys.")
    listing.examples = ["penstock master-key list --data /var/lib/penstock"]
    listing.set_defaults(run=show)
    rotating = actions.add_parser(
        "rotate",
        help="Make a new master key, and seal everything anew with it.",
        description=(
            "Make a new master key, and seal everything in the store anew with it. The server must not be running. If\n"
            "this is interrupted, run it again. Older keys stay in the file, for backups made before.\n"
            "If the keys come from the setting master_key, put the new one first there, and then run this."
        ),
    )
    rotating.examples = [
        "penstock master-key rotate",
        "penstock master-key rotate --forget",
        'PENSTOCK_MASTER_KEY="$NEW $OLD" penstock master-key rotate',
    ]
    rotating.add_argument(
        "--forget", action="store_true", help="remove older keys from the file at the end: old backups need them"
    )
    rotating.set_defaults(run=rotate)
    for child in (listing, rotating):
        add_settings(child, PLACE)


def show(arguments: argparse.Namespace) -> int:
    settings = loaded(arguments).settings
    names = [name_of(key).hex() for key in _keys(settings)]
    path = embedded(settings)
    writer = written_with(path) if path.exists() else ""
    for number, name in enumerate(names):
        print(f"{name}  {'older: opens what it sealed' if number else 'in force'}")
    if writer and writer not in names:
        raise CommandError(f"the store was written with {writer}, which is not among them")
    if writer and writer != names[0]:
        print(f"The store is written with {writer}: `penstock master-key rotate` seals it anew with {names[0]}.")
    return 0


def rotate(arguments: argparse.Namespace) -> int:
    settings = loaded(arguments).settings
    if not embedded(settings).exists():
        raise CommandError(f"there is no database at {embedded(settings)}; name the server's directory with --data")
    _keys(settings)
    if arguments.forget and settings.master_key:
        raise CommandError("the keys are in the setting master_key; remove the older ones there")
    try:
        asyncio.run(_rotate(settings, registry.store_at(settings.store), arguments.forget))
    except (StoreError, OSError) as error:
        raise CommandError(str(error)) from None
    return 0


async def _rotate(settings: Settings, store: Store, forget: bool) -> None:
    await store.open()
    try:
        async for step in rotation(settings, store, forget):
            print(step)
    finally:
        await store.close()


def _keys(settings: Settings) -> list[bytes]:
    try:
        keys = keys_of(settings)
    except (StoreError, OSError) as error:
        raise CommandError(str(error)) from None
    if not keys:
        raise CommandError(f"there is no {settings.master_key_file}; the first start of the server makes it")
    return keys


def written_with(database: Path) -> str:
    """The name of the master key that a store was written with; empty if it was written with none."""
    try:
        with closing(looked_at(database)) as connection:
            sealed: bytes = connection.execute("SELECT value FROM keepsake WHERE name=?", (KEPT,)).get or b""
    except apsw.Error as error:
        raise CommandError(f"{database} cannot be read: {error}") from None
    return sealer_of(sealed).hex()
