"""B8: many clients at one thing at once. Exactly the outcomes that are allowed, exactly one winner, and no 500s.

Each race is run through one real server, every contestant on a connection of its own, all let go at the same moment.
There are two contestants, or a few, or sixty-four.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterator

import pytest

from server_process import Server
from tally import count

from .audit import faults_of
from .client import Client, counts, create, dead_letters
from .run import SEED, size
from .volley import Ask, Outcome, Volley, codes

MOST = 64
CONTESTANTS = (2, 2, 4, 4, 16, MOST)
RACES = size(gate=200, night=20_000)
"""Of each of ten kinds."""
TIMED_RACES = size(gate=2, night=60)

REFUSED = "InvalidParameterValueException"
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def racing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all races. What they leave behind must be in order."""
    folder = tmp_path_factory.mktemp("races")
    settings = {"PENSTOCK_AUTH": "off", "PENSTOCK_RECREATE_WAIT_SECONDS": "0", "PENSTOCK_PURGE_WAIT_SECONDS": "0"}
    server = Server(folder, settings | {"PYTHONHASHSEED": str(SEED % 2**32)})
    server.start()
    yield server
    assert server.stop() == 0
    assert faults_of(server.data / "penstock.db", folder) == []


@pytest.fixture(scope="module")
def volley(racing: Server) -> Iterator[Volley]:
    volley = Volley(racing, MOST)
    yield volley
    volley.close()


@pytest.fixture(scope="module")
def client(racing: Server) -> Iterator[Client]:
    client = Client(racing)
    yield client
    client.close()


@pytest.fixture
def queue(client: Client) -> str:
    return create(client, f"q{next(NUMBERS)}")


@pytest.fixture
def fifo(client: Client) -> str:
    return create(client, f"q{next(NUMBERS)}.fifo")


@pytest.fixture
def races(rng: random.Random) -> Callable[..., Iterator[tuple[int, int]]]:
    """The number of each race, and of its contestants."""

    def races(number: int = RACES) -> Iterator[tuple[int, int]]:
        for race in range(number):
            yield race, rng.choice(CONTESTANTS)
            count(cycles=1)

    return races


Races = Callable[..., Iterator[tuple[int, int]]]


def sending(queue: str, body: str = "m", **params: object) -> Ask:
    return Ask("SendMessage", queue, {"MessageBody": body, **params})


def taking(queue: str, **params: object) -> Ask:
    return Ask("ReceiveMessage", queue, {"MaxNumberOfMessages": 10, **params})


def deleting(queue: str, message: dict[str, str]) -> Ask:
    return Ask("DeleteMessage", queue, {"ReceiptHandle": message["ReceiptHandle"]})


def hiding(queue: str, message: dict[str, str], seconds: int) -> Ask:
    params = {"ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": seconds}
    return Ask("ChangeMessageVisibility", queue, params)


def one(volley: Volley, ask: Ask) -> Outcome:
    """Without a race."""
    (outcome,) = volley.fire([ask])
    assert outcome.code == "ok", outcome
    return outcome


def test_one_deduplication_id_sent_by_all_is_one_message(
    volley: Volley, client: Client, fifo: str, races: Races
) -> None:
    for race, contestants in races():
        fields = {"MessageGroupId": f"g{race}", "MessageDeduplicationId": f"d{race}"}
        outcomes = volley.fire([sending(fifo, f"m{race}", **fields)] * contestants)
        assert codes(outcomes) == {"ok": contestants}
        assert len({(o.reply["MessageId"], o.reply["SequenceNumber"]) for o in outcomes}) == 1
    assert counts(client, fifo) == (RACES, 0, 0)


def test_one_deduplication_id_sent_to_several_groups_is_one_message_in_each(
    volley: Volley, client: Client, races: Races
) -> None:
    scope = {"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}
    fifo, expected = create(client, f"q{next(NUMBERS)}.fifo", **scope), 0
    for race, contestants in races():
        groups = [f"g{number % 3}" for number in range(contestants)]
        asks = [sending(fifo, MessageGroupId=group, MessageDeduplicationId=f"d{race}") for group in groups]
        outcomes = volley.fire(asks)
        assert codes(outcomes) == {"ok": contestants}
        assert len({o.reply["MessageId"] for o in outcomes}) == len(set(groups))
        expected += len(set(groups))
    assert counts(client, fifo) == (expected, 0, 0)


def test_one_handle_deleted_by_all_is_deleted_once(volley: Volley, client: Client, queue: str, races: Races) -> None:
    for race, contestants in races():
        one(volley, sending(queue))
        one(volley, sending(queue, "other"))
        message, *others = one(volley, taking(queue)).messages
        assert codes(volley.fire([deleting(queue, message)] * contestants)) == {"ok": contestants}
        if race % 10 == 0:
            assert sum(counts(client, queue)) == 1
        for other in others or one(volley, taking(queue)).messages:
            one(volley, deleting(queue, other))


def test_one_message_received_by_all_is_given_to_one(volley: Volley, queue: str, races: Races) -> None:
    for _, contestants in races():
        one(volley, sending(queue))
        outcomes = volley.fire([taking(queue)] * contestants)
        assert codes(outcomes) == {"ok": contestants}
        (taken,) = [message for outcome in outcomes for message in outcome.messages]
        one(volley, deleting(queue, taken))


def test_one_group_received_by_all_is_given_in_order(volley: Volley, fifo: str, races: Races) -> None:
    for race, contestants in races():
        entries = [
            {"Id": str(n), "MessageBody": str(n), "MessageGroupId": "g", "MessageDeduplicationId": f"{race}-{n}"}
            for n in range(5)
        ]
        one(volley, Ask("SendMessageBatch", fifo, {"Entries": entries}))
        outcomes = volley.fire([taking(fifo)] * contestants)
        assert codes(outcomes) == {"ok": contestants}
        (taken,) = [outcome.messages for outcome in outcomes if outcome.messages]
        assert [message["Body"] for message in taken] == ["0", "1", "2", "3", "4"]
        assert codes(volley.fire([deleting(fifo, message) for message in taken])) == {"ok": 5}


@pytest.mark.parametrize("name", ["queue", "fifo"])
def test_a_delete_and_an_expiring_window_have_one_winner(
    volley: Volley, client: Client, request: pytest.FixtureRequest, name: str, rng: random.Random, races: Races
) -> None:
    """Deleted, or received again and then still there: never both, never neither."""
    queue = request.getfixturevalue(name)
    for race, _ in races(TIMED_RACES):
        for number in range(8):
            group = {"MessageGroupId": f"g{number}", "MessageDeduplicationId": f"{race}-{number}"}
            one(volley, sending(queue, **(group if name == "fifo" else {})))
        messages = one(volley, taking(queue, VisibilityTimeout=1)).messages
        assert len(messages) == 8
        time.sleep(0.98 + rng.random() * 0.03)
        deletes = [deleting(queue, message) for message in messages * 2]
        outcomes = volley.fire([ask for pair in zip(deletes, [taking(queue)] * 16, strict=True) for ask in pair])
        assert codes(outcomes).keys() <= {"ok"} | ({REFUSED} if name == "fifo" else set())
        again = {message["MessageId"] for outcome in outcomes[1::2] for message in outcome.messages}
        pairs = zip(messages * 2, outcomes[::2], strict=True)
        done = {message["MessageId"] for message, outcome in pairs if outcome.code == "ok"}
        left = sum(counts(client, queue))
        if name == "fifo":  # a late delete is refused
            assert not again & done
            assert left == len(messages) - len(done)
        else:  # a late delete counts, unless the message was delivered again
            assert left == len(again)
        client.call("PurgeQueue", queue)


@pytest.mark.parametrize("seconds", [0, 20])
def test_a_change_of_visibility_and_a_delete_leave_the_message_deleted(
    volley: Volley, client: Client, queue: str, races: Races, rng: random.Random, seconds: int
) -> None:
    for _, contestants in races():
        one(volley, sending(queue))
        (message,) = one(volley, taking(queue)).messages
        asks, place = [hiding(queue, message, seconds)] * (contestants - 1), rng.randrange(contestants)
        asks.insert(place, deleting(queue, message))
        outcomes = volley.fire(asks)
        assert outcomes.pop(place).code == "ok"
        assert codes(outcomes).keys() <= {"ok", REFUSED, "MessageNotInflight"}
    assert counts(client, queue) == (0, 0, 0)


def test_a_purge_leaves_only_what_was_sent_beside_it(
    volley: Volley, client: Client, queue: str, races: Races, rng: random.Random
) -> None:
    for race, contestants in races():
        entries = [{"Id": str(n), "MessageBody": "before"} for n in range(6)]
        one(volley, Ask("SendMessageBatch", queue, {"Entries": entries}))
        one(volley, taking(queue, MaxNumberOfMessages=3))
        asks = [sending(queue, f"beside {race}")] * (contestants - 1)
        asks.insert(rng.randrange(contestants), Ask("PurgeQueue", queue))
        assert codes(volley.fire(asks)) == {"ok": contestants}
        left = sum(counts(client, queue))
        assert left < contestants
        found = []
        while messages := one(volley, taking(queue)).messages:
            found += [message["Body"] for message in messages]
        assert len(found) == left
        assert set(found) <= {f"beside {race}"}
        client.call("PurgeQueue", queue)


def test_a_deleted_queue_takes_nothing_and_a_new_one_starts_empty(
    volley: Volley, client: Client, races: Races, rng: random.Random
) -> None:
    for race, contestants in races():
        queue = create(client, f"going-{race}")
        one(volley, sending(queue))
        asks = [rng.choice((sending(queue), taking(queue, WaitTimeSeconds=2))) for _ in range(contestants - 1)]
        place = rng.randrange(contestants)
        asks.insert(place, Ask("DeleteQueue", queue))
        outcomes = volley.fire(asks)
        assert outcomes[place].code == "ok"
        assert codes(outcomes).keys() <= {"ok", "QueueDoesNotExist"}
        create(client, queue)
        assert counts(client, queue) == (0, 0, 0)
        client.call("DeleteQueue", queue)


def test_one_queue_created_by_all_is_one_queue(volley: Volley, client: Client, races: Races) -> None:
    for race, contestants in races():
        outcomes = volley.fire([Ask("CreateQueue", params={"QueueName": f"new-{race}"})] * contestants)
        assert codes(outcomes) == {"ok": contestants}
    listed, token = [], {}
    while page := client.call("ListQueues", QueueNamePrefix="new-", MaxResults=1000, **token):
        listed += page["QueueUrls"]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert len(listed) == len(set(listed)) == RACES


def test_one_message_and_many_waiters_are_one_delivery(
    volley: Volley, client: Client, queue: str, races: Races, rng: random.Random
) -> None:
    """Some wait already, the message comes, some arrive with it: one gets it, and the others wait on."""
    for _, contestants in races(RACES // 40):
        asks = [taking(queue, WaitTimeSeconds=1)] * (contestants - 1)
        asks.insert(rng.randrange(contestants), sending(queue))
        outcomes = volley.fire(asks)
        assert codes(outcomes) == {"ok": contestants}
        (taken,) = [message for outcome in outcomes for message in outcome.messages]
        one(volley, deleting(queue, taken))


def test_a_long_poll_does_not_sleep_beside_ready_messages(volley: Volley, client: Client, queue: str) -> None:
    """Though it first has to bury more than it buries at once."""
    create(client, "graveyard")
    client.call("SetQueueAttributes", queue, Attributes={"RedrivePolicy": dead_letters("graveyard", 1)})
    for _ in range(15):
        client.call("SendMessageBatch", queue, Entries=[{"Id": str(n), "MessageBody": "dead"} for n in range(10)])
    while one(volley, taking(queue, VisibilityTimeout=1)).messages:
        pass
    time.sleep(1.2)
    one(volley, sending(queue, "alive"))
    began = time.monotonic()
    assert [message["Body"] for message in one(volley, taking(queue, WaitTimeSeconds=10)).messages] == ["alive"]
    assert time.monotonic() - began < 2
    assert counts(client, "graveyard")[0] == 150
