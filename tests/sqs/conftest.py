"""Every case runs over both protocols, on every embedded store."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.core.store import Store
from penstock.stores.memory import MemoryStore
from penstock.stores.sqlite import SqliteStore

from .clients import PROTOCOLS, Client
from .harness import Queue, World, make

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "penstock.db"),
    "memory": lambda folder: MemoryStore(),
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "row(*numbers, differs): rows of part B of the SQS specification")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Rules are under test here, not disks: what is written goes to memory where there is such a place."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="penstock-", dir=memory if memory.is_dir() else None))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=sorted(STORES))
async def store(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Store]:
    store = STORES[request.param](folder)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def settings() -> dict[str, Any]:
    """What a test file or a case may set otherwise, by `@pytest.mark.parametrize("settings", [...])`."""
    return {}


@pytest.fixture
def world(store: Store, settings: dict[str, Any]) -> World:
    return World(store, **settings)


@pytest.fixture(params=sorted(PROTOCOLS))
def client(request: pytest.FixtureRequest, world: World) -> Client:
    return world.client(request.param)


@pytest.fixture
async def untouched(world: World, client: Client) -> AsyncIterator[Queue]:
    """A queue with a message. Afterwards both must be as they were, and no request may have failed on our side."""
    queue = await make(client, "orders")
    await queue.send("m")
    before = await queue.attributes("All")
    yield queue
    assert await queue.attributes("All") == before
    assert [call.result for call in world.calls if call.status >= 500] == []
