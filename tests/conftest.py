"""What tests of every folder share: a running server."""

from collections.abc import Iterator

import pytest

import tally
from server_process import Server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tally.write_down(len(terminalreporter.stats.get("passed", ())))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests that do not change what others see: use queue names of your own."""
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()
