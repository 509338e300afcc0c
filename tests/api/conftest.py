"""A town for every test, or a world with a memory."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from deciding import Town

from penstock.stores.memory import MemoryStore
from sqs.harness import World


@pytest.fixture
def town() -> Iterator[Town]:
    with asyncio.Runner() as runner:
        yield Town(runner)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    store = MemoryStore()
    await store.open()
    yield World(store)
    await store.close()
