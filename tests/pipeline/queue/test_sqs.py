"""The light client: what it asks is understood, what can be tried again is, and the rest is said plainly."""

import json
from collections.abc import Iterator

import pytest

from penstock.pipeline.http import Address
from penstock.pipeline.signature import Given, Keys, NoKeys
from penstock.pipeline.sources.queue.options import parse
from penstock.pipeline.sqs import Client, Script, SqsError
from pipeline.queue.conftest import TestQueue
from pipeline.queue.scripted_server import CLOSE, ScriptedServer, reply

FINE = reply(200, '{"Attributes":{}}')


def complaint(code: str, status: int = 400) -> bytes:
    return reply(status, json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": "so it is"}))


def client(server: ScriptedServer, keys: Keys | None = None, **more: float) -> Client:
    given = Given(keys or Keys("AKIA", "secret"))
    return Client(Address.of(server.url), "eu-west-1", given, sleep=lambda seconds: None, **more)


def ask(one: Client) -> dict[str, object]:
    with one:
        return one.call("GetQueueAttributes", QueueUrl="http://x/1/q")


def test_a_signed_request_is_answered(queue: TestQueue) -> None:
    body = 'ünïcode, "quotes" and \n lines'
    with queue.settings().client() as client:
        client.call("SendMessage", QueueUrl=queue.url, MessageBody=body)
    assert queue.bodies() == [body]


def test_a_token_of_temporary_keys_is_signed_and_sent() -> None:
    with ScriptedServer([FINE]) as server:
        ask(client(server, Keys("AKIA", "secret", "the-token")))
    assert "x-amz-security-token:the-token" in server.heads[0]
    assert "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target" in server.heads[0]
    assert "/eu-west-1/sqs/aws4_request" in server.heads[0]


def test_a_reply_in_chunks_is_read() -> None:
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'
    with ScriptedServer([chunked, chunked]) as server:
        assert ask(client(server)) == ask(client(server)) == {"a": 1}


@pytest.mark.parametrize(
    "trouble", [CLOSE, complaint("InternalError", 500), complaint("RequestThrottled"), reply(503, "<html>")]
)
def test_what_may_pass_is_tried_again(trouble: bytes | None) -> None:
    with ScriptedServer([trouble, trouble, trouble, FINE]) as server:
        assert ask(client(server)) == {"Attributes": {}}


def test_patience_ends_and_names_what_was_wrong() -> None:
    with (
        ScriptedServer([complaint("ServiceUnavailable", 503)]) as server,
        pytest.raises(SqsError, match=r"^GetQueueAttributes on http://x/1/q: ServiceUnavailable: so it is$"),
    ):
        ask(client(server, patience_seconds=0))


def test_a_server_that_is_not_there_is_named() -> None:
    with ScriptedServer([]) as server:
        gone = client(server, patience_seconds=0)
    with pytest.raises(SqsError, match=r"ConnectionLost: cannot reach http://127\.0\.0\.1:\d+"):
        ask(gone)


class Renewed:
    """Keys that have been renewed by the time they are asked for again."""

    asked = 0

    def keys(self) -> Keys:
        return Keys("AKIA", "secret", f"token-{self.asked}")

    def forget(self) -> None:
        self.asked += 1


def test_expired_keys_are_looked_up_again() -> None:
    with ScriptedServer([complaint("ExpiredToken"), FINE]) as server:
        ask(Client(Address.of(server.url), "eu-west-1", Renewed()))
    assert "token-0" in server.heads[0]
    assert "token-1" in server.heads[1]


def test_keys_that_stay_expired_are_an_error_that_says_so() -> None:
    with (
        ScriptedServer([complaint("ExpiredToken")] * 2) as server,
        pytest.raises(SqsError, match="ExpiredToken: the credentials have expired, and the AWS provider chain has no"),
    ):
        ask(client(server))


def test_a_queue_that_is_gone_is_an_error_at_once(queue: TestQueue) -> None:
    queue.delete()
    said = rf"^PurgeQueue on {queue.url}: QueueDoesNotExist: the queue does not exist"
    with queue.settings().client() as client, pytest.raises(SqsError, match=said):
        client.call("PurgeQueue", QueueUrl=queue.url)


def test_no_keys_at_all_say_where_they_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(NoKeys, match=r"^no AWS credentials: set AWS_ACCESS_KEY_ID and"):
        parse({"queueUrl": "http://127.0.0.1:1/1/q"}).client().call("ListQueues")


def test_keys_come_from_the_environment(queue: TestQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", queue.server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", queue.server.secret_key)
    with parse({"queueUrl": queue.url}).client() as client:
        assert client.call("ListQueues")["QueueUrls"]


def test_scripts_run_side_by_side_and_catch_their_own_errors(queue: TestQueue) -> None:
    said: list[str] = []

    def careful() -> Script:
        try:
            yield "DeleteMessage", {"QueueUrl": queue.url, "ReceiptHandle": "nonsense"}
        except SqsError as error:
            said.append(error.code)
        yield "SendMessage", {"QueueUrl": queue.url, "MessageBody": "after all"}

    def sends() -> Iterator[Script]:
        yield careful()
        yield careful()

    with queue.settings().client() as client:
        replies = list(client.replies(sends()))
    assert said == ["ReceiptHandleIsInvalid"] * 2
    assert len(replies) == 2
    assert queue.bodies() == ["after all"] * 2
