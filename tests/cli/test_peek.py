"""`penstock peek`, and the same operation from boto3 as the how-to has it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from penstock.cli.peek import table
from server_process import MODELS, Server

from .conftest import Run

ROOT = Path(__file__).parents[2]
HOWTO = (ROOT / "docs" / "howto" / "own-operations.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL)
AWS = ROOT / ".venvs" / "awscli" / "bin" / "aws"


@pytest.fixture
def queue(server: Server, request: pytest.FixtureRequest) -> str:
    """A queue with two messages in it."""
    name = request.node.name[-80:]
    server.client().create_queue(QueueName=name)
    fill(server, name, "first", "second")
    return name


def fill(server: Server, queue: str, *bodies: str) -> None:
    for body in bodies:
        server.client().send_message(QueueUrl=queue, MessageBody=body)


def test_messages_are_shown_and_nothing_happens_to_them(penstock: Run, server: Server, queue: str) -> None:
    for _ in range(2):
        done = penstock("peek", queue, env=server.environment)
        assert (done.returncode, done.stderr) == (0, "")
        head, first, second = done.stdout.splitlines()
        assert head.split() == ["MESSAGE", "ID", "SENT", "RECEIVED", "BODY"]
        assert first.split()[-2:] == ["0", "first"]
        assert second.split()[-2:] == ["0", "second"]
    assert len(server.client().receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]) == 2


def test_json_has_whole_messages_and_no_more_than_asked_for(penstock: Run, server: Server, queue: str) -> None:
    (message,) = json.loads(penstock("peek", queue, "-n", "1", "--json", env=server.environment).stdout)
    assert message["Body"] == "first"
    assert message["Attributes"]["ApproximateReceiveCount"] == "0"


def test_more_than_a_page_is_shown_page_by_page(penstock: Run, server: Server) -> None:
    client = server.client()
    client.create_queue(QueueName="pages")
    for batch in range(11):
        entries = [{"Id": str(n), "MessageBody": str(batch * 10 + n)} for n in range(10)]
        client.send_message_batch(QueueUrl="pages", Entries=entries)
    shown = json.loads(penstock("peek", "pages", "-n", "105", "--json", env=server.environment).stdout)
    assert [message["Body"] for message in shown] == [str(number) for number in range(105)]


def test_an_empty_queue_is_said_to_be_empty(penstock: Run, server: Server) -> None:
    server.client().create_queue(QueueName="hollow")
    assert penstock("peek", "hollow", env=server.environment).stdout == "The queue is empty.\n"
    assert json.loads(penstock("peek", "hollow", "--json", env=server.environment).stdout) == []


def test_a_queue_that_is_not_there_is_the_server_s_error(penstock: Run, server: Server) -> None:
    done = penstock("peek", "nowhere", env=server.environment)
    assert done.returncode == 1
    assert done.stderr.startswith("An error occurred (")
    assert "PeekMessages" in done.stderr


def test_a_message_cannot_steer_the_terminal() -> None:
    attributes = {"SentTimestamp": "0", "ApproximateReceiveCount": "3", "MessageGroupId": "g\n"}
    message = {"MessageId": "m", "Body": "a\x1b[2Jb\nc" + "d" * 500, "Attributes": attributes}
    _, line = table([message], 80)
    assert line.isprintable()
    assert line.startswith(r"m           1970-01-01 00:00:00Z  3         g\n    a\x1b[2Jb\ncd")
    assert len(line) == 80


@pytest.fixture
def orders(server: Server) -> None:
    """What the how-to looks at."""
    server.client().create_queue(QueueName="orders")
    fill(server, "orders", "hello from the how-to")


def shown_by(command: Sequence[str | Path], environ: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return done.stdout or done.stderr


@pytest.mark.parametrize(
    "program", re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL), ids=["by-variable", "by-code"]
)
def test_the_how_to_works_with_plain_boto3(server: Server, orders: None, program: str) -> None:
    environ = server.environment | ({} if "penstock.aws" in program else {"AWS_DATA_PATH": str(MODELS)})
    assert "hello from the how-to" in shown_by([sys.executable, "-c", program], environ)


def test_the_how_to_works_with_the_aws_cli(server: Server, orders: None) -> None:
    if not AWS.exists() and "CI" not in os.environ:
        pytest.skip("run `make sdk-envs`")
    command = re.search(r"```sh\naws (.*)\n```", HOWTO)
    assert command is not None
    environ = server.environment | {"AWS_DATA_PATH": str(MODELS)}
    assert "hello from the how-to" in shown_by([AWS, *command[1].split()], environ)
