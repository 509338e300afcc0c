"""Many clients at one thing at once: exactly the outcomes that are allowed, exactly one winner, and no 500s.

Each race is run through one real server, every client on a connection of its own, all let go at the same moment.
"""

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from server_process import Server

from .audit import faults_of
from .client import Client, Refused, Unknown, counts, create, dead_letters
from .run import size
from .together import at_once

CLIENTS = 32
RACES = size(gate=8, night=200)

REFUSED = "InvalidParameterValueException"
NUMBERS = itertools.count()

Reply = dict[str, Any]
Calls = list[Callable[[], object]]


@pytest.fixture(scope="module")
def racing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all races. What they leave behind must be in order."""
    folder = tmp_path_factory.mktemp("races")
    settings = {"PENSTOCK_AUTH": "off", "PENSTOCK_RECREATE_WAIT_SECONDS": "0", "PENSTOCK_PURGE_WAIT_SECONDS": "0"}
    server = Server(folder, settings)
    server.start()
    yield server
    assert server.stop() == 0
    assert faults_of(server.data / "penstock.db", folder) == []


@pytest.fixture(scope="module")
def clients(racing: Server) -> Iterator[list[Client]]:
    clients = [Client(racing) for _ in range(CLIENTS)]
    yield clients
    for client in clients:
        client.close()


@pytest.fixture
def queue(clients: list[Client]) -> str:
    return create(clients[0], f"q{next(NUMBERS)}")


@pytest.fixture
def fifo(clients: list[Client]) -> str:
    return create(clients[0], f"q{next(NUMBERS)}.fifo")


def codes(answers: list[object]) -> Counter[str]:
    """How often each outcome came; a reply is "ok"."""
    assert not [answer for answer in answers if isinstance(answer, Unknown)], "the server failed"
    return Counter(answer.code if isinstance(answer, Refused) else "ok" for answer in answers)


def send(client: Client, queue: str, body: str = "m", **params: Any) -> Reply:
    return client.call("SendMessage", queue, MessageBody=body, **params)


def take(client: Client, queue: str, **params: Any) -> list[Reply]:
    messages: list[Reply] = client.call("ReceiveMessage", queue, MaxNumberOfMessages=10, **params).get("Messages", [])
    return messages


def delete(client: Client, queue: str, message: Reply) -> Reply:
    return client.call("DeleteMessage", queue, ReceiptHandle=message["ReceiptHandle"])


def hide(client: Client, queue: str, message: Reply, seconds: int) -> Reply:
    handle = message["ReceiptHandle"]
    return client.call("ChangeMessageVisibility", queue, ReceiptHandle=handle, VisibilityTimeout=seconds)


def test_one_deduplication_id_sent_by_all_is_one_message(clients: list[Client], fifo: str) -> None:
    for race in range(RACES):
        fields = {"MessageGroupId": "g", "MessageDeduplicationId": f"d{race}"}
        answers = at_once([partial(send, c, fifo, f"m{race}", **fields) for c in clients])
        assert codes(answers) == {"ok": CLIENTS}
        assert len({(a["MessageId"], a["SequenceNumber"]) for a in answers if isinstance(a, dict)}) == 1
    assert counts(clients[0], fifo) == (RACES, 0, 0)


def test_one_handle_deleted_by_all_is_deleted_once(clients: list[Client], queue: str) -> None:
    for _ in range(RACES):
        send(clients[0], queue)
        send(clients[0], queue, "other")
        (message, *_) = take(clients[0], queue)
        assert codes(at_once([partial(delete, c, queue, message) for c in clients])) == {"ok": CLIENTS}
        assert sum(counts(clients[0], queue)) == 1
        clients[0].call("PurgeQueue", queue)


def test_one_message_received_by_all_is_given_to_one(clients: list[Client], queue: str) -> None:
    for _ in range(RACES):
        send(clients[0], queue)
        answers = at_once([partial(take, c, queue) for c in clients])
        assert codes(answers) == {"ok": CLIENTS}
        taken = [message for answer in answers if isinstance(answer, list) for message in answer]
        assert len(taken) == 1
        delete(clients[0], queue, taken[0])


def test_one_group_received_by_all_is_given_in_order(clients: list[Client], fifo: str) -> None:
    for race in range(RACES):
        for number in range(5):
            send(clients[0], fifo, str(number), MessageGroupId="g", MessageDeduplicationId=f"{race}-{number}")
        answers = at_once([partial(take, c, fifo) for c in clients])
        assert codes(answers) == {"ok": CLIENTS}
        (taken,) = [answer for answer in answers if isinstance(answer, list) and answer]
        assert [message["Body"] for message in taken] == ["0", "1", "2", "3", "4"]
        for message in taken:
            delete(clients[0], fifo, message)


@pytest.mark.parametrize("name", ["queue", "fifo"])
def test_a_delete_and_an_expiring_window_have_one_winner(
    clients: list[Client], request: pytest.FixtureRequest, name: str, rng: random.Random
) -> None:
    """Deleted, or received again and then still there: never both, never neither."""
    queue = request.getfixturevalue(name)
    for race in range(size(gate=2, night=60)):
        for number in range(8):
            group = {"MessageGroupId": f"g{number}", "MessageDeduplicationId": f"{race}-{number}"}
            send(clients[0], queue, **(group if name == "fifo" else {}))
        messages = take(clients[0], queue, VisibilityTimeout=1)
        assert len(messages) == 8
        time.sleep(0.98 + rng.random() * 0.03)
        calls: Calls = [partial(delete, c, queue, m) for c, m in zip(clients, messages * 2, strict=False)]
        answers = at_once(calls + [partial(take, c, queue) for c in clients[16:]])
        assert codes(answers).keys() <= {"ok"} | ({REFUSED} if name == "fifo" else set())
        again = {m["MessageId"] for answer in answers if isinstance(answer, list) for m in answer}
        done = {m["MessageId"] for m, answer in zip(messages * 2, answers, strict=False) if answer == {}}
        left = sum(counts(clients[0], queue))
        if name == "fifo":  # a late delete is refused
            assert not again & done
            assert left == len(messages) - len(done)
        else:  # a late delete counts, unless the message was delivered again
            assert left == len(again)
        clients[0].call("PurgeQueue", queue)


@pytest.mark.parametrize("seconds", [0, 20])
def test_a_change_of_visibility_and_a_delete_leave_the_message_deleted(
    clients: list[Client], queue: str, seconds: int
) -> None:
    for _ in range(RACES):
        send(clients[0], queue)
        (message,) = take(clients[0], queue)
        calls: Calls = [partial(delete, clients[0], queue, message)]
        answers = at_once(calls + [partial(hide, c, queue, message, seconds) for c in clients[1:]])
        assert codes(answers[:1]) == {"ok": 1}
        assert codes(answers[1:]).keys() <= {"ok", REFUSED, "MessageNotInflight"}
        assert counts(clients[0], queue) == (0, 0, 0)


def test_a_purge_leaves_only_what_was_sent_beside_it(clients: list[Client], queue: str) -> None:
    for race in range(RACES):
        for _ in range(6):
            send(clients[0], queue, "before")
        clients[0].call("ReceiveMessage", queue, MaxNumberOfMessages=3)
        calls: Calls = [partial(clients[0].call, "PurgeQueue", queue)]
        calls += [partial(send, c, queue, f"beside {race}") for c in clients[1:]]
        assert codes(at_once(calls)) == {"ok": CLIENTS}
        left = sum(counts(clients[0], queue))
        assert left < CLIENTS
        found = []
        while messages := take(clients[0], queue):
            found += [message["Body"] for message in messages]
        assert len(found) == left
        assert set(found) <= {f"beside {race}"}
        clients[0].call("PurgeQueue", queue)


def test_a_deleted_queue_takes_nothing_and_a_new_one_starts_empty(clients: list[Client], racing: Server) -> None:
    for race in range(RACES):
        queue = create(clients[0], f"going-{race}")
        send(clients[0], queue)
        calls: Calls = [partial(clients[0].call, "DeleteQueue", queue)]
        calls += [partial(send, c, queue) for c in clients[1:16]]
        calls += [partial(take, c, queue, WaitTimeSeconds=2) for c in clients[16:]]
        answers = at_once(calls)
        assert codes(answers[:1]) == {"ok": 1}
        assert codes(answers).keys() <= {"ok", "QueueDoesNotExist"}
        create(clients[0], queue)
        assert counts(clients[0], queue) == (0, 0, 0)


def test_one_queue_created_by_all_is_one_queue(clients: list[Client]) -> None:
    for race in range(RACES):
        answers = at_once([partial(c.call, "CreateQueue", QueueName=f"new-{race}") for c in clients])
        assert codes(answers) == {"ok": CLIENTS}
    listed = clients[0].call("ListQueues", QueueNamePrefix="new-", MaxResults=1000)["QueueUrls"]
    assert len(listed) == len(set(listed)) == RACES


def test_a_long_poll_does_not_sleep_beside_ready_messages(clients: list[Client], queue: str) -> None:
    """Though it first has to bury more than it buries at once."""
    client = clients[0]
    create(client, "graveyard")
    client.call("SetQueueAttributes", queue, Attributes={"RedrivePolicy": dead_letters("graveyard", 1)})
    for _ in range(15):
        client.call("SendMessageBatch", queue, Entries=[{"Id": str(n), "MessageBody": "dead"} for n in range(10)])
    while take(client, queue, VisibilityTimeout=1):
        pass
    time.sleep(1.2)
    send(client, queue, "alive")
    began = time.monotonic()
    assert [message["Body"] for message in take(client, queue, WaitTimeSeconds=10)] == ["alive"]
    assert time.monotonic() - began < 2
    assert counts(client, "graveyard")[0] == 150
