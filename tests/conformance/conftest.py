"""Every case runs on every store of `stores.STORES`; restart cases run on those that claim to be durable."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from penstock.core.clock import ManualClock
from penstock.core.store import Store

from .stores import STORES, new_folder
from .world import World


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=sorted(STORES))
def open_store(request: pytest.FixtureRequest) -> Callable[[Path], Store]:
    return STORES[request.param]


@pytest.fixture
async def store(open_store: Callable[[Path], Store], folder: Path) -> AsyncIterator[Store]:
    store = open_store(folder)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def world(store: Store) -> AsyncIterator[World]:
    world = World(store, ManualClock())
    world.listen()
    yield world
    await world.store.close()


@pytest.fixture
def reopen(world: World, open_store: Callable[[Path], Store], folder: Path) -> Callable[[], Awaitable[None]]:
    """Close the store and open it again: everything the caller was told MUST still be so."""
    if not world.store.capabilities.durable:
        pytest.skip("this store does not claim to be durable")

    async def reopen() -> None:
        await world.store.close()
        world.store = open_store(folder)
        await world.store.open()
        world.listen()

    return reopen


@pytest.fixture(params=["orders", "orders.fifo"])
def any_type(request: pytest.FixtureRequest) -> str:
    """Rules that hold on standard and FIFO queues alike."""
    return request.param
