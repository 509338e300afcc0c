"""A Penstock of one's own: started as a process in a temporary directory, for a bench that was given no endpoint.

It is started as a user would start it, with its settings as they are by default or as PENSTOCK_* variables say; only
the address, the directory, the keys and the number of connections are the bench's.
"""

import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.bench.target import BenchError, Target, at

STOP_SECONDS = 30
CONNECTIONS = 2000


@dataclass(frozen=True)
class Running:
    target: Target
    pid: int


def start(
    folder: Path, environ: Mapping[str, str], listen: str = "127.0.0.1:0", connections: int = CONNECTIONS
) -> "subprocess.Popen[str]":
    """Its data goes to `folder`/data, its log to `folder`/log, and what it says first can be read from its stdout."""
    allow_many_files()
    ours = {
        "PENSTOCK_LISTEN": listen,
        "PENSTOCK_DATA": str(folder / "data"),
        "PENSTOCK_ROOT_ACCESS_KEY": Target.access_key,
        "PENSTOCK_ROOT_SECRET_KEY": Target.secret_key,
        "PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS": str(connections),
    }
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "penstock", "serve"],
            cwd=folder,
            env={**environ, **ours},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


@contextmanager
def running(folder: Path, environ: Mapping[str, str]) -> Iterator[Running]:
    process = start(folder, environ)
    try:
        yield Running(address(process, folder), process.pid)
    finally:
        stop(process)


def address(process: "subprocess.Popen[str]", folder: Path) -> Target:
    """Where it listens, as it says itself once it does."""
    assert process.stdout is not None
    url = next((word for line in process.stdout for word in line.split() if word.startswith("http://")), None)
    if url is None:
        raise BenchError(f"the server did not start: {' '.join((folder / 'log').read_text().split())}")
    return at(url)


def stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def allow_many_files() -> None:
    """A thousand connections are more than the thousand files that a process may open unless it asks."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
