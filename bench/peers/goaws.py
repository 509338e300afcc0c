"""GoAWS (Go, in memory), built from its module at a pinned version.

`go install` asks for the list of all versions, which not every module proxy gives; a module of our own that requires
the one version does not.
"""

import shutil
import subprocess
from pathlib import Path

from .peer import Peer, installing, launch, need, run

VERSION = "0.5.4"
MODULE = "github.com/Admiral-Piett/goaws"

GO_MOD = f"""module peers

go 1.21

require {MODULE} v{VERSION}
"""

CONFIGURATION = """Local:
  Host: 127.0.0.1
  Port: {port}
  Region: us-east-1
  AccountId: "000000000000"
  EnableDuplicates: true
  QueueAttributeDefaults:
    VisibilityTimeout: 30
    ReceiveMessageWaitTimeSeconds: 0
    MaximumMessageSize: 1048576
"""


def install(cache: Path) -> None:
    folder = _folder(cache)
    with installing(folder) as wanted:
        if wanted:
            go = need("go", "apt-get install golang")
            (folder / "go.mod").write_text(GO_MOD)
            made = {name: str(folder / name.lower()) for name in ("GOPATH", "GOCACHE")}
            settings = made | {"GOFLAGS": "-mod=mod -modcacherw -buildvcs=false"}
            run([go, "build", "-o", folder / "goaws", f"{MODULE}/app/cmd"], folder, settings)
            for leftover in made.values():
                shutil.rmtree(leftover, ignore_errors=True)


def start(cache: Path, data: Path, port: int) -> "subprocess.Popen[bytes]":
    data.mkdir(parents=True, exist_ok=True)
    settings = data / "goaws.yaml"
    settings.write_text(CONFIGURATION.format(port=port))
    return launch([_folder(cache) / "goaws", "-config", settings, "-loglevel", "error"], data)


def _folder(cache: Path) -> Path:
    return cache / f"goaws-{VERSION}"


GOAWS = Peer(
    name="goaws",
    title="GoAWS",
    durable=False,
    signs=False,
    install=install,
    start=start,
    note="log level error, deduplication on; hands out the next of a FIFO group while one is in flight",
    version=VERSION,
)
