"""Commands as processes of their own, in an empty directory."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from server_process import Server, clean_environment

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def penstock(tmp_path: Path) -> Run:
    """`penstock("config", "--json")` runs that command and returns how it went."""

    def run(
        *arguments: str | Path, env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "penstock", *map(str, arguments)],
            cwd=tmp_path,
            env=clean_environment() | dict(env or {}),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.fixture
def sqs(penstock: Run, server: Server) -> Run:
    """`penstock sqs …` against the running server, as its root account."""
    return lambda *arguments: penstock("sqs", *arguments, env=server.environment)
