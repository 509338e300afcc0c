"""Every HTTP case runs on uvloop, which serves, and on asyncio's own loop; none may make the loop complain."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import uvloop

from .wire import Running, Serve, run


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.name.startswith("test_http"):
        return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    servers: list[Running] = []

    async def start(*arguments: object, **options: object) -> Running:
        servers.append(await run(*arguments, **options))  # type: ignore[arg-type]
        return servers[-1]

    yield start
    for server in servers:
        await server.close()
    assert complaints == []
