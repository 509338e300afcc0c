"""B16: crowds of clients that want nothing, want it slowly, or wait: they cost nothing, and nobody is held up by them.

The crowd is of one account, and it is another that must be served as if nobody else were there.
"""

import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psutil
import pytest

from server_process import Server
from tally import count

from .client import Client, Refused, counts, create
from .raw import call
from .run import size

IDLE = size(gate=2000, night=5000)
PARKED = size(gate=500, night=5000)
WATCHED_SECONDS = 2
IDLE_CPU_SECONDS = 0.1
SOON = 2.0

Start = Callable[..., Server]
Connect = Callable[..., Client]
Tenant = Callable[[Server], Client]
SETTINGS = {
    "PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS": "12000",
    "PENSTOCK_MAX_PARKED_RECEIVES_PER_ACCOUNT": "10000",
    "PENSTOCK_HEADER_SECONDS": "3",
}


@pytest.fixture
def sockets() -> Iterator[ExitStack]:
    """Whatever is opened in it is closed at the end."""
    with ExitStack() as stack:
        yield stack


def opened(server: Server, sockets: ExitStack, number: int) -> list[socket.socket]:
    count(cycles=number)
    host, _, port = server.url.removeprefix("http://").partition(":")
    return [sockets.enter_context(socket.create_connection((host, int(port)), timeout=20)) for _ in range(number)]


def cpu_seconds(server: Server, seconds: float) -> float:
    """What the process uses while nobody asks for anything."""
    process = psutil.Process(server.process.pid)
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    return after.user + after.system - before.user - before.system


@pytest.fixture
def tenant(connect: Connect) -> Tenant:
    """Another account, with a queue of the same name."""

    def tenant(server: Server) -> Client:
        client = connect(server, account="111122223333")
        create(client, "q")
        return client

    return tenant


def check_service(client: Client, queue: str = "q") -> None:
    """A message goes through as if nobody else were there."""
    began = time.monotonic()
    client.call("SendMessage", queue, MessageBody="m")
    (message,) = client.call("ReceiveMessage", queue)["Messages"]
    client.call("DeleteMessage", queue, ReceiptHandle=message["ReceiptHandle"])
    assert time.monotonic() - began < SOON


def answered(connections: list[socket.socket], seconds: float) -> int:
    """How many have something to read within this time; an end is also something."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ)
        heard: set[int] = set()
        deadline = time.monotonic() + seconds
        while len(heard) < len(connections) and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                heard.add(key.fd)
                selector.unregister(key.fileobj)
        return len(heard)


def test_connections_without_requests_cost_nothing(
    start: Start, connect: Connect, tenant: Tenant, sockets: ExitStack
) -> None:
    server = start(**SETTINGS)
    create(connect(server), "q")
    other = tenant(server)
    for connection in opened(server, sockets, IDLE):
        connection.sendall(call(server, "GetQueueUrl", QueueName="q"))
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    time.sleep(0.5)
    assert cpu_seconds(server, WATCHED_SECONDS) < IDLE_CPU_SECONDS
    check_service(other)


def test_parked_receives_cost_nothing_and_each_message_wakes_one(
    start: Start, connect: Connect, tenant: Tenant, sockets: ExitStack
) -> None:
    server = start(**SETTINGS)
    client, other = connect(server), tenant(server)
    create(client, "q")
    waiting = opened(server, sockets, PARKED)
    poll = call(server, "ReceiveMessage", "q", WaitTimeSeconds=20)
    for connection in waiting:
        connection.sendall(poll)
    time.sleep(1)
    assert answered(waiting, 0) == 0
    assert cpu_seconds(server, WATCHED_SECONDS) < IDLE_CPU_SECONDS
    check_service(other)
    entries = [{"Id": str(number), "MessageBody": f"m{number}"} for number in range(10)]
    client.call("SendMessageBatch", "q", Entries=entries)
    assert answered(waiting, 0.5) == len(entries)
    check_service(other)


def test_a_parked_receiver_that_has_gone_takes_nothing(start: Start, connect: Connect, sockets: ExitStack) -> None:
    server = start(**SETTINGS)
    client = connect(server)
    create(client, "q")
    poll = call(server, "ReceiveMessage", "q", WaitTimeSeconds=20)
    for connection in opened(server, sockets, 50):
        connection.sendall(poll)
        time.sleep(0.002)
        connection.close()
    time.sleep(0.5)
    check_service(client)


def test_slow_clients_are_sent_away_and_hold_up_nobody(start: Start, tenant: Tenant, sockets: ExitStack) -> None:
    """Slow with their headers, and slow with their bodies."""
    server = start(**SETTINGS)
    other = tenant(server)
    slow = opened(server, sockets, 200)
    whole = call(server, "ListQueues", QueueNamePrefix="x" * 500)
    for connection in slow[::2]:
        connection.sendall(whole[: whole.index(b"\r\n\r\n") + 4])
    for place in range(6):
        for connection in slow:
            connection.sendall(whole[place : place + 1])
        check_service(other)
    assert answered(slow, 20) == len(slow), "they may take as long as they like"
    check_service(other)


def test_clients_that_never_read_hold_up_nobody(
    start: Start, connect: Connect, tenant: Tenant, sockets: ExitStack
) -> None:
    """Each asks again and again for a large message that it never takes off the wire."""
    server = start(**SETTINGS)
    client, other = connect(server), tenant(server)
    create(client, "large", VisibilityTimeout=0)
    client.call("SendMessage", "large", MessageBody="x" * 250_000)
    ask = call(server, "ReceiveMessage", "large")
    before = psutil.Process(server.process.pid).memory_info().rss
    for connection in opened(server, sockets, 50):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(ask * 20)
    for _ in range(5):
        check_service(other)
        time.sleep(0.2)
    assert psutil.Process(server.process.pid).memory_info().rss - before < 200 * 2**20


def test_another_account_gets_nothing_out_of_a_queue_by_its_address(
    start: Start, connect: Connect, tenant: Tenant
) -> None:
    """I17. What it may try is what it may do to its own queue of the same name."""
    server = start()
    owner, stranger = connect(server), tenant(server)
    create(owner, "q")
    owner.call("SendMessage", "q", MessageBody="private")
    (message,) = owner.call("ReceiveMessage", "q")["Messages"]
    url, handle = owner.url("q"), message["ReceiptHandle"]
    attempts: dict[str, dict[str, object]] = {
        "ReceiveMessage": {}, "DeleteMessage": {"ReceiptHandle": handle}, "PurgeQueue": {}, "DeleteQueue": {},
        "ChangeMessageVisibility": {"ReceiptHandle": handle, "VisibilityTimeout": 0},
        "GetQueueAttributes": {"AttributeNames": ["All"]}, "SendMessage": {"MessageBody": "m"},
        "SetQueueAttributes": {"Attributes": {"Policy": ""}}, "ListDeadLetterSourceQueues": {}, "ListQueueTags": {},
    }  # fmt: skip
    for action, params in attempts.items():
        with pytest.raises(Refused):
            stranger.call(action, QueueUrl=url, **params)
    with pytest.raises(Refused):
        stranger.call("DeleteMessage", "q", ReceiptHandle=handle)
    assert stranger.call("ListQueues")["QueueUrls"] == [stranger.url("q")]
    assert counts(owner, "q") == (0, 1, 0)
