"""Every case runs over all three protocols, and on both stores where that can make a difference."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.stores.memory import MemoryStore
from penstock.stores.sqlite import SqliteStore

from .watching import Watch, watches


@pytest.fixture(params=["json", "query", "smithy-rpc-v2-cbor"])
def watch(request: pytest.FixtureRequest) -> Iterator[Watch]:
    yield from watches(MemoryStore(), request.param)


@pytest.fixture
def lasting(tmp_path: Path) -> Iterator[Watch]:
    """On the store that is used in earnest."""
    yield from watches(SqliteStore(tmp_path / "penstock.db"), "json")


@pytest.fixture(params=["memory", "sqlite"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watch]:
    store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "penstock.db")
    yield from watches(store, "json")
