"""What fault tests share: randomness from the seed of the run, folders in memory, and servers of their own."""

import os
import random
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.encrypted import EncryptedStore
from conformance.natively import NativeStore
from conformance.stores import new_folder
from conformance.world import World
from penstock.core.clock import ManualClock
from penstock.stores.sqlite import SqliteStore
from server_process import Server

from .client import Client
from .run import SEED, chance

OPEN = {"PENSTOCK_AUTH": "off"}
"""For those who have no use for signatures. Whoever wants native code to serve a workload has it sign."""

Opened = Callable[..., Awaitable[World]]
Make = Callable[..., SqliteStore]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"fault tests: PENSTOCK_SEED={SEED} repeats this run")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    print(f"PENSTOCK_SEED={SEED}")
    return chance(request.node.name)


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=["native", "python"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes embedded stores, for those to whom it matters who writes the rows."""
    return NativeStore if request.param == "native" else EncryptedStore


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers on one folder, one after the other: `start(PENSTOCK_…="…")`."""
    started: list[Server] = []

    def start(at: Path = folder, **settings: str) -> Server:
        at.mkdir(exist_ok=True)
        server = Server(at, OPEN | settings)
        server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        print(f"status {server.process.poll()}, last words:\n{server.output()[-2000:]}")
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Makes clients that are gone when the test is."""
    clients: list[Client] = []

    def connect(server: Server, **given: Any) -> Client:
        clients.append(Client(server, **given))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def small(folder: Path) -> Iterator[Path]:
    """A file system of 64 megabytes, with 28 in a file that can be given up."""
    place = folder / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "none", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no permission to mount a file system: run as root")
    (place / "ballast").write_bytes(os.urandom(28 * 2**20))
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def without_keys() -> Make:
    """Makes embedded stores that keep in clear what they keep."""
    return SqliteStore


@pytest.fixture
async def opened(without_keys: Make, folder: Path) -> AsyncIterator[Opened]:
    """Opens the store of the folder, again if need be; whatever is open at the end is closed."""
    stores: list[SqliteStore] = []

    async def opened(clock: ManualClock | None = None) -> World:
        stores.append(without_keys(folder / "penstock.db"))
        await stores[-1].open()
        return World(stores[-1], clock or ManualClock())

    yield opened
    for store in stores:
        await store.close()
