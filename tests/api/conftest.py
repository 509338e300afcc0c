"""A town for every test."""

import asyncio
from collections.abc import Iterator

import pytest
from deciding import Town


@pytest.fixture
def town() -> Iterator[Town]:
    with asyncio.Runner() as runner:
        yield Town(runner)
