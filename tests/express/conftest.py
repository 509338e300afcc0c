"""Every case needs what is compiled from `native/`, and a folder."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import uvloop

from conformance.gathering import compiled
from conformance.stores import new_folder

from .lane import Site, site

Start = Callable[..., Any]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session", autouse=True)
def native() -> None:
    compiled()


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
async def start(folder: Path) -> AsyncIterator[Start]:
    """Starts servers, each in a folder of its own unless it is told one."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with AsyncExitStack() as stack:

        async def start(name: str = "data", **settings: Any) -> Site:
            return await stack.enter_async_context(site(folder / name, **settings))

        yield start
    assert complaints == []
