"""B13: requests that nobody should send, over both protocols and below them: never a 5xx, no hang, no growth, no trace.

Grammar-aware ones are sent one behind the other on connections that stay open; garbled bytes each on a connection of
their own. The server must answer every one, or hang up, within five seconds.
"""

import random
from collections import Counter
from collections.abc import Callable

import psutil
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from server_process import Server
from tally import count

from .client import ACCOUNT, Client, arn, create
from .grammar import Grammar
from .raw import Answer, Raw, Silence, request
from .run import size

GRAMMATICAL = size(gate=16_000, night=2_000_000)
GARBLED = size(gate=3_000, night=200_000)
SIGNED = size(gate=1_000, night=50_000)
REFUSED = size(gate=500, night=20_000)
BEHIND_EACH_OTHER = 16
BETWEEN_PURGES = 1000
MEGABYTE = 2**20
SETTINGS = {
    "PENSTOCK_AUTH": "off",
    "PENSTOCK_MAX_RECEIVE_MESSAGE_WAIT_TIME_SECONDS": "0",
    "PENSTOCK_RECREATE_WAIT_SECONDS": "0",
    "PENSTOCK_PURGE_WAIT_SECONDS": "0",
    "PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS": "10000",
}
QUEUES = "q", "q.fifo", "dead"
WAITING = b"WaitTimeSeconds"
"""A client hangs up behind requests that may wait, and what such a one waits for need not be answered."""


class Target:
    """A server with some queues that are made again and again, and what it must not do."""

    def __init__(self, server: Server, client: Client, rng: random.Random) -> None:
        self.server, self._client = server, client
        self.host = server.url.removeprefix("http://")
        self.prepare()
        client.call("SendMessage", "q", MessageBody="m")
        handle = client.call("ReceiveMessage", "q")["Messages"][0]["ReceiptHandle"]
        urls = [client.url(queue) for queue in QUEUES]
        arns = [arn(queue) for queue in QUEUES]
        self.grammar = Grammar(
            rng,
            {
                "QueueUrl": urls, "ReceiptHandle": [handle], "QueueName": [*QUEUES, "new"], "SourceArn": arns,
                "DestinationArn": arns, "AWSAccountIds": [[ACCOUNT]], "AttributeNames": [["All"]],
                "Attributes value": ["1", "30", "true", f'{{"deadLetterTargetArn":"{arns[2]}","maxReceiveCount":3}}'],
            },
        )  # fmt: skip

    def prepare(self) -> None:
        for queue in QUEUES:
            self._client.call("DeleteQueue", queue) if queue in self._listed() else None
            create(self._client, queue)

    def _listed(self) -> set[str]:
        urls = self._client.call("ListQueues", MaxResults=1000).get("QueueUrls", [])
        return {url.rpartition("/")[2] for url in urls}

    def resident(self) -> int:
        return psutil.Process(self.server.process.pid).memory_info().rss

    def grammatical(self, rng: random.Random) -> bytes:
        service, operation = self.grammar.operation()
        params = self.grammar.request(service, operation)
        if rng.random() < 0.5:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return request(self.host, headers, self.grammar.form(service, operation, params))
        body = self.grammar.json(self.grammar.spoiled(params))
        if rng.random() < 0.1:
            body = self.grammar.garbled(body)
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"{service.target_prefix}.{operation}"}
        return request(self.host, headers, body)


@pytest.fixture
def target(start: Callable[..., Server], connect: Callable[[Server], Client], rng: random.Random) -> Target:
    server = start(**SETTINGS)
    return Target(server, connect(server), rng)


def check(answer: Answer | None, sent: bytes) -> None:
    assert answer is None or answer.status < 500, f"{answer} to {sent!r}"
    assert answer is None or b"Traceback" not in answer.body, f"{answer} to {sent!r}"


def check_server(server: Server) -> None:
    assert server.process.poll() is None, "it is gone"
    said = (server.folder / "stderr").read_text() + (server.folder / "stdout").read_text()
    assert "Traceback" not in said, said[said.rindex("\n", 0, said.index("Traceback")) :][:3000]


def exchange(target: Target, requests: list[bytes], statuses: Counter[int]) -> int:
    """Send them behind each other; how many were answered before the server had enough of this client."""
    with Raw(target.server) as wire:
        wire.send(sending := b"".join(requests))
        if WAITING in sending:
            wire.hang_up_sending()
        for number, sent in enumerate(requests):
            try:
                answer = wire.answer()
            except Silence as silence:
                raise AssertionError(f"{silence} to {sent!r}") from None
            check(answer, sent)
            assert answer is not None or number or WAITING in sent, f"it hung up on {sent!r}"
            statuses[answer.status if answer else 0] += 1
            if answer is None or answer.closes:
                return number + 1
    return len(requests)


def test_no_request_of_either_protocol_is_answered_with_a_failure(target: Target, rng: random.Random) -> None:
    sent, waiting, statuses = 0, list[bytes](), Counter[int]()
    while sent < GRAMMATICAL:
        waiting += [target.grammatical(rng) for _ in range(BEHIND_EACH_OTHER - len(waiting))]
        answered = exchange(target, waiting, statuses)
        sent, waiting = sent + answered, waiting[answered:]
        count(requests=answered, cycles=answered)
        if sent % BETWEEN_PURGES < answered:
            target.prepare()
    check_server(target.server)
    assert statuses[200] > sent // 20, f"too little gets far enough to do harm: {statuses}"


def test_requests_that_are_refused_leave_nothing_behind(target: Target, rng: random.Random) -> None:
    """The same again and again. Those that store something may fill the cache of the database, and are left out."""
    refused: list[bytes] = []
    while len(refused) < REFUSED:
        asked, statuses = target.grammatical(rng), Counter[int]()
        exchange(target, [asked], statuses)
        if 400 <= max(statuses) < 500:
            refused.append(asked)

    def again(times: int) -> int:
        for _ in range(times):
            for place in range(0, REFUSED, BEHIND_EACH_OTHER):
                waiting = refused[place : place + BEHIND_EACH_OTHER]
                while waiting:
                    waiting = waiting[exchange(target, waiting, statuses) :]
            count(requests=REFUSED, cycles=REFUSED)
        return target.resident()

    before = again(4)
    grown = again(4) - before
    assert grown < max(0.05 * before, 8 * MEGABYTE), f"it grew by {grown / MEGABYTE:.1f} MB"


def answers_to(wire: Raw, sent: bytes) -> list[Answer]:
    wire.send(sent)
    wire.hang_up_sending()
    try:
        answers = wire.answers()
    except Silence as silence:
        raise AssertionError(f"{silence} to {sent!r}") from None
    for answer in answers:
        check(answer, sent)
    count(requests=1, cycles=1)
    return answers


def test_no_bytes_are_answered_with_a_failure(target: Target, rng: random.Random) -> None:
    for _ in range(GARBLED):
        with Raw(target.server) as wire:
            answers_to(wire, target.grammar.garbled(target.grammatical(rng)))
    check_server(target.server)


def test_no_garbled_signature_is_answered_with_a_failure(start: Callable[..., Server], rng: random.Random) -> None:
    """From many addresses: one that fails too often is not listened to."""
    server = start(PENSTOCK_AUTH="on")
    good, grammar, statuses = signed(server), Grammar(rng, {}), Counter[int]()
    head, _, body = good.partition(b"\r\n\r\n")
    for number in range(SIGNED):
        with Raw(server, source=f"127.0.1.{1 + number % 250}") as wire:
            sent = good if number < 2 else grammar.garbled(head) + b"\r\n\r\n" + body
            statuses.update(answer.status for answer in answers_to(wire, sent))
    check_server(server)
    assert statuses[200] >= 2
    assert statuses[403] > SIGNED // 20


def signed(server: Server) -> bytes:
    headers = {"Host": server.url.removeprefix("http://"), "Content-Type": "application/x-amz-json-1.0"}
    headers["X-Amz-Target"] = "AmazonSQS.ListQueues"
    asked = AWSRequest("POST", f"{server.url}/", headers, b"{}")
    SigV4Auth(Credentials(server.access_key, server.secret_key), "sqs", server.region).add_auth(asked)
    return request(headers["Host"], {k: v for k, v in asked.headers.items() if k != "Host"}, b"{}")
