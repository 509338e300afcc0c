"""fauxqs (TypeScript, on Node.js) from npm, in memory and with its SQLite persistence.

It needs Node.js 22.5 or newer, which many machines lack; so a pinned Node.js comes from npm as well.
"""

import functools
import json
import platform
import subprocess
import sys
from pathlib import Path

from .peer import Peer, PeerUnavailable, installing, launch, need, run

VERSION = "2.4.1"
NODE_VERSION = "24.21.0"
PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def install(cache: Path) -> None:
    folder = _folder(cache)
    with installing(folder) as wanted:
        if wanted:
            npm = need("npm", "apt-get install npm")
            packages = [f"fauxqs@{VERSION}", f"{_node_package()}@{NODE_VERSION}"]
            run([npm, "install", "--prefix", folder, "--no-audit", "--no-fund", *packages], folder)


def start(cache: Path, data: Path, port: int, *, stored: bool) -> "subprocess.Popen[bytes]":
    """Through its library: the command line of this version ignores the settings for the log and for persistence."""
    modules = _folder(cache) / "node_modules"
    library = (modules / "fauxqs" / "dist" / "app.js").as_uri()
    options = {"port": port, "logger": False} | ({"dataDir": str(data / "fauxqs")} if stored else {})
    program = f"import {{ startFauxqs }} from {json.dumps(library)}; await startFauxqs({json.dumps(options)});"
    return launch([modules / _node_package() / "bin" / "node", "--input-type=module", "--eval", program], data)


def _node_package() -> str:
    processor = PROCESSORS.get(platform.machine().lower())
    if processor is None:
        raise PeerUnavailable(f"npm has no Node.js for {platform.machine()}")
    return f"node-{sys.platform}-{processor}"


def _folder(cache: Path) -> Path:
    return cache / f"fauxqs-{VERSION}"


IN_MEMORY = Peer(
    name="fauxqs",
    title="fauxqs, in memory",
    durable=False,
    signs=False,
    install=install,
    start=functools.partial(start, stored=False),
    note=f"Node.js {NODE_VERSION}, request log off",
    version=VERSION,
)
WITH_SQLITE = Peer(
    name="fauxqs-sqlite",
    title="fauxqs, SQLite persistence",
    durable=True,
    signs=False,
    install=install,
    start=functools.partial(start, stored=True),
    note="as fauxqs, with every change in a SQLite database (WAL)",
    version=VERSION,
)
