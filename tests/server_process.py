"""A Penstock as its users meet it: a process of its own, on a free port, with an empty data directory."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import penstock.aws

MODELS = Path(penstock.aws.__path__[0]) / "models"
START_SECONDS = 60
"""A start takes one, and on a machine with much else to do it took more than twenty. Who dies is not waited for."""
STOP_SECONDS = 40
LISTENS = re.compile(r"^Penstock \S+ listens on (https?://\S+)$", re.MULTILINE)


def clean_environment() -> dict[str, str]:
    """The environment without anything that would steer Penstock or an SDK."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK_", "AWS_", "BOTO"))} | {
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
    }


@dataclass
class Server:
    """`environment` is what a client needs to reach it as its root account."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    access_key: str = "PENSTOCK_TEST_ROOT"
    secret_key: str = "a secret that only tests know"
    region: str = "us-east-1"
    url: str = ""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment() | {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_CONFIG_FILE": os.devnull,
        }

    def client(self, service: str = "sqs") -> Any:
        """A boto3 client of the root account, for whatever a test needs to be so."""
        import boto3  # not at the top: processes that only need the address must start at once

        session = boto3.Session(self.access_key, self.secret_key, region_name=self.region)
        session._loader.search_paths.append(str(MODELS))
        return session.client(service, endpoint_url=self.url)

    def start(self) -> None:
        given = {
            "PENSTOCK_LISTEN": "127.0.0.1:0",
            "PENSTOCK_DATA": str(self.data),
            "PENSTOCK_REGION": self.region,
            "PENSTOCK_ROOT_ACCESS_KEY": self.access_key,
            "PENSTOCK_ROOT_SECRET_KEY": self.secret_key,
        } | self.settings
        with (self.folder / "stdout").open("wb") as stdout, (self.folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "penstock", "serve"],
                cwd=self.folder,
                env=clean_environment() | given,
                stdout=stdout,
                stderr=stderr,
            )
        self.url = self._announced()

    def _announced(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := LISTENS.search((self.folder / "stdout").read_text()):
                return found[1]
            time.sleep(0.01)
        self.stop()
        raise AssertionError(f"the server did not start:\n{self.output()}")

    def output(self) -> str:
        return (self.folder / "stdout").read_text() + (self.folder / "stderr").read_text()

    def stop(self) -> int:
        """As an operator would: the exit status after SIGTERM."""
        self.process.terminate()
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
