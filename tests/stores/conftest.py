"""An embedded store in a folder, opened with the keys that a case gives it, as often as it likes."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from conformance.stores import new_folder
from conformance.world import World
from penstock.core.clock import ManualClock
from penstock.core.keyring import Keyring
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.sqlite import SqliteStore

OLD, NEW = b"o" * KEY_BYTES, b"n" * KEY_BYTES
Open = Callable[..., Awaitable[World]]


def keyring(*keys: bytes, declared: tuple[str, ...] = ("alias/orders",), disabled: tuple[str, ...] = ()) -> Keyring:
    return Keyring(Vault(keys or (OLD,)), declared, disabled)


def store_of(world: World) -> SqliteStore:
    assert isinstance(world.store, SqliteStore)
    return world.store


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
async def opened(folder: Path) -> AsyncIterator[Open]:
    """Closes the store if it is open, and opens it again: with these keys, or with none. Time goes on."""
    worlds: list[World] = []
    clock = ManualClock()

    async def opened(keys: Keyring | None) -> World:
        for world in worlds:
            await world.store.close()
        worlds.append(World(SqliteStore(folder / "penstock.db"), clock))
        await worlds[-1].store.open()
        if keys:
            worlds[-1].store.attach_keys(keys)
        return worlds[-1]

    yield opened
    for world in worlds:
        await world.store.close()
