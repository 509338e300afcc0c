"""The AWS CLI, told where to go by the environment, as the start of a server prints it.

Version 1 of it ignores AWS_ENDPOINT_URL for SQS in most regions (aws/aws-cli#8737): there it needs --endpoint-url too.
"""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from server_process import Server

from .conftest import program

Aws = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]
ARN = "arn:aws:sqs:us-east-1:000000000000:"


@pytest.fixture(scope="module")
def run(server: Server) -> Run:
    command = program("awscli", "aws")

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *words], env=server.environment | environ, capture_output=True, text=True, timeout=60, check=False
        )

    return run


@pytest.fixture(scope="module")
def aws(run: Run, server: Server) -> Aws:
    """`aws("send-message", …)` is the reply to `aws sqs send-message …`; None if there was nothing to say."""

    def aws(*words: str) -> Any:
        done = run("--endpoint-url", server.url, "sqs", *words)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout) if done.stdout else None

    return aws


def test_a_message_goes_from_the_first_command_to_the_last(aws: Aws, server: Server) -> None:
    url = aws("create-queue", "--queue-name", "cli", "--attributes", "VisibilityTimeout=90,DelaySeconds=0")["QueueUrl"]
    assert url == f"{server.url}/000000000000/cli"
    attributes = '{"kind": {"DataType": "String", "StringValue": "order"}}'
    sent = aws("send-message", "--queue-url", url, "--message-body", "hello", "--message-attributes", attributes)
    assert sent["MD5OfMessageBody"] == "5d41402abc4b2a76b9719d911017c592"
    (message,) = aws("receive-message", "--queue-url", url, "--message-attribute-names", "All")["Messages"]
    assert (message["MessageId"], message["Body"]) == (sent["MessageId"], "hello")
    assert message["MessageAttributes"] == {"kind": {"StringValue": "order", "DataType": "String"}}
    found = aws("get-queue-attributes", "--queue-url", url, "--attribute-names", "All")["Attributes"]
    assert found["VisibilityTimeout"] == "90"
    assert found["ApproximateNumberOfMessagesNotVisible"] == "1"
    assert aws("delete-message", "--queue-url", url, "--receipt-handle", message["ReceiptHandle"]) is None
    assert aws("receive-message", "--queue-url", url) is None


def test_queues_are_tagged_and_listed(aws: Aws, server: Server) -> None:
    for name in ("cli-list-1", "cli-list-2"):
        server.client().create_queue(QueueName=name)
    urls = [f"{server.url}/000000000000/cli-list-{number}" for number in (1, 2)]
    assert aws("list-queues", "--queue-name-prefix", "cli-list", "--page-size", "1") == {"QueueUrls": urls}
    assert aws("tag-queue", "--queue-url", urls[0], "--tags", "team=shop,stage=test") is None
    assert aws("list-queue-tags", "--queue-url", urls[0]) == {"Tags": {"team": "shop", "stage": "test"}}


def test_a_move_task_is_started(aws: Aws, server: Server) -> None:
    sqs = server.client()
    dead = sqs.create_queue(QueueName="cli-dead")["QueueUrl"]
    policy = json.dumps({"deadLetterTargetArn": f"{ARN}cli-dead", "maxReceiveCount": 3})
    source = sqs.create_queue(QueueName="cli-source", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    sqs.send_message(QueueUrl=dead, MessageBody="to be moved")
    words = ("--source-arn", f"{ARN}cli-dead", "--destination-arn", f"{ARN}cli-source")
    assert aws("start-message-move-task", *words)["TaskHandle"]
    (message,) = sqs.receive_message(QueueUrl=source, WaitTimeSeconds=10)["Messages"]
    assert message["Body"] == "to be moved"


def test_the_caller_is_told_who_it_is(run: Run) -> None:
    done = run("sts", "get-caller-identity")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "UserId": "000000000000",
        "Account": "000000000000",
        "Arn": "arn:aws:iam::000000000000:root",
    }


@pytest.mark.parametrize(
    ("words", "environ", "expected"),
    [
        (
            ("get-queue-url", "--queue-name", "nowhere"),
            {},
            "An error occurred (AWS.SimpleQueueService.NonExistentQueue) when calling the GetQueueUrl operation: "
            "The specified queue does not exist.",
        ),
        (
            ("list-queues",),
            {"AWS_SECRET_ACCESS_KEY": "not the secret that it is"},
            "An error occurred (SignatureDoesNotMatch) when calling the ListQueues operation: ",
        ),
    ],
    ids=["no queue", "wrong secret"],
)
def test_what_the_server_refuses_is_said_in_its_words(
    run: Run, server: Server, words: tuple[str, ...], environ: dict[str, str], expected: str
) -> None:
    done = run("--endpoint-url", server.url, "sqs", *words, **environ)
    assert done.returncode in (254, 255), "version 2 says 254, version 1 says 255 to everything"
    assert done.stdout == ""
    assert expected in done.stderr


def test_a_server_that_is_not_there_ends_in_status_255(run: Run) -> None:
    done = run("sts", "get-caller-identity", AWS_ENDPOINT_URL="http://127.0.0.1:1", AWS_MAX_ATTEMPTS="1")
    assert done.returncode == 255
    assert "Could not connect to the endpoint URL" in done.stderr
