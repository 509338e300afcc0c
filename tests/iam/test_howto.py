"""docs/howto/users-and-policies.md: its commands, from the first to the last, by the AWS CLI."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdk.conftest import program
from server_process import Server

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "users-and-policies.md"
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


def test_every_command_of_the_page_works(fresh_server: Server, tmp_path: Path) -> None:
    if not shutil.which("bash"):
        pytest.skip("there is no bash")
    aws = program("awscli", "aws")
    script = "\n".join(f'{block}\necho "block {number}" >&2' for number, block in enumerate(BLOCKS))
    environment = fresh_server.environment | {"PATH": f"{aws.parent}{os.pathsep}{os.environ['PATH']}"}
    folder = tmp_path / "shell"
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()) == (0, [f"block {number}" for number in range(len(BLOCKS))])
    (message,) = fresh_server.client().receive_message(QueueUrl="orders")["Messages"]
    assert message["Body"] == "hello"
    assert fresh_server.client("iam").list_users()["Users"] == []
    decisions = re.findall(r'"EvalDecision": "(\w+)"', done.stdout)
    assert decisions == ["allowed", "implicitDeny"]
    assert json.loads((folder / "key.json").read_text())["UserName"] == "anna"
