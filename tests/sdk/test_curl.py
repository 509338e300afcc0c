"""curl, which signs requests by itself: nothing of ours and nothing of botocore's is in its signatures."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from server_process import Server

Curl = Callable[..., str]
JSON = ("-H", "Content-Type: application/x-amz-json-1.0")


@pytest.fixture(params=["permanent", "temporary"])
def curl(server: Server, request: pytest.FixtureRequest) -> Curl:
    """`curl("sqs", "/", …)` is what the server answers."""
    if shutil.which("curl") is None and "CI" not in os.environ:
        pytest.skip("run `make test-tools`")
    key, secret, token = server.access_key, server.secret_key, ()
    if request.param == "temporary":
        made: dict[str, Any] = server.client("sts").get_session_token()["Credentials"]
        key, secret = made["AccessKeyId"], made["SecretAccessKey"]
        token = ("-H", f"X-Amz-Security-Token: {made['SessionToken']}")

    def curl(service: str, target: str, *words: str, secret: str = secret, region: str = server.region) -> str:
        sign = ("--aws-sigv4", f"aws:amz:{region}:{service}", "--user", f"{key}:{secret}")
        command = ["curl", "--silent", "--show-error", "--noproxy", "*", *sign, *token, *words, server.url + target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return curl


def action(name: str) -> tuple[str, ...]:
    return (*JSON, "-H", f"X-Amz-Target: AmazonSQS.{name}")


def test_a_message_goes_there_and_back(curl: Curl) -> None:
    url = json.loads(curl("sqs", "/", *action("CreateQueue"), "-d", '{"QueueName":"curl"}'))["QueueUrl"]
    body = {"QueueUrl": url, "MessageBody": "né ሴ + % & =\n"}
    sent = json.loads(curl("sqs", "/", *action("SendMessage"), "--data-binary", json.dumps(body)))
    got = json.loads(curl("sqs", "/", *action("ReceiveMessage"), "-d", json.dumps({"QueueUrl": url})))
    (message,) = got["Messages"]
    assert (message["MessageId"], message["Body"]) == (sent["MessageId"], body["MessageBody"])
    handle = json.dumps({"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]})
    assert curl("sqs", "/", *action("DeleteMessage"), "-d", handle) == ""


def test_a_form_tells_who_is_calling(curl: Curl) -> None:
    found = curl("sts", "/", "-d", "Action=GetCallerIdentity&Version=2011-06-15", region="us-east-1")
    assert "<Arn>arn:aws:iam::000000000000:root</Arn>" in found


@pytest.mark.parametrize(
    ("service", "changes", "code"),
    [
        ("sqs", {"secret": "another secret of mine"}, "SignatureDoesNotMatch"),
        ("sqs", {"region": "mars-north-1"}, "SignatureDoesNotMatch"),
        ("s3", {}, "SignatureDoesNotMatch"),
    ],
)
def test_what_is_signed_with_something_else_is_refused(
    curl: Curl, service: str, changes: dict[str, str], code: str
) -> None:
    assert f"<Code>{code}</Code>" in curl(service, "/", "-d", "Action=ListQueues", **changes)
