"""docs/howto/monitor.md: its section on CloudWatch, by the AWS CLI, the current boto3 and one that speaks Query."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdk.conftest import program
from server_process import Server

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "monitor.md").read_text()
SECTION = PAGE.partition("\n## By CloudWatch\n")[2].partition("\n## ")[0]
((COMMANDS,), (PROGRAM,)) = (re.findall(rf"```{kind}\n(.*?)```", SECTION, re.DOTALL) for kind in ("sh", "python"))


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server to which two messages of one and nine bytes were sent, some seconds after five minutes began: what
    begins in the very second in which somebody asks for everything before it is not told."""
    server = Server(tmp_path_factory.mktemp("busy"))
    server.start()
    sqs = server.client()
    sqs.create_queue(QueueName="orders")
    while time.time() % 300 < 2:
        time.sleep(0.1)
    entries = [{"Id": str(number), "MessageBody": "m" * number} for number in (1, 9)]
    sqs.send_message_batch(QueueUrl="orders", Entries=entries)
    yield server
    server.stop()


def run(server: Server, *command: str | Path, **more: str) -> str:
    done = subprocess.run(
        command, env=server.environment | more, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_commands_of_the_page(busy: Server, tmp_path: Path) -> None:
    aws = program("awscli", "aws")
    path = f"{aws.parent}:/usr/local/bin:/usr/bin:/bin"
    said = run(busy, "bash", "-euo", "pipefail", "-c", COMMANDS, PATH=path, HOME=str(tmp_path))
    listed, _, told = said.partition("}\n{")
    orders = [{"Name": "QueueName", "Value": "orders"}]
    expected = {"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": orders}
    assert json.loads(listed + "}")["Metrics"] == [expected]
    (point,) = json.loads("{" + told)["Datapoints"]
    assert (point["Sum"], point["Average"], point["Unit"]) == (2.0, 1.0, "Count")


@pytest.mark.parametrize("environment", ["current", "boto3-1.28"])
def test_the_program_of_the_page(busy: Server, environment: str) -> None:
    python = sys.executable if environment == "current" else program(environment, "python")
    sent, size = run(busy, python, "-c", PROGRAM).splitlines()
    assert re.fullmatch(r"NumberOfMessagesSent \{'[-0-9: +]+': 2\.0\}", sent)
    assert re.fullmatch(r"SentMessageSize \{'[-0-9: +]+': 5\.0\}", size)


def test_the_older_boto3_speaks_query_to_cloudwatch() -> None:
    words = 'import boto3; print(boto3.client("cloudwatch", region_name="us-east-1").meta.service_model.protocol)'
    said = subprocess.run([program("boto3-1.28", "python"), "-c", words], capture_output=True, text=True, check=False)
    assert said.stdout.strip() == "query", said.stderr
