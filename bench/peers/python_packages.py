"""moto server and MiniStack from PyPI, each in an environment of its own: they must not meet our dependencies."""

import subprocess
import sys
from pathlib import Path

from .peer import Peer, installing, launch, run

MOTO_VERSION = "5.2.5"
MINISTACK_VERSION = "1.5.33"

# moto_server logs every request and has no option against it.
QUIET_MOTO = "import logging, moto.server; logging.getLogger('werkzeug').setLevel('ERROR'); moto.server.main()"


def install_moto(cache: Path) -> None:
    _install(_moto(cache), f"moto[server]=={MOTO_VERSION}")


def start_moto(cache: Path, data: Path, port: int) -> "subprocess.Popen[bytes]":
    return launch([_moto(cache) / "bin" / "python", "-c", QUIET_MOTO, "-H", "127.0.0.1", "-p", str(port)], data)


def install_ministack(cache: Path) -> None:
    _install(_ministack(cache), f"ministack=={MINISTACK_VERSION}")


def start_ministack(cache: Path, data: Path, port: int) -> "subprocess.Popen[bytes]":
    settings = {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "ERROR",
        "SERVICES": "sqs",
        "TMPDIR": str(data),
    }
    return launch([_ministack(cache) / "bin" / "python", "-m", "ministack"], data, settings)


def _install(folder: Path, package: str) -> None:
    with installing(folder) as wanted:
        if wanted:
            run([sys.executable, "-m", "venv", folder], folder)
            run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", package], folder)


def _moto(cache: Path) -> Path:
    return cache / f"moto-{MOTO_VERSION}"


def _ministack(cache: Path) -> Path:
    return cache / f"ministack-{MINISTACK_VERSION}"


MOTO = Peer(
    name="moto",
    title="moto server",
    durable=False,
    signs=False,
    install=install_moto,
    start=start_moto,
    note="Werkzeug's threaded server, which moto_server runs; request log off",
    version=MOTO_VERSION,
)
MINISTACK = Peer(
    name="ministack",
    title="MiniStack",
    durable=False,
    signs=False,
    install=install_ministack,
    start=start_ministack,
    note="only SQS loaded, LOG_LEVEL=ERROR; state is written at shutdown only if asked, and is not",
    version=MINISTACK_VERSION,
)
