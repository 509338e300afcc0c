"""A whole server in this process, callers of every kind, and requests for any operation of any service, made by boto3.

Requests are written by botocore from Amazon's models and signed by it, or not at all; members that an operation
requires are made up. Who is known: the owner's account and another, with a user each, whose policies a test sets.
"""

import asyncio
import base64
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from ipaddress import ip_network
from typing import Any, NamedTuple

import boto3
from botocore import UNSIGNED
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from urllib3 import HTTPResponse

from penstock import registry
from penstock.api.addresses import Addresses
from penstock.core.clock import AnchoredClock
from penstock.core.directory import AccessKey, Entity, Group, User
from penstock.core.queue import QueueKey
from penstock.stores.memory import MemoryStore
from server_process import MODELS
from sqs.harness import ACCOUNT, HOST, KEYS, OTHER_ACCOUNT, REGION, ROOT, STRANGER, World

Document = dict[str, Any]
NOBODY = ""
ANN, BOB = "AKIAANNANNANNANNANNA", "AKIABOBBOBBOBBOBBOBB"
"""Keys of users: Ann of the account that owns the queues, Bob of the other."""
USERS = {ANN: ("ann", ACCOUNT), BOB: ("bob", OTHER_ACCOUNT)}
QUEUE, DEAD = "orders", "dead"
URL = f"http://{HOST}/{ACCOUNT}/{QUEUE}"
ARN, DEAD_ARN = (f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}" for name in (QUEUE, DEAD))


class Operation(NamedTuple):
    service: str
    name: str

    def __str__(self) -> str:
        return f"{self.service}:{self.name}"


EVERY = [
    Operation(service, name)
    for service, where in registry.SERVICES.items()
    for name in sorted(registry.load(where).OPERATIONS)
]


class Outcome(NamedTuple):
    """`code` is empty if the request was answered."""

    code: str
    message: str = ""
    answer: Any = None

    @property
    def denied(self) -> bool:
        return self.code in ("AccessDenied", "AccessDeniedException")


@cache
def client_of(service: str) -> Any:
    """Writes requests and reads replies; signing and sending is the town's."""
    session = boto3.Session(region_name=REGION)
    session._loader.search_paths.append(str(MODELS))
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1}, parameter_validation=False)
    return session.client(service, endpoint_url=f"http://{HOST}", config=config)


class Town:
    """`owner` has the queues `orders` and `dead`, its dead-letter queue."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._run = runner.run
        self.world = World(MemoryStore(), clock=AnchoredClock(), root_account=ACCOUNT)
        self.identities = self.world.identities
        self.peer, self.headers = "192.0.2.1", {}  # type: tuple[str, dict[str, str]]
        self._run(self._found())

    async def _found(self) -> None:
        redrive = {"RedrivePolicy": json.dumps({"deadLetterTargetArn": DEAD_ARN, "maxReceiveCount": 3})}
        for name, attributes in ((DEAD, {}), (QUEUE, redrive)):
            await self.world.store.create_queue(QueueKey(REGION, ACCOUNT, name), attributes, {}, 1)
        async with self.identities.changing():
            for key, (name, account) in USERS.items():
                await self.identities.save(
                    User(account=account, name=name, id=f"AIDA{name.upper()}", tags={"team": "blue"}),
                    AccessKey(account=account, name=key, user=name, secret=self.identities.sealed(key, "secret")),
                )

    def trust(self, proxies: str) -> None:
        """Make a server that believes what these proxies forward, of the same things."""
        self.world = World(
            self.world.store,
            Addresses(trusted_proxies=(ip_network(proxies),)),
            clock=AnchoredClock(),
            root_account=ACCOUNT,
        )
        self.identities = self.world.identities
        self._run(self.identities.refresh())

    def save(self, *entities: Entity) -> None:
        async def save() -> None:
            async with self.identities.changing():
                await self.identities.save(*entities)

        self._run(save())

    def user(self, key: str) -> User:
        name, account = USERS[key]
        found = self.identities.directory.user(account, name)
        assert found is not None
        return found

    def give(self, key: str, *statements: Document, **more: Any) -> None:
        """The user has a policy of these statements, and nothing else."""
        user, inline = self.user(key), {"p": written(*statements)} if statements else {}
        changed = {"inline": inline, "attached": (), "groups": (), "boundary": None} | more
        self.save(User(**{name: getattr(user, name) for name in user.__struct_fields__} | changed))

    def join(self, key: str, group: str, *statements: Document) -> None:
        account = USERS[key][1]
        self.save(Group(account=account, name=group, id=f"AGPA{group}", inline={"p": written(*statements)}))
        self.give(key, groups=(group,))

    def set_policy(self, *statements: Document, queue: str = QUEUE) -> None:
        """Without any the queue has none. Written past all checks."""
        self.set_document(written(*statements) if statements else "", queue)

    def set_document(self, document: str, queue: str = QUEUE) -> None:
        async def set_it() -> None:
            found = await self.world.store.queue(QueueKey(REGION, ACCOUNT, queue))
            without = {name: value for name, value in found.attributes.items() if name != "Policy"}
            changed = without | ({"Policy": document} if document else {})
            await self.world.store.alter_queue(found.id, changed, found.tags, 2)

        self._run(set_it())

    def remove(self, queue: str) -> None:
        async def remove() -> None:
            found = await self.world.store.queue(QueueKey(REGION, ACCOUNT, queue))
            await self.world.store.delete_queue(found.id, 3)

        self._run(remove())

    def call(self, key: str, operation: Operation, **given: Any) -> Outcome:
        """What becomes of a request with everything that the operation requires, and what is given. None takes away."""
        client = client_of(operation.service)
        members = made_up(client.meta.service_model.operation_model(operation.name).input_shape) | given
        members = {name: value for name, value in members.items() if value is not None}
        with self._sending(client, key, operation.service):
            try:
                answer = client._make_api_call(operation.name, members)
            except ClientError as error:
                response = error.response
            else:
                return Outcome("", "", answer)
        assert response["ResponseMetadata"]["HTTPStatusCode"] < 500, response
        return Outcome(response["Error"]["Code"], response["Error"]["Message"])

    @contextmanager
    def _sending(self, client: Any, key: str, service: str) -> Iterator[None]:
        def send(request: Any, **_: Any) -> AWSResponse:
            headers = {name: _text(value) for name, value in request.headers.items()} | {"Host": HOST}
            sent = AWSRequest(request.method, request.url, headers, request.body)
            if key != NOBODY:
                signer = client.meta.service_model.signing_name
                SigV4Auth(Credentials(key, self._secret(key)), signer, REGION).add_auth(sent)
            target = request.url.removeprefix(f"http://{HOST}")
            headers = dict(sent.headers.items()) | self.headers
            self.world.peer, body = self.peer, request.body or b""
            answer = self._run(self.world.http(request.method, target, headers, _bytes(body)))
            raw = HTTPResponse(io.BytesIO(answer.body), preload_content=False)
            return AWSResponse(request.url, answer.status, answer.headers, raw)

        client.meta.events.register_first("before-send", send, unique_id="town")
        try:
            yield
        finally:
            client.meta.events.unregister("before-send", unique_id="town")

    def _secret(self, key: str) -> str:
        return KEYS[key].secret if key in KEYS else "secret"


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


TASK = json.dumps({"taskId": "00000000-0000-0000-0000-000000000000", "sourceArn": DEAD_ARN})
KNOWN: dict[str, Any] = {
    "QueueUrl": URL,
    "QueueName": QUEUE,
    "SourceArn": DEAD_ARN,
    "TaskHandle": base64.b64encode(TASK.encode()).decode(),
    "AWSAccountIds": [OTHER_ACCOUNT],
    "Actions": ["SendMessage"],
    "Name": "guest",
    "VersionId": "v1",
}
"""Members that must mean something."""


def made_up(shape: Any) -> Document:
    """A value for every member that is required."""
    if shape is None:
        return {}
    return {name: KNOWN.get(name) or _value(shape.members[name], name) for name in shape.required_members}


def _value(shape: Any, name: str) -> Any:
    match shape.type_name:
        case "structure":
            return made_up(shape)
        case "list":
            return [_value(shape.member, name)]
        case "map":
            return {"x": _value(shape.value, name)}
        case "integer" | "long":
            return 1
        case "boolean":
            return True
        case "blob":
            return b"x"
        case "timestamp":
            return 0
        case _:
            least = int(shape.metadata.get("min", 1))
            return shape.metadata.get("enum", ["x" * max(least, 1)])[0]


def statement(effect: str, action: str | list[str], resource: str | list[str] = "*", **more: Any) -> Document:
    return {"Effect": effect, "Action": action, "Resource": resource} | more


def allow(action: str | list[str], resource: str | list[str] = "*", **more: Any) -> Document:
    return statement("Allow", action, resource, **more)


def deny(action: str | list[str], resource: str | list[str] = "*", **more: Any) -> Document:
    return statement("Deny", action, resource, **more)


def written(*statements: Document) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


__all__ = ["ACCOUNT", "OTHER_ACCOUNT", "REGION", "ROOT", "STRANGER"]
