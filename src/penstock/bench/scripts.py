"""What one connection does, step by step. A script yields (where to note the latency, request) and gets the reply.

Scripts stop when the client is `over`, each at the end of what it has begun. None waits for ever for a message that a
server has lost.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from penstock.bench.client import Client
from penstock.bench.connection import PAUSE, Script
from penstock.bench.ledger import GroupLedger, Ledger
from penstock.bench.target import BenchError
from penstock.bench.wire import Acknowledged, Received

BATCH = 10
WAIT_SECONDS = 5
PARKED_SECONDS = 20
PARKING_SECONDS, SPREAD_SECONDS = 0.004, 0.1
"""A receiver has been parked for the first at least and the sum of both at most, spread evenly: some servers look for
messages ten times a second, and a fixed time would always meet the same moment between two looks."""
MESSAGES_PER_GROUP = 3
"""So many wait in each group, or there would be no order to confuse."""
GOLDEN = 0.6180339887
LONGEST_VISIBILITY_SECONDS = 12 * 3600


class Queue:
    """The requests to one queue, each made ready when it is first used."""

    def __init__(self, client: Client, url: str) -> None:
        self.url = url
        self._client = client

    @cached_property
    def send(self) -> Callable[[bytes], bytes]:
        return self._client.template("SendMessage", self._client.wire.send(self.url)).request

    @cached_property
    def delete(self) -> Callable[[bytes], bytes]:
        return self._client.template("DeleteMessage", self._client.wire.delete(self.url)).request

    @cached_property
    def send_batch(self) -> Callable[[bytes], bytes]:
        return self._client.template("SendMessageBatch", self._client.wire.send_batch(self.url)).request

    @cached_property
    def delete_batch(self) -> Callable[[bytes], bytes]:
        return self._client.template("DeleteMessageBatch", self._client.wire.delete_batch(self.url)).request

    @cached_property
    def receive(self) -> Callable[[], bytes]:
        return self.receiving()

    def receiving(self, most: int = 1, wait: int = WAIT_SECONDS, visibility: int | None = None) -> Callable[[], bytes]:
        hidden = {} if visibility is None else {"VisibilityTimeout": visibility}
        return self._client.prepared(
            "ReceiveMessage", QueueUrl=self.url, MaxNumberOfMessages=most, WaitTimeSeconds=wait, **hidden
        ).constant


def cycle(client: Client, ledger: Ledger, queues: Sequence[Queue], first: int = 0) -> Script:
    """Send, receive, delete: one message a call, the queues in turn."""
    wire, sends, deletes = client.wire, client.latencies("SendMessage"), client.latencies("DeleteMessage")
    receives = client.latencies("ReceiveMessage")
    turn = first
    while not client.over:
        queue = queues[turn % len(queues)]
        turn += 1
        number, body = ledger.next_body()
        _check(wire.acknowledged((yield sends, queue.send(body))), ledger, number)
        while not (messages := wire.received((yield receives, queue.receive()))):
            ledger.empty += 1
            if client.over:
                return
        for message in messages:
            number = ledger.receive(message.body)
            yield deletes, queue.delete(wire.handle(message.handle))
            ledger.delete(number)


def cycle_in_batches(client: Client, ledger: Ledger, queue: Queue) -> Script:
    """The same with ten messages a call."""
    wire = client.wire
    sends, deletes = client.latencies("SendMessageBatch"), client.latencies("DeleteMessageBatch")
    receives, receive = client.latencies("ReceiveMessage"), queue.receiving(BATCH)
    while not client.over:
        numbers, bodies = _next_bodies(ledger)
        _check_batch(
            wire.acknowledged_batch((yield sends, queue.send_batch(wire.send_entries(bodies)))), ledger, numbers
        )
        left = BATCH
        while left > 0:
            messages = wire.received((yield receives, receive()))
            if messages:
                left -= len(messages)
                received = _received(messages, ledger)
                handles = wire.delete_entries(message.handle for message in messages)
                _deleted(wire.settled((yield deletes, queue.delete_batch(handles))), received, ledger)
            else:
                ledger.empty += 1
                if client.over:
                    return


def fill(client: Client, ledger: Ledger, queue: Queue, until: int) -> Script:
    """Send in batches until the ledger has `until` messages; any number of connections may share the work."""
    wire, sends = client.wire, client.latencies("SendMessageBatch")
    while (missing := until - ledger.sent) > 0:
        numbers, bodies = _next_bodies(ledger, min(BATCH, missing))
        _check_batch(
            wire.acknowledged_batch((yield sends, queue.send_batch(wire.send_entries(bodies)))), ledger, numbers
        )


def hold(client: Client, ledger: Ledger, queue: Queue, until: int) -> Script:
    """Receive, and neither delete nor give back, until so many messages are in flight."""
    receive = queue.receiving(BATCH, 1, LONGEST_VISIBILITY_SECONDS)
    receives = client.latencies("ReceiveMessage")
    while ledger.received - ledger.deleted < until:
        messages = client.wire.received((yield receives, receive()))
        if not messages:
            return
        _received(messages, ledger)


def drain(client: Client, ledger: Ledger, queues: Iterator[Queue], wait: int) -> Script:
    """Receive and delete what a run has left behind, until all is found or each queue says twice that it is empty."""
    wire = client.wire
    receives, deletes = client.latencies("ReceiveMessage"), client.latencies("DeleteMessageBatch")
    for queue in queues:
        receive, empty = queue.receiving(BATCH, wait), 0
        while empty < 2 and ledger.outstanding:
            messages = wire.received((yield receives, receive()))
            empty = 0 if messages else empty + 1
            if messages:
                received = []
                for message in messages:  # one reply may hold several of one group
                    received.append(ledger.receive(message.body))
                    ledger.release(received[-1])
                handles = wire.delete_entries(message.handle for message in messages)
                _deleted(wire.settled((yield deletes, queue.delete_batch(handles))), received, ledger)


def fill_groups(client: Client, ledger: GroupLedger, queue: Queue, groups: Sequence[int]) -> Script:
    """Put some messages into each group, before the cycles."""
    sends = client.latencies("SendMessage")
    for group in [*groups] * MESSAGES_PER_GROUP:
        number, request = _next_of(client, ledger, queue, group)
        _check(client.wire.acknowledged((yield sends, request)), ledger, number)


def cycle_in_groups(client: Client, ledger: GroupLedger, queue: Queue, groups: Sequence[int]) -> Script:
    """FIFO. A message is held while the next is sent, so that a broken group lock has time to show itself."""
    wire, sends, deletes = client.wire, client.latencies("SendMessage"), client.latencies("DeleteMessage")
    receives, turn = client.latencies("ReceiveMessage"), 0
    while not client.over:
        messages = wire.received((yield receives, queue.receive()))
        if not messages:
            ledger.empty += 1
            continue
        numbers = [ledger.receive(message.body) for message in messages]
        number, request = _next_of(client, ledger, queue, groups[turn % len(groups)])
        turn += 1
        _check(wire.acknowledged((yield sends, request)), ledger, number)
        for number, message in zip(numbers, messages, strict=True):
            ledger.release(number)
            yield deletes, queue.delete(wire.handle(message.handle))
            ledger.delete(number)


def _next_of(client: Client, ledger: GroupLedger, queue: Queue, group: int) -> tuple[int, bytes]:
    number, body = ledger.next_body_of(group)
    deduplication = b"%b-%d" % (ledger.run.encode(), number)
    return number, queue.send(client.wire.in_group(body, b"group-%d" % group, deduplication))


class Bell:
    """What the sender and the parked receiver of one queue know of each other."""

    def __init__(self) -> None:
        self.parked = False
        self.last = -1
        self.rung = 0.0


def ring(client: Client, ledger: Ledger, queue: Queue, bell: Bell, clock: Callable[[], float], first: int) -> Script:
    """Send one message whenever the receiver has been parked for a while. Senders that begin with another turn do not
    send at the same time."""
    sends = client.latencies("SendMessage")
    turn = first
    while bell.last < 0:
        turn += 1
        yield PAUSE, PARKING_SECONDS + SPREAD_SECONDS * (turn * GOLDEN % 1)
        if not bell.parked:
            continue
        bell.parked = False
        number, body = ledger.next_body()
        if client.over:
            bell.last = number
        request = queue.send(body)
        bell.rung = clock()
        _check(client.wire.acknowledged((yield sends, request)), ledger, number)


def park(client: Client, ledger: Ledger, queue: Queue, bell: Bell, clock: Callable[[], float]) -> Script:
    """Wait for that message, note how long it took from the send to this reply, delete it."""
    wire, delay = client.wire, client.latencies("send to reply")
    receives, deletes = client.latencies("ReceiveMessage"), client.latencies("DeleteMessage")
    receive, number = queue.receiving(1, PARKED_SECONDS), -2
    while number != bell.last:
        bell.parked = True
        messages = wire.received((yield receives, receive()))
        arrived = clock()
        for message in messages:
            delay.append(arrived - bell.rung)
            number = ledger.receive(message.body)
            yield deletes, queue.delete(wire.handle(message.handle))
            ledger.delete(number)
        if not messages:
            ledger.empty += 1
            if client.over:
                bell.last = 0  # the message is lost; the sender need not go on
                return


def _check(answer: Acknowledged, ledger: Ledger, number: int) -> None:
    if not answer.message_id:
        raise BenchError("a send was answered without a MessageId")
    if answer.md5 != ledger.md5_of(number):
        raise BenchError(f"a send was answered with a wrong MD5 of its body: {answer.md5 or 'none'}")
    ledger.acknowledge(number)


def _check_batch(answers: Sequence[Acknowledged], ledger: Ledger, numbers: Sequence[int]) -> None:
    if len(answers) != len(numbers):
        raise BenchError(f"a batch of {len(numbers)} was answered with {len(answers)} results")
    for answer in answers:
        _check(answer, ledger, numbers[int(answer.entry)])


def _next_bodies(ledger: Ledger, count: int = BATCH) -> tuple[Sequence[int], Sequence[bytes]]:
    numbers, bodies = zip(*(ledger.next_body() for _ in range(count)), strict=True)
    return numbers, bodies


def _received(messages: Sequence[Received], ledger: Ledger) -> list[int]:
    return [ledger.receive(message.body) for message in messages]


def _deleted(settled: int, numbers: Sequence[int], ledger: Ledger) -> None:
    if settled != len(numbers):
        raise BenchError(f"a batch of {len(numbers)} deletes was answered with {settled} results")
    for number in numbers:
        ledger.delete(number)
