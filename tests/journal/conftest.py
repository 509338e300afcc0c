"""A server with a journal, as a process of its own."""

from collections.abc import Iterator

import pytest

from penstock.stores.sqlite import SqliteStore
from server_process import Server

STORE = "" if SqliteStore.capabilities.journal else "memory://"
ACCOUNTS = """
[[accounts]]
id = "111122223333"
keys = [{ access_key = "AKIAOTHERACCOUNT01", secret_key = "a secret of the other account" }]
"""


@pytest.fixture(scope="session")
def journalling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests here: use queue names of your own."""
    folder = tmp_path_factory.mktemp("journalling")
    (folder / "penstock.toml").write_text(ACCOUNTS)
    server = Server(folder, {"PENSTOCK_STORE": STORE, "PENSTOCK_JOURNAL_SEGMENT_SECONDS": "1"})
    server.start()
    yield server
    server.stop()
