"""Requests that no SDK sends: by browsers, shells, gateways, old clients and vandals."""

import json
import time
from collections.abc import Callable
from hashlib import md5
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import pytest

from server_process import Server

from .wire import Wire, answer, head, json_headers, replies

ACCOUNT = "000000000000"
LIST = {"Action": "ListQueues", "Version": "2012-11-05"}


@pytest.fixture
def wire(server: Server) -> Wire:
    return Wire(server)


@pytest.fixture
def path(sqs: Any, request: pytest.FixtureRequest) -> str:
    """The path of a queue's URL; the queue is this test's own."""
    name = request.function.__name__[5:85]
    sqs.create_queue(QueueName=name)
    return f"/{ACCOUNT}/{name}"


def bodies(sqs: Any, path: str) -> list[str]:
    got = sqs.receive_message(QueueUrl=path, MaxNumberOfMessages=10).get("Messages", [])
    return sorted(message["Body"] for message in got)


# The Query protocol, as people use it without an SDK.


def test_a_presigned_link_is_a_call(wire: Wire, sqs: Any, path: str) -> None:
    send = {"Action": "SendMessage", "MessageBody": "from a browser: a+b & c"}
    got = wire.ask("GET", wire.presigned(path, send))
    assert (got.status, got.headers["content-type"]) == (200, "text/xml")
    assert got.text("RequestId") == got.headers["x-amzn-requestid"]
    assert bodies(sqs, path) == ["from a browser: a+b & c"]


def test_a_presigned_link_is_of_no_use_once_it_has_expired(wire: Wire, path: str) -> None:
    attributes = {"Action": "GetQueueAttributes", "AttributeName.1": "All"}
    assert wire.ask("GET", wire.presigned(path, attributes, expires=900, age_seconds=600)).status == 200
    got = wire.ask("GET", wire.presigned(path, attributes, expires=300, age_seconds=600))
    assert (got.status, got.code) == (400, "RequestExpired")


def test_a_presigned_link_cannot_be_changed(wire: Wire, sqs: Any, path: str) -> None:
    link = wire.presigned(path, {"Action": "SendMessage", "MessageBody": "mine"})
    got = wire.ask("GET", link.replace("mine", "yours"))
    assert (got.status, got.code) == (403, "SignatureDoesNotMatch")
    assert bodies(sqs, path) == []


def test_a_form_is_posted_to_the_root_or_to_the_queue(wire: Wire, sqs: Any, path: str) -> None:
    send = {"Action": "SendMessage", "MessageBody": "posted"}
    assert wire.form(path, **send).text("MD5OfMessageBody") == md5(b"posted").hexdigest()
    assert wire.form("/", **send, QueueUrl=f"https://sqs.us-east-1.amazonaws.com{path}").status == 200
    assert bodies(sqs, path) == ["posted", "posted"]


def test_a_form_is_answered_in_json_for_those_who_accept_it(wire: Wire, path: str) -> None:
    got = wire.form(path, "application/json", Action="GetQueueAttributes", **{"AttributeName.1": "VisibilityTimeout"})
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    result = json.loads(got.body)["GetQueueAttributesResponse"]["GetQueueAttributesResult"]
    assert result == {"Attributes": [{"Name": "VisibilityTimeout", "Value": "30"}]}
    got = wire.form("/", "application/json", Action="GetQueueUrl", QueueName="nowhere")
    assert (got.status, got.code) == (400, "AWS.SimpleQueueService.NonExistentQueue")


def test_sts_answers_on_the_same_port(server: Server) -> None:
    body = {"Action": "GetCallerIdentity", "Version": "2011-06-15"}
    got = Wire(server, service="sts").form("/", **body)
    assert (got.status, got.text("Account")) == (200, ACCOUNT)


# Who is calling.


@pytest.mark.parametrize("protocol", ["query", "json"])
def test_a_request_without_a_signature_is_refused(wire: Wire, protocol: str) -> None:
    if protocol == "query":
        got = wire.ask("POST", "/", {"Content-Type": "application/x-www-form-urlencoded"}, urlencode(LIST))
        assert (got.status, got.code) == (403, "MissingAuthenticationToken")
    else:
        got = wire.ask("POST", "/", json_headers("ListQueues"), "{}")
        assert got.code == "com.amazon.coral.service#MissingAuthenticationTokenException"
        assert got.status == 403
    assert "Request is missing Authentication Token" in got.body


@pytest.mark.parametrize(
    ("signing", "code"),
    [
        ({"secret": "some other secret, not ours"}, "SignatureDoesNotMatch"),
        ({"key": "AKIANOBODYHASTHIS000"}, "InvalidClientTokenId"),
        ({"region": "mars-north-1"}, "SignatureDoesNotMatch"),
        ({"service": "s3"}, "SignatureDoesNotMatch"),
        ({"service": "sts"}, "InvalidAction"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else value,
)
def test_a_signature_for_something_else_is_refused(server: Server, signing: dict[str, str], code: str) -> None:
    got = Wire(server, **signing).form(**LIST)
    assert got.code == code
    assert got.status == (400 if code == "InvalidAction" else 403)


@pytest.mark.parametrize("age_seconds", [20 * 60, -20 * 60])
def test_a_signature_of_another_time_is_refused(wire: Wire, age_seconds: int) -> None:
    body = urlencode(LIST)
    headers = wire.signed("POST", "/", body, {"Content-Type": "application/x-www-form-urlencoded"}, age_seconds)
    got = wire.ask("POST", "/", headers, body)
    assert (got.status, got.code) == (403, "SignatureDoesNotMatch")


def test_a_body_that_was_not_signed_is_refused(wire: Wire, sqs: Any, path: str) -> None:
    signed, sent = (json.dumps({"QueueUrl": path, "MessageBody": body}) for body in ("mine", "yours"))
    headers = wire.signed("POST", "/", signed, json_headers("SendMessage"))
    assert wire.ask("POST", "/", headers, sent).code == "com.amazon.coral.service#InvalidSignatureException"
    assert bodies(sqs, path) == []


# The connection.


def test_a_connection_serves_one_signed_request_after_another(wire: Wire, sqs: Any, path: str) -> None:
    connection = HTTPConnection(wire.host, timeout=10)
    for number in range(3):
        body = json.dumps({"QueueUrl": path, "MessageBody": str(number)})
        connection.request("POST", "/", body, wire.signed("POST", "/", body, json_headers("SendMessage")))
        kept = connection.sock
        assert answer(connection).status == 200
        assert connection.sock is kept
    connection.close()
    assert bodies(sqs, path) == ["0", "1", "2"]


def test_pipelined_requests_are_answered_in_their_order(wire: Wire, sqs: Any, path: str) -> None:
    sends = [wire.bytes_of("SendMessage", QueueUrl=path, MessageBody=str(number)) for number in range(5)]
    wrong = wire.bytes_of("SendMessage", QueueUrl="nowhere", MessageBody="lost")
    with wire.socket() as connection:
        connection.sendall(b"".join([*sends[:2], wrong, *sends[2:]]))
        got = replies(connection, 6)
    assert [status for status, _ in got] == [200, 200, 400, 200, 200, 200]
    assert bodies(sqs, path) == ["0", "1", "2", "3", "4"]


def test_a_body_may_come_in_chunks(wire: Wire, sqs: Any, path: str) -> None:
    body = json.dumps({"QueueUrl": path, "MessageBody": "in three pieces"})
    headers = wire.signed("POST", "/", body, json_headers("SendMessage"))
    pieces = iter([body[:10].encode(), body[10:20].encode(), body[20:].encode()])
    assert wire.ask("POST", "/", headers, pieces).status == 200
    assert bodies(sqs, path) == ["in three pieces"]


def test_a_long_poll_whose_client_has_gone_takes_nothing(wire: Wire, sqs: Any, path: str) -> None:
    before = waiters(wire)
    with wire.socket() as connection:
        connection.sendall(wire.bytes_of("ReceiveMessage", QueueUrl=path, WaitTimeSeconds=20))
        until(lambda: waiters(wire) > before)
    until(lambda: waiters(wire) <= before)
    sqs.send_message(QueueUrl=path, MessageBody="for someone who is there")
    assert bodies(sqs, path) == ["for someone who is there"]


def waiters(wire: Wire) -> float:
    return float(wire.ask("GET", "/metrics").body.partition("\npenstock_waiters ")[2].split()[0])


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_client_that_waits_is_told_to_continue(wire: Wire, sqs: Any, path: str) -> None:
    body = json.dumps({"QueueUrl": path, "MessageBody": "when you are ready"})
    headers = wire.signed("POST", "/", body, json_headers("SendMessage"))
    with wire.socket() as connection:
        connection.sendall(head("POST", "/", headers | {"Content-Length": str(len(body)), "Expect": "100-continue"}))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body.encode())
        assert replies(connection, 1)[0][0] == 200
    assert bodies(sqs, path) == ["when you are ready"]


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(wire: Wire) -> None:
    headers = {"Host": wire.host, "Content-Length": str(6 * 1024 * 1024), "Expect": "100-continue"}
    with wire.socket() as connection:
        connection.sendall(head("POST", "/", headers))
        ((status, body),) = replies(connection, 1)
        assert status == 413
        assert b"<Code>RequestEntityTooLarge</Code>" in body, "in words that an SDK can read"
        assert connection.recv(1) == b"", "the connection is closed"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
    ],
    ids=["TLS", "words", "version", "folded"],
)
def test_garbage_is_refused_and_the_connection_closed(wire: Wire, sent: bytes) -> None:
    with wire.socket() as connection:
        connection.sendall(sent)
        ((status, _),) = replies(connection, 1)
        assert status in (400, 505)
        assert connection.recv(1) == b""


@pytest.mark.parametrize("body", ['{"QueueUrl": ', "[]", '{"QueueUrl": 7}', "\x00", "[" * 100_000, '{"Nonsense": 1}'])
def test_a_signed_body_that_makes_no_sense_is_the_sender_s_fault(wire: Wire, body: str) -> None:
    got = wire.ask("POST", "/", wire.signed("POST", "/", body, json_headers("SendMessage")), body)
    assert got.status == 400
    assert got.code.startswith("com.amazon")


@pytest.mark.parametrize(("method", "target"), [("GET", "/"), ("PUT", "/"), ("DELETE", "/x"), ("GET", "/robots.txt")])
def test_what_is_no_call_is_not_found_or_refused(wire: Wire, method: str, target: str) -> None:
    assert wire.ask(method, target).status in (403, 404)
    assert wire.ask(method, target, wire.signed(method, target)).status == 404
