"""What a peer is, how its process is started, awaited and ended, and how its absence is told.

A peer is a server that somebody else wrote, measured beside Penstock with the same client. This file decides nothing
about any one of them and knows nothing of what is measured.
"""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOG = "server.log"
START_SECONDS = 60
STOP_SECONDS = 10
INSTALL_SECONDS = 1800
READY = ".ready"

# None of the peers checks signatures; moto and MiniStack read the service and the account from this header.
ASK = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "AmazonSQS.ListQueues",
    "Authorization": "AWS4-HMAC-SHA256 Credential=peer/20260101/us-east-1/sqs/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


class PeerUnavailable(Exception):
    """This peer cannot be measured here; the one line says why and, where it can, what would help."""


@dataclass(frozen=True)
class Peer:
    """`durable`: messages outlive the process. `signs`: a request with a wrong signature is refused.

    `install` is cheap when it was done before. `start` returns at once, with a process that leads a group of its own.
    `protocol` is what the server speaks best, "json" or "query".
    """

    name: str
    title: str
    durable: bool
    signs: bool
    install: Callable[[Path], None]
    start: Callable[[Path, Path, int], "subprocess.Popen[bytes]"]
    note: str = ""
    protocol: str = "json"
    version: str = ""


def need(tool: str, remedy: str) -> str:
    """The path of a program, or the line that says what to install."""
    path = shutil.which(tool)
    if path is None:
        raise PeerUnavailable(f"{tool} is not installed: {remedy}")
    return path


@contextlib.contextmanager
def installing(folder: Path) -> Iterator[bool]:
    """Whether there is something to do; a folder left half-made by an earlier try is made anew."""
    if (folder / READY).exists():
        yield False
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield True
    (folder / READY).touch()


def run(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> None:
    """One step of an installation; when it fails, its last line is the reason."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=dict(os.environ) | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerUnavailable(f"{Path(command[0]).name} did not end within {INSTALL_SECONDS} s") from None
    if done.returncode:
        raise PeerUnavailable(f"{Path(command[0]).name} failed ({done.returncode}): {_telling_line(done.stdout)}")


def launch(
    command: Sequence[str | Path], data: Path, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a server in `data`, its output in a file there, as the leader of a group that `stop` can end whole."""
    data.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PENSTOCK_"))}
    with (data / LOG).open("ab") as log:
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=data,
            env=inherited | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(process: "subprocess.Popen[bytes]", seconds: float = STOP_SECONDS) -> None:
    """End the process and everything it started: asked first, then killed."""
    _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def wait_until_it_answers(process: "subprocess.Popen[bytes]", data: Path, port: int, seconds: float) -> None:
    """Return when ListQueues is answered; otherwise say what the server said last."""
    deadline = time.monotonic() + seconds
    heard = "no connection"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise PeerUnavailable(f"it ended with status {process.returncode}: {_telling_line(_log(data))}")
        try:
            status = _list_queues(port)
        except (OSError, http.client.HTTPException) as error:
            heard = str(error) or type(error).__name__
        else:
            if status == 200:
                return
            heard = f"HTTP {status} to ListQueues"
        time.sleep(0.1)
    raise PeerUnavailable(f"it did not answer within {seconds:g} s ({heard}): {_telling_line(_log(data))}")


@contextlib.contextmanager
def running(peer: Peer, cache: Path, data: Path | None = None, seconds: float = START_SECONDS) -> Iterator[int]:
    """Install and start a peer and yield its port; it is gone afterwards, and so is its data if none was given."""
    cache = cache.resolve()
    peer.install(cache)
    with contextlib.ExitStack() as stack:
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"peer-{peer.name}-")))
        port = free_port()
        process = peer.start(cache, data.resolve(), port)
        stack.callback(stop, process)
        wait_until_it_answers(process, data, port, seconds)
        yield port


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _list_queues(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("POST", "/", b"{}", ASK)
        return connection.getresponse().status
    finally:
        connection.close()


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _log(data: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (data / LOG).read_bytes()
    return b""


def _telling_line(output: bytes) -> str:
    """The last line that names an error, or the last line at all."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1][:300]
