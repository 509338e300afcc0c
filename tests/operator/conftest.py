"""Servers that a test starts as it likes, each stopped when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from operating import Start, variables

from server_process import Server


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start('region = "eu-west-1"', auth="off")`: a server with this settings file and these settings."""
    servers: list[Server] = []

    def start(toml: str = "", **settings: str) -> Server:
        (tmp_path / "penstock.toml").write_text(toml)
        servers.append(Server(tmp_path, variables(settings)))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            assert server.stop() == 0
