"""The load client against servers that are scripted byte by byte, and against servers that lie."""

import socket
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from lying_server import Damages, Liar, Loses, Miscounts, Refuses, Reorders, Repeats, Unlocks, serving

from penstock.bench.client import Client, Refused
from penstock.bench.connection import PAUSE, Script
from penstock.bench.modes import measured
from penstock.bench.session import Options
from penstock.bench.target import BenchError, Target, at
from penstock.bench.watch import Watch

ONE = Options(connections=1, seconds=0.3, size=64, warmup=0.0)


@contextmanager
def answering(*replies: list[bytes]) -> Iterator[Target]:
    """A server that answers each request with these pieces, one after the other, and then closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection:
                for pieces in replies:
                    connection.recv(65536)
                    for piece in pieces:
                        connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Target("127.0.0.1", listener.getsockname()[1])
        thread.join()


def reply(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


def judged(liar: Liar, mode: str = "cycle") -> dict[str, int]:
    with serving(liar) as url:
        (point,) = measured(mode, at(url), ONE, Watch(None))
    return {name: count for name, count in point.problems.items() if count}


def test_a_reply_that_comes_in_pieces_is_put_together() -> None:
    whole = reply(b'{"QueueUrl":"u"}')
    with answering([whole[index : index + 1] for index in range(len(whole))]) as target:
        assert Client(target).call("CreateQueue", QueueName="q") == b'{"QueueUrl":"u"}'


def test_a_reply_larger_than_one_read_is_put_together() -> None:
    body = b"x" * (3 << 20)
    with answering([reply(body)]) as target:
        assert Client(target).call("ReceiveMessage") == body


def test_an_error_s_reply_is_told_in_the_server_s_words() -> None:
    body = b'{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"There is none."}'
    with answering([reply(body, b"400 Bad Request")]) as target, pytest.raises(Refused) as caught:
        Client(target).call("SendMessage")
    assert str(caught.value) == f"{target.endpoint} answered 400: QueueDoesNotExist: There is none."


def test_a_connection_that_is_refused_in_xml_is_told_of_in_its_words() -> None:
    body = b"<ErrorResponse><Error><Code>ServiceUnavailable</Code><Message>Too many connections.</Message></Error>"
    with answering([reply(body, b"503 Service Unavailable")]) as target, pytest.raises(Refused) as caught:
        Client(target).call("SendMessage")
    assert str(caught.value) == f"{target.endpoint} answered 503: ServiceUnavailable: Too many connections."


def test_an_error_that_is_no_json_is_told_as_it_is() -> None:
    with answering([reply(b"<h1>Bad\nGateway</h1>", b"502 Bad Gateway")]) as target, pytest.raises(Refused) as caught:
        Client(target).call("SendMessage")
    assert str(caught.value) == f"{target.endpoint} answered 502: <h1>Bad Gateway</h1>"


@pytest.mark.parametrize("pieces", [[], [reply(b"whole")[:-1]]], ids=["without a reply", "within a reply"])
def test_a_connection_that_is_closed_too_early_is_an_error(pieces: list[bytes]) -> None:
    with answering(pieces) as target, pytest.raises(BenchError, match="closed a connection without having answered"):
        Client(target).call("SendMessage")


def test_a_script_may_pause_between_two_requests() -> None:
    latencies, order = array("d"), list[str]()
    with answering([reply(b"one")], [reply(b"two")]) as target:
        client = Client(target)
        request = client.prepared("ListQueues").request()

        def script() -> Script:
            order.append((yield latencies, request).decode())
            yield PAUSE, 0.01
            order.append((yield latencies, request).decode())

        client.run([script()])
    assert order == ["one", "two"]
    assert len(latencies) == 2


def test_nobody_there_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = Target("127.0.0.1", listener.getsockname()[1])
    with pytest.raises(BenchError) as caught:
        Client(target).call("ListQueues")
    assert str(caught.value) == f"cannot reach {target.endpoint}: connection refused"


def test_something_else_than_sqs_is_one_clear_line() -> None:
    with (
        answering([reply(b"<html></html>")]) as target,
        pytest.raises(BenchError, match=f"^{target.endpoint} does not answer as SQS does: "),
    ):
        list(measured("cycle", target, ONE, Watch(None)))


def test_an_honest_server_is_without_fault_although_it_closes_after_each_reply() -> None:
    assert judged(Liar()) == {}


@pytest.mark.parametrize(
    ("liar", "verdict"),
    [
        (Loses(), {"lost": 1}),
        (Repeats(), {"came back after delete": 1}),
        (Damages(), {"damaged or foreign": 1, "lost": 1}),
    ],
    ids=["a loss", "a duplicate", "a damage"],
)
def test_a_planted_fault_is_found(liar: Liar, verdict: dict[str, int]) -> None:
    assert judged(liar) == verdict


def test_order_that_is_not_kept_is_found() -> None:
    with serving(Reorders()) as url:
        (point,) = measured("fifo", at(url), replace(ONE, groups=1), Watch(None))
    assert point.problems["out of order"] > 0
    assert point.problems["group locks broken"] == 0


def test_a_group_that_is_handed_out_twice_at_a_time_is_found() -> None:
    with serving(Unlocks()) as url:
        (point,) = measured("fifo", at(url), replace(ONE, groups=2, connections=2), Watch(None))
    assert point.problems["group locks broken"] > 0


def test_a_wrong_md5_ends_the_run() -> None:
    with pytest.raises(BenchError, match=r"wrong MD5 of its body: 0{32}"):
        judged(Miscounts())


def test_a_refusal_ends_the_run() -> None:
    with pytest.raises(Refused, match="answered 403: AccessDenied: you may not"):
        judged(Refuses())
