"""The server of a large run: one of its own with an account for each key, which it may kill; or one that was named."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.bench import own_server
from penstock.bench.scale.accounts import Keys
from penstock.bench.target import Target
from penstock.bench.watch import Watch

FIRST_ACCOUNT = 111_100_000_000
SPARE_CONNECTIONS = 500


def made_keys(count: int) -> Keys:
    return [(f"AKIASCALE{number:011d}", f"scale-secret-of-account-{number:06d}") for number in range(count)]


def settings_file(keys: Keys) -> str:
    """The accounts, as penstock.toml declares them."""
    rows = (
        f'[[accounts]]\nid = "{FIRST_ACCOUNT + number}"\n'
        f'keys = [{{ access_key = "{access_key}", secret_key = "{secret_key}" }}]\n'
        for number, (access_key, secret_key) in enumerate(keys)
    )
    return "\n".join(rows)


@dataclass
class ScaleServer:
    """What a run is told of its server. `own` is None if it belongs to somebody else."""

    target: Target
    keys: Keys
    watch: Watch
    own: "OwnServer | None" = None


class OwnServer:
    def __init__(self, folder: Path, environ: Mapping[str, str], keys: Keys, parked: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "penstock.toml").write_text(settings_file(keys))
        self._folder, self._keys, self._parked = folder, keys, parked
        self._connections = parked + SPARE_CONNECTIONS
        ours = {
            "PENSTOCK_CONFIG": str(folder / "penstock.toml"),
            "PENSTOCK_MAX_PARKED_RECEIVES_PER_ACCOUNT": str(parked + SPARE_CONNECTIONS),
        }
        self._environ = {**environ, **ours}
        self.process: subprocess.Popen[str] | None = None
        self.listen = "127.0.0.1:0"

    def beside(self, name: str) -> "OwnServer":
        """Another one with the same accounts, and nothing in it."""
        return OwnServer(self._folder.with_name(name), self._environ, self._keys, self._parked)

    def start(self) -> ScaleServer:
        """Started, and its address known; after a kill at the same address, whether it answers yet or not."""
        self.process = own_server.start(self._folder, self._environ, self.listen, self._connections)
        target = own_server.address(self.process, self._folder)
        self.listen = target.authority
        return ScaleServer(target, self._keys, Watch(self.process.pid, self._folder / "data"), self)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            own_server.stop(self.process)
