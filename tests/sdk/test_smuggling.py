"""Headers that two readers could read in two ways, on a real connection: a signed request with lines added, doubled,
folded or misspelt is refused before anyone acts on it. Each attack comes from an address of its own, so that none is
refused only because of the ones before it."""

import itertools
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from server_process import Server

from .wire import Wire, replies

Lines = list[bytes]
Attack = Callable[[Lines], Lines]
_numbers = itertools.count()
_addresses = (f"127.77.{number // 250}.{number % 250 + 1}" for number in itertools.count())


@pytest.fixture(scope="module")
def session(server: Server) -> Wire:
    """Requests signed with temporary credentials of the root account."""
    made = server.client("sts").get_session_token()["Credentials"]
    return Wire(server, key=made["AccessKeyId"], secret=made["SecretAccessKey"], token=made["SessionToken"])


@pytest.fixture
def queue(server: Server) -> Iterator[tuple[Any, str]]:
    sqs = server.client()
    url = sqs.create_queue(QueueName=f"smuggling-{next(_numbers)}")["QueueUrl"]
    yield sqs, url
    sqs.delete_queue(QueueUrl=url)


def said(wire: Wire, request: bytes, *before: bytes) -> tuple[int, bytes]:
    """The answer, on a connection on which other requests were answered before."""
    host, port = wire.host.split(":")
    with socket.create_connection((host, int(port)), 10, (next(_addresses), 0)) as connection:
        for one in before:
            connection.sendall(one)
            assert replies(connection, 1)[0][0] == 200
        connection.sendall(request)
        return replies(connection, 1)[0]


def attacked(request: bytes, attack: Attack) -> bytes:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    return b"\r\n".join([first, *attack(lines), b"", b""]) + body


def named(name: bytes, lines: Lines) -> bytes:
    return next(line for line in lines if line.lower().startswith(name.lower() + b":"))


def doubled(name: bytes) -> Attack:
    return lambda lines: [*lines, named(name, lines)]


def before(name: bytes, value: bytes) -> Attack:
    """Another value for it, in front of the signed one."""
    return lambda lines: [name + b": " + value, *lines]


def after(name: bytes, value: bytes) -> Attack:
    return lambda lines: [*lines, name + b": " + value]


def dropped(name: bytes) -> Attack:
    return lambda lines: [line for line in lines if line != named(name, lines)]


def respelt(name: bytes, spelling: bytes) -> Attack:
    return lambda lines: [
        line if line != named(name, lines) else spelling + line[len(name) :] for line in lines
    ]  # fmt: skip


def folded(name: bytes) -> Attack:
    return lambda lines: [line.replace(b": ", b":\r\n ", 1) if line == named(name, lines) else line for line in lines]


ATTACKS: dict[str, Attack] = {
    **{f"two {name.decode()}": doubled(name) for name in (b"Host", b"Authorization", b"X-Amz-Date", b"X-Amz-Target")},
    "two tokens": doubled(b"X-Amz-Security-Token"),
    "two lengths": doubled(b"Content-Length"),
    "another host before": before(b"Host", b"evil.example.com"),
    "another host after": after(b"Host", b"evil.example.com"),
    "another target before": before(b"X-Amz-Target", b"AmazonSQS.PurgeQueue"),
    "another target after": after(b"X-Amz-Target", b"AmazonSQS.PurgeQueue"),
    "another date before": before(b"X-Amz-Date", b"20200101T000000Z"),
    "another token after": after(b"X-Amz-Security-Token", b"AAAA"),
    "another header of Amazon's": after(b"X-Amz-Anything", b"1"),
    "a hash of the body": after(b"X-Amz-Content-Sha256", b"UNSIGNED-PAYLOAD"),
    **{f"no {name.decode()}": dropped(name) for name in (b"Host", b"X-Amz-Date", b"X-Amz-Target", b"Content-Type")},
    "no token": dropped(b"X-Amz-Security-Token"),
    "no signature": dropped(b"Authorization"),
    **{f"folded {name.decode()}": folded(name) for name in (b"Host", b"Authorization", b"X-Amz-Target", b"X-Amz-Date")},
    "folded token": folded(b"X-Amz-Security-Token"),
    "a space before the colon": respelt(b"X-Amz-Target", b"X-Amz-Target "),
    "an underscore": respelt(b"X-Amz-Target", b"X_Amz_Target"),
    "a zero in a name": respelt(b"X-Amz-Date", b"X-Amz-Date\0"),
    "chunks as well": after(b"Transfer-Encoding", b"chunked"),
    "a line of its own": after(b"X-A", b"1\nX-Amz-Target: AmazonSQS.PurgeQueue"),
}


@pytest.mark.parametrize("known", [0, 4], ids=["at once", "after others like it"])
@pytest.mark.parametrize("name", ATTACKS)
def test_a_signed_request_whose_headers_were_tampered_with_does_nothing(
    session: Wire, queue: tuple[Any, str], name: str, known: int
) -> None:
    """Also where the server knows the heads of this connection by then."""
    sqs, url = queue
    honest = session.bytes_of("SendMessage", QueueUrl=url, MessageBody="honestly", DelaySeconds=900)
    request = session.bytes_of("SendMessage", QueueUrl=url, MessageBody="smuggled", DelaySeconds=0)
    status, body = said(session, attacked(request, ATTACKS[name]), *[honest] * known)
    assert 400 <= status < 500, body
    assert "Messages" not in sqs.receive_message(QueueUrl=url)


def test_the_same_request_left_alone_is_served(session: Wire, queue: tuple[Any, str]) -> None:
    sqs, url = queue
    status, body = said(session, session.bytes_of("SendMessage", QueueUrl=url, MessageBody="honest"))
    assert (status, "MessageId" in json.loads(body)) == (200, True)
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "honest"


@pytest.mark.parametrize("name", [b"Content-Type", b"User-Agent"])
def test_headers_that_steer_nothing_may_be_added(session: Wire, queue: tuple[Any, str], name: bytes) -> None:
    """Proxies add their own; what is not Amazon's and was not signed changes nothing."""
    _, url = queue
    request = attacked(session.bytes_of("SendMessage", QueueUrl=url, MessageBody="m"), after(b"X-" + name, b"added"))
    assert said(session, request)[0] == 200
