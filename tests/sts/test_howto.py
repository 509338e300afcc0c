"""docs/howto/temporary-credentials.md: its commands, from the first to the last, by the AWS CLI."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from sdk.conftest import program
from server_process import Server

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "temporary-credentials.md"
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()


def session(server: Server, file: Path) -> boto3.Session:
    """Of credentials that a command left in a file."""
    made = json.loads(file.read_text())["Credentials"]
    return boto3.Session(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"], server.region)


def test_every_command_of_the_page_works(fresh_server: Server, tmp_path: Path) -> None:
    aws = program("awscli", "aws")
    script = "\n".join(f'{block}\necho "block {number}" >&2' for number, block in enumerate(BLOCKS))
    folder = tmp_path / "shell"
    folder.mkdir()
    environment = fresh_server.environment | {
        "PATH": f"{aws.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),  # where the AWS CLI keeps the credentials of roles, of any server that has one so named
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()) == (0, [f"block {number}" for number in range(len(BLOCKS))])
    assert '"arn:aws:sts::000000000000:assumed-role/cleaner/tonight"' in done.stdout
    assert '"arn:aws:sts::000000000000:federated-user/guest"' in done.stdout
    (message,) = fresh_server.client().receive_message(QueueUrl="orders")["Messages"]
    assert message["Body"] == "hello"
    sqs = session(fresh_server, folder / "looking-credentials.json").client("sqs", endpoint_url=fresh_server.url)
    with pytest.raises(ClientError, match="explicit deny"):  # they were given out before the role was revoked
        sqs.get_queue_attributes(QueueUrl="orders")
    guest = session(fresh_server, folder / "guest.json").client("sqs", endpoint_url=fresh_server.url)
    with pytest.raises(ClientError, match="no session policy allows"):
        guest.send_message(QueueUrl="orders", MessageBody="m")
