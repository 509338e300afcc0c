"""Requests that nobody should send, well signed, on connections that native code reads: each is answered as Python
answers it, and none with a failure."""

import random
from typing import Any

import pytest

from faults.grammar import SERVICES, Grammar
from faults.run import chance, size
from penstock.api.express import SERVED
from penstock.core.limits import Limits

from .conftest import Start
from .lane import Line, Reply, Site, harmless, told

REQUESTS = size(gate=2_000, night=200_000)
QUEUES: dict[str, dict[str, str]] = {"q": {}, "q.fifo": {"FifoQueue": "true", "ContentBasedDeduplication": "true"}}
HANDLE = "@handle@"
(SQS,) = [service for service in SERVICES if service.name == "sqs"]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    return chance(request.node.name)


class Asked:
    """A server that is asked the same as another, each with its own URLs and its own handle."""

    def __init__(self, site: Site) -> None:
        self.site, self.natively = site, 0
        self._line: Line | None = None
        self.names: dict[bytes, bytes] = {}

    async def prepare(self) -> None:
        for queue in QUEUES:
            self.names[_url(queue).encode()] = (await self.site.create(queue, **QUEUES[queue])).encode()
        await self.site.stock("q", "m")
        line = await self.site.line()
        given = await line.ask("ReceiveMessage", {"QueueUrl": self.site.url("q"), "VisibilityTimeout": 3600})
        self.names[HANDLE.encode()] = given.json["Messages"][0]["ReceiptHandle"].encode()

    async def ask(self, action: str, body: bytes) -> Reply:
        for name, own in self.names.items():
            body = body.replace(name, own)
        if self._line is None:
            self._line = await self.site.line()
        if not self.site.lent:
            await self._line.warm(action)
        before = self.site.answered
        reply = await self._line.ask(action, body)
        self.natively += self.site.answered - before
        if reply.headers.get("connection") == "close":
            self._line = None
        return reply


def _url(queue: str) -> str:
    return f"@{queue}@"


def spoilt(grammar: Grammar, rng: random.Random) -> tuple[str, bytes]:
    """Plain, or nearly so, or anything."""
    action = rng.choice(list(SERVED))
    asked: dict[str, Any] = harmless(_url(rng.choice(list(QUEUES))), HANDLE)[action]
    if rng.random() < 0.3:
        asked = grammar.request(SQS, action)
    body = grammar.json(grammar.spoiled(asked) if rng.random() < 0.3 else asked)
    return action, grammar.garbled(body) if rng.random() < 0.2 else body


async def test_native_code_answers_what_it_answers_as_python_does(start: Start, rng: random.Random) -> None:
    limits = Limits(max_receive_message_wait_time_seconds=0)
    both = [Asked(await start(name, native=name == "native", limits=limits)) for name in ("native", "python")]
    for each in both:
        await each.prepare()
    grammar = Grammar(rng, {"QueueUrl": [_url(queue) for queue in QUEUES], "ReceiptHandle": [HANDLE]})
    for _ in range(REQUESTS):
        action, body = spoilt(grammar, rng)
        ours, theirs = [await each.ask(action, body) for each in both]
        assert ours.status < 500, (ours, action, body)
        assert (ours.status, ours.error) == (theirs.status, theirs.error), (action, body)
        if ours.error:
            hosts = [each.site.host for each in both]
            assert told(ours, *hosts) == told(theirs, *hosts), (action, body)
    native, python = both
    assert native.natively > REQUESTS // 5, "native code had too little to do"
    assert len(await native.site.peek("q")) == len(await python.site.peek("q"))
