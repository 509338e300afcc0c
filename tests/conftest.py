"""What tests of every folder share: a running server, and examples that are drawn alike each time in CI."""

import os
import signal
from collections.abc import Iterator

import hypothesis
import pytest

import tally
from server_process import Server

signal.signal(signal.SIGINT, signal.default_int_handler)
# A shell lets what it starts in the background ignore interrupts, and so would the commands that tests interrupt.
hypothesis.settings.register_profile("gate", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("gate")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tally.write_down(len(terminalreporter.stats.get("passed", ())))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test of the size for a night takes as long as it takes."""
    if "thorough" in (os.environ.get("PENSTOCK_FAULTS"), os.environ.get("PENSTOCK_HYPOTHESIS")):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests that do not change what others see: use queue names of your own."""
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()
