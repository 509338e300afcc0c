"""The world of these tests: the server's own parts joined as `penstock.app` joins them, in this process, with a clock
that moves when told to. Requests are signed by botocore at the time of that clock, so the whole pipeline is under test.

Background loops are run by hand: `tend` is what the sweeper does, `move` what the mover does.
"""

import asyncio
import itertools
import json
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock import registry
from penstock.api.access import Access
from penstock.api.addresses import Addresses
from penstock.api.authorise import authorise
from penstock.api.call import Call, Site
from penstock.api.gateway import Gateway
from penstock.api.identities import Identities, Key
from penstock.api.waiting import WaitingRoom
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.core.clock import ManualClock
from penstock.core.identity import Principal, root_of
from penstock.core.keyring import Keyring
from penstock.core.store import Store
from penstock.core.vault import KEY_BYTES, Vault
from penstock.loops.mover import Mover

from .clients import PROTOCOLS, Answer, Client, Headers, QueryClient, Reply
from .refusals import REFUSALS

ACCOUNT, OTHER_ACCOUNT = "111122223333", "444455556666"
REGION, OTHER_REGION = "us-east-1", "eu-west-1"
HOST = "queue.test:9324"
ROOT, STRANGER, USER, ROLE = "AKIAROOT", "AKIASTRANGER", "AKIAUSER", "AKIAROLE"
KEYS = {
    ROOT: Key("root's secret", root_of(ACCOUNT)),
    STRANGER: Key("stranger's secret", root_of(OTHER_ACCOUNT)),
    USER: Key("user's secret", Principal(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/ann", "AIDAEXAMPLEOFAUSER12")),
    ROLE: Key("role's secret", Principal(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s", "AROAEXAMPLE:session")),
}
SOON = 1.2
"""Real seconds within which what is not supposed to wait must have come."""


def row(*numbers: int, differs: bool = False) -> pytest.MarkDecorator:
    """The case shows these rows of the specification; with `differs`, as docs/explain/differences.md has them."""
    return pytest.mark.row(*numbers, differs=differs)


class Signer(SigV4Auth):
    """As botocore signs, but by our clock."""

    def __init__(self, access_key: str, secret: str, region: str, clock: ManualClock, service: str = "sqs") -> None:
        super().__init__(Credentials(access_key, secret), service, region)
        self._clock = clock

    def add_auth(self, request: AWSRequest) -> None:
        request.context["timestamp"] = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._clock.now() // 1000))
        self._modify_request_before_signing(request)
        to_sign = self.string_to_sign(request, self.canonical_request(request))
        self._inject_signature_to_request(request, self.signature(to_sign, request))


class Presigner(Signer, SigV4QueryAuth):
    """The same in the query of a URL, which is good for an hour."""


class World:
    """`settings` are those of a Site: limits, the waits after a delete and between purges; and maybe a clock."""

    def __init__(self, store: Store, addresses: Addresses | None = None, **settings: Any) -> None:
        self.store, self.clock, self.room = store, settings.pop("clock", None) or ManualClock(), WaitingRoom()
        self.peer = "192.0.2.1"
        self.calls: list[Call] = []
        self.mover = Mover(store)
        settings |= {"addresses": addresses} if addresses else {}
        vault = Vault([b"m" * KEY_BYTES])
        self.identities = Identities(store, vault, KEYS)
        settings.setdefault("refusals_take_ms", 0)
        settings.setdefault("keyring", Keyring(vault, ["testKeyId", "alias/orders"], ["alias/off"]))
        self.site = Site(store, self.clock, self.room, handle_key=b"k" * 32, identities=self.identities, **settings)
        store.attach_keys(self.site.keyring)
        services = {name: registry.load(where) for name, where in registry.SERVICES.items()}
        signed_for = frozenset(module.SERVICE.signing_name for module in services.values())
        access = Access(self.identities, Verifier(signed_for, frozenset({REGION, OTHER_REGION})), REGION, ACCOUNT)
        self.gateway = Gateway(self.site, access, authorise, services, lambda call, seconds: self.calls.append(call))
        store.subscribe(self._messages_due)

    def _messages_due(self, queue_id: int, at: int, messages: int) -> bool:
        return at <= self.clock.now() and self.room.wake(queue_id, messages)

    def client(self, protocol: str, key: str = ROOT, region: str = REGION, secret: str | None = None) -> Client:
        known = KEYS[key].secret if key in KEYS else ""
        signer = Signer(key, known if secret is None else secret, region, self.clock)

        async def send(method: str, target: str, headers: Headers, body: bytes) -> Answer:
            request = AWSRequest(method, f"http://{HOST}{target}", {"Host": HOST} | headers, body)
            signer.add_auth(request)
            return await self.http(method, target, dict(request.headers.items()), body)

        return PROTOCOLS[protocol](send)

    def query(self) -> QueryClient:
        """For what only a form or a GET can ask."""
        client = self.client("query")
        assert isinstance(client, QueryClient)
        return client

    def presigned(self, path: str, parameters: dict[str, str]) -> str:
        """The target of a GET that carries its signature."""
        request = AWSRequest("GET", f"http://{HOST}{path}", {"Host": HOST}, params=parameters)
        Presigner(ROOT, KEYS[ROOT].secret, REGION, self.clock).add_auth(request)
        return str(request.url).removeprefix(f"http://{HOST}")

    async def http(self, method: str, target: str, headers: Headers, body: bytes = b"") -> Answer:
        given = {key.lower().encode(): value.encode("latin-1") for key, value in headers.items()}
        reply = await self.gateway.answer(HttpRequest(method, target.encode("latin-1"), given, body, self.peer))
        lines = [line.partition(": ") for line in reply.headers.decode().splitlines()]
        return Answer(reply.status, {name: value for name, _, value in lines}, bytes(reply.body))

    def advance(self, seconds: float) -> int:
        return self.clock.advance(seconds)

    async def tend(self) -> None:
        """What the sweeper does until nothing is due."""
        while await self.store.sweep(self.clock.now()) <= self.clock.now():
            pass

    async def move(self, seconds: int = 0) -> None:
        """What the mover does now, and in each of the seconds to come."""
        for _ in range(seconds * 10):
            await self.mover.run_once(self.clock.now())
            self.advance(0.1)
        await self.mover.run_once(self.clock.now())

    async def park(self, receive: Coroutine[Any, Any, Reply]) -> "asyncio.Task[Reply]":
        """Start a long poll and return once it waits."""
        before = len(self.room)
        task = asyncio.create_task(receive)
        for _ in range(100):
            await asyncio.sleep(0)
            if len(self.room) > before or task.done():
                break
        assert len(self.room) == before + 1, "the long poll does not wait"
        return task


class Queue:
    """A queue with short verbs. What goes to a FIFO queue is of the group "g" and no duplicate, unless it says so."""

    _new = itertools.count()

    def __init__(self, client: Client, url: str) -> None:
        self.client, self.url = client, url
        account, self.name = url.rsplit("/", 2)[1:]
        self.path = f"/{account}/{self.name}"
        self.arn = f"arn:aws:sqs:{REGION}:{account}:{self.name}"
        self.fifo = self.name.endswith(".fifo")

    async def call(self, action: str, **params: Any) -> Reply:
        return await self.client.call(action, QueueUrl=self.url, **params)

    async def do(self, action: str, **params: Any) -> dict[str, Any]:
        return done(await self.call(action, **params))

    async def refuses(self, error: str, message: str | None, action: str, **params: Any) -> Reply:
        return await refused(self.client, error, message, action, QueueUrl=self.url, **params)

    async def send(self, body: str = "m", **params: Any) -> dict[str, Any]:
        if self.fifo:
            params = {"MessageGroupId": "g", "MessageDeduplicationId": f"new-{next(self._new)}"} | params
        return await self.do("SendMessage", MessageBody=body, **params)

    async def send_group(self, group: str, *bodies: str) -> None:
        for body in bodies:
            await self.send(body, MessageGroupId=group)

    async def send_batch(self, *entries: dict[str, Any]) -> dict[str, Any]:
        return await self.do("SendMessageBatch", Entries=list(entries))

    async def receive(self, most: int = 10, **params: Any) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = (await self.do("ReceiveMessage", MaxNumberOfMessages=most, **params)).get(
            "Messages", []
        )
        return messages

    async def take(self, **params: Any) -> dict[str, Any]:
        """The one message that must be there to receive."""
        messages = await self.receive(1, **params)
        assert len(messages) == 1, "there was nothing to receive"
        return messages[0]

    async def bodies(self, most: int = 10, **params: Any) -> list[str]:
        return [message["Body"] for message in await self.receive(most, **params)]

    async def delete(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            await self.do("DeleteMessage", ReceiptHandle=message["ReceiptHandle"])

    async def hide(self, message: dict[str, Any], seconds: int) -> None:
        await self.do(
            "ChangeMessageVisibility", ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=seconds
        )  # fmt: skip

    async def set(self, **attributes: object) -> None:
        texts = {name: str(value) for name, value in attributes.items()}
        await self.do("SetQueueAttributes", Attributes=texts)

    async def attributes(self, *names: str) -> dict[str, str]:
        found: dict[str, str] = (await self.do("GetQueueAttributes", AttributeNames=list(names))).get("Attributes", {})
        return found

    async def counts(self) -> tuple[int, int, int]:
        """How many messages are visible, in flight and delayed."""
        found = await self.attributes("All")
        numbers = [int(found[f"ApproximateNumberOfMessages{kind}"]) for kind in ("", "NotVisible", "Delayed")]
        return numbers[0], numbers[1], numbers[2]


async def make(client: Client, name: str, **attributes: object) -> Queue:
    """A new queue; a name that ends in .fifo makes it a FIFO queue."""
    texts = {attribute: str(value) for attribute, value in attributes.items()}
    if name.endswith(".fifo"):
        texts["FifoQueue"] = "true"
    return Queue(client, done(await client.call("CreateQueue", QueueName=name, Attributes=texts))["QueueUrl"])


async def make_with_dead_letters(client: Client, name: str, most: int, **attributes: object) -> tuple[Queue, Queue]:
    """A queue, and the dead-letter queue that takes what was received `most` times."""
    dead = await make(client, f"dead-{name}")
    return await make(client, name, RedrivePolicy=redrive(dead, most), **attributes), dead


def redrive(dead: Queue, most: int | str) -> str:
    return json.dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": most})


def done(reply: Reply) -> dict[str, Any]:
    assert reply.status == 200, f"{reply.status} {reply.error_code}: {reply.message}"
    return reply.result


async def refused(client: Client, error: str, message: str | None, action: str, /, **params: Any) -> Reply:
    """The call is refused with exactly this error; JSON in both moods of its statuses. A message of None is any."""
    reply = await client.call(action, **params)
    check_refusal(client, reply, error, message)
    if client.protocol == "json":
        headers = params.pop("headers", {}) | {"x-amzn-query-mode": "false"}
        plain = await client.call(action, headers=headers, **params)
        assert plain.status == REFUSALS[error].plain_status
        assert (plain.error_code, plain.error_type) == (reply.error_code, reply.error_type)
    return reply


def check_refusal(client: Client, reply: Reply, error: str, message: str | None) -> None:
    expected = REFUSALS[error]
    assert (reply.error_code, reply.status) == (expected.code, expected.status), reply.message
    if client.protocol == "json":
        assert reply.error_type == expected.json_type
    if message is not None:
        assert reply.message == message


async def no_such_queue(client: Client, action: str, **params: Any) -> None:
    tail = "" if client.protocol == "json" else " for this wsdl version"
    await refused(client, "QueueDoesNotExist", f"The specified queue does not exist{tail}.", action, **params)


async def soon(task: "asyncio.Task[Reply]") -> Reply:
    return await asyncio.wait_for(task, SOON)
