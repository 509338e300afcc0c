"""What operators do: write a settings file, start, kill and start again, and read what was said."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from server_process import Server, clean_environment

Start = Callable[..., Server]
PATIENCE_SECONDS = 20


def variables(settings: dict[str, str]) -> dict[str, str]:
    return {f"PENSTOCK_{name.upper()}": value for name, value in settings.items()}


def run(folder: Path, *words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """A command of `penstock`, with its ./data in this folder."""
    return subprocess.run(
        [sys.executable, "-m", "penstock", *map(str, words)],
        cwd=folder,
        env=clean_environment() | variables(settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def refusal(folder: Path, toml: str = "", **settings: str) -> list[str]:
    """What `penstock serve` says, line by line, when it does not start."""
    (folder / "penstock.toml").write_text(toml)
    done = run(folder, "serve", **{"listen": "127.0.0.1:0"} | settings)
    assert (done.returncode, done.stdout) == (1, ""), done.stdout
    return done.stderr.splitlines()


def kill(server: Server) -> None:
    """As a power cut would: no goodbye."""
    server.process.kill()
    server.process.wait()


def page(server: Server, path: str) -> tuple[int, str]:
    """Status and text of a page that anyone may read."""
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with browser.open(f"{server.url}{path}", timeout=PATIENCE_SECONDS) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
