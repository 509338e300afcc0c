"""`penstock sqs`, as a person types it, against a server that runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from server_process import Server

from .conftest import Run


def reply(sqs: Run, *arguments: str | Path) -> Any:
    done = sqs(*arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout) if done.stdout else None


def test_a_message_goes_all_the_way(sqs: Run, server: Server) -> None:
    url = reply(sqs, "create-queue", "--queue-name", "all-the-way", "--attributes", "VisibilityTimeout=60")["QueueUrl"]
    assert url == f"{server.url}/000000000000/all-the-way"
    sent = reply(sqs, "send-message", "--queue-url", url, "--message-body", 'a "b", c=d')
    (message,) = reply(sqs, "receive-message", "--queue-url", url, "--attribute-names", "SentTimestamp", "SenderId")[
        "Messages"
    ]
    assert (message["MessageId"], message["Body"]) == (sent["MessageId"], 'a "b", c=d')
    assert message["Attributes"].keys() == {"SentTimestamp", "SenderId"}
    handle = message["ReceiptHandle"]
    assert reply(sqs, "delete-message", "--queue-url", url, "--receipt-handle", handle) is None
    assert reply(sqs, "receive-message", "--queue-url", url) is None


def test_entries_are_words_or_json(sqs: Run) -> None:
    reply(sqs, "create-queue", "--queue-name", "entries")
    words = ("Id=1,MessageBody=one", 'Id=2,MessageBody="two, three",DelaySeconds=0')
    sent = reply(sqs, "send-message-batch", "--queue-url", "entries", "--entries", *words)
    assert [entry["Id"] for entry in sent["Successful"]] == ["1", "2"]
    document = json.dumps([{"Id": "3", "MessageBody": "four"}])
    assert reply(sqs, "send-message-batch", "--queue-url", "entries", "--entries", document)["Successful"]
    got = reply(sqs, "receive-message", "--queue-url", "entries", "--max-number-of-messages", "10")["Messages"]
    assert {message["Body"] for message in got} == {"one", "two, three", "four"}


def test_attributes_of_messages_keep_their_bytes(sqs: Run, tmp_path: Path) -> None:
    (tmp_path / "attributes.json").write_text('{"raw": {"DataType": "Binary", "BinaryValue": "AP8="}}')
    reply(sqs, "create-queue", "--queue-name", "bytes")
    send = ("send-message", "--queue-url", "bytes", "--message-body", "x", "--message-attributes")
    reply(sqs, *send, f"file://{tmp_path / 'attributes.json'}")
    (message,) = reply(sqs, "receive-message", "--queue-url", "bytes", "--message-attribute-names", "All")["Messages"]
    assert message["MessageAttributes"] == {"raw": {"DataType": "Binary", "BinaryValue": "AP8="}}


def test_tags_and_attributes_come_back_as_they_were_given(sqs: Run) -> None:
    reply(sqs, "create-queue", "--queue-name", "tagged", "--tags", "team=shop,stage=test")
    assert reply(sqs, "list-queue-tags", "--queue-url", "tagged") == {"Tags": {"team": "shop", "stage": "test"}}
    reply(sqs, "untag-queue", "--queue-url", "tagged", "--tag-keys", "team", "stage")
    assert reply(sqs, "list-queue-tags", "--queue-url", "tagged") is None
    reply(sqs, "set-queue-attributes", "--queue-url", "tagged", "--attributes", '{"DelaySeconds": "7"}')
    got = reply(sqs, "get-queue-attributes", "--queue-url", "tagged", "--attribute-names", "DelaySeconds")
    assert got == {"Attributes": {"DelaySeconds": "7"}}


def test_a_body_can_come_from_a_file_and_a_whole_request_from_json(sqs: Run, tmp_path: Path) -> None:
    (tmp_path / "body.txt").write_text("line one\nline two\n")
    reply(sqs, "create-queue", "--cli-input-json", '{"QueueName": "from-files"}')
    reply(sqs, "send-message", "--queue-url", "from-files", "--message-body", f"file://{tmp_path / 'body.txt'}")
    (tmp_path / "request.json").write_text('{"QueueUrl": "elsewhere", "MaxNumberOfMessages": 1}')
    whole = f"file://{tmp_path / 'request.json'}"
    got = reply(sqs, "receive-message", "--cli-input-json", whole, "--queue-url", "from-files")
    assert got["Messages"][0]["Body"] == "line one\nline two\n"


def test_what_the_server_refuses_is_said_as_it_said_it(sqs: Run) -> None:
    done = sqs("purge-queue", "--queue-url", "no-such-queue")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "An error occurred (AWS.SimpleQueueService.NonExistentQueue) when calling the PurgeQueue operation: "
        "The specified queue does not exist.\n"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("send-message", "--queue-url", "q"), "missing --message-body"),
        (
            ("send-message", "--queue-url", "q", "--message-body", "x", "--delay-seconds", "soon"),
            "--delay-seconds: 'soon'",
        ),
        (("send-message-batch", "--queue-url", "q", "--entries", "x"), "--entries: expected Name=Value"),
        (("create-queue", "--cli-input-json", "{"), "--cli-input-json: "),
        (("create-queue", "--cli-input-json", "[]"), "--cli-input-json: give a JSON object"),
        (("send-message", "--queue-url", "q", "--message-body", "file://no-such-file"), "--message-body: "),
    ],
)
def test_a_word_that_makes_no_sense_is_named(sqs: Run, words: tuple[str, ...], expected: str) -> None:
    done = sqs(*words)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_member_that_does_not_exist_is_refused_before_it_is_sent(sqs: Run) -> None:
    done = sqs("send-message-batch", "--queue-url", "q", "--entries", "Id=1,MessageBody=x,DelaySecond=5")
    assert done.returncode == 1
    assert "DelaySecond" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "nonsense"])
def test_a_server_that_is_not_there_is_one_line(penstock: Run, server: Server, endpoint: str) -> None:
    done = penstock("sqs", "list-queues", "--endpoint-url", endpoint, env=server.environment)
    assert done.returncode == 1
    assert endpoint in done.stderr
    assert done.stderr.count("\n") == 1


def without_keys(server: Server) -> dict[str, str]:
    return {name: value for name, value in server.environment.items() if "ACCESS_KEY" not in name}


@pytest.mark.parametrize("place", ["before", "after", "environment"])
def test_without_keys_in_the_environment_those_in_the_data_directory_are_used(
    penstock: Run, server: Server, place: str
) -> None:
    option = ("--data", server.data)
    words = {
        "before": ("sqs", *option, "list-queues"),
        "after": ("sqs", "list-queues", *option),
        "environment": ("sqs", "list-queues"),
    }[place]
    environ = without_keys(server) | ({"PENSTOCK_DATA": str(server.data)} if place == "environment" else {})
    done = penstock(*words, env=environ)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_any_keys_one_line_says_what_to_do(penstock: Run, server: Server) -> None:
    done = penstock("sqs", "list-queues", env=without_keys(server))
    assert done.returncode == 1
    assert done.stderr.startswith("penstock: no credentials: set AWS_ACCESS_KEY_ID")
    assert done.stderr.count("\n") == 1
