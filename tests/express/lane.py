"""What the tests of the express way are written in: a server in this process, and connections that say exactly what
they are told, signed for whom and when they like.

A connection is lent to native code once its heads are known, and heads are like each other only if they are as long; so
bodies are padded with blanks to a length of four digits, unless a test says otherwise. Whether a request was answered
by native code is told by `Express.answered`, whether a connection is lent by `ExpressLane.lent`.
"""

import asyncio
import contextlib
import hmac
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock import app
from penstock.api.express import SERVED
from penstock.config import load
from penstock.core.identifiers import random_uuid
from penstock.core.keyring import Keyring
from penstock.core.message import NewMessage
from penstock.core.queue import QueueKey
from penstock.core.store import Store
from penstock.masterkey import vault_of
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.database import Database

ACCOUNT, REGION = "000000000000", "us-east-1"
WARM = "warm"
DIGITS = 4
ROUNDS = 40
PATIENCE = 5.0
"""Seconds after which a test stops waiting. Whatever it waits for comes at once, within a sweep, or not at all."""
Json = dict[str, Any]


@dataclass(frozen=True)
class Who:
    key: str = "PENSTOCK_TEST_ROOT"
    secret: str = "a secret that only tests know"


ROOT = Who()


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body) if self.body else {}

    @property
    def error(self) -> str:
        return "" if self.status == 200 else str(self.json["__type"]).rpartition("#")[2]


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """As where native code was not built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "penstock.native", None)
        yield


class Site:
    """A running server, and the doors to it."""

    def __init__(self, server: app.Server) -> None:
        self.server = server
        self.host = f"127.0.0.1:{server.listener.port}"
        self.lines: list[Line] = []
        self.warm_handle = ""

    @property
    def answered(self) -> int:
        """Requests that native code answered."""
        express = self.server.express
        return express.answered if express else 0

    @property
    def at_once(self) -> int:
        """Of these, requests that Python did not look at."""
        express = self.server.express
        return express.at_once if express else 0

    @property
    def lent(self) -> int:
        lane = self.server.listener.lane
        return lane.lent if lane else 0

    @property
    def store(self) -> Store:
        return self.server.store

    @property
    def database(self) -> Database:
        assert isinstance(self.server.store, SqliteStore)
        return self.server.store.database

    async def line(self, who: Who = ROOT) -> "Line":
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.listener.port, limit=1 << 26)
        self.lines.append(Line(self, reader, writer, who))
        return self.lines[-1]

    async def lent_line(self, *actions: str, who: Who = ROOT, digits: int = DIGITS) -> "Line":
        """A connection whose requests for these, or for all, native code answers if they are plain."""
        line = await self.line(who)
        await line.warm(*(actions or SERVED), digits=digits)
        return line

    def url(self, queue: str) -> str:
        return f"http://{self.host}/{ACCOUNT}/{queue}"

    async def create(self, name: str, tags: dict[str, str] | None = None, **attributes: str) -> str:
        """Its URL."""
        line = await self.line()
        reply = await line.ask("CreateQueue", {"QueueName": name, "Attributes": attributes, "tags": tags or {}})
        assert reply.status == 200, reply.body
        await line.close()
        return self.url(name)

    async def warm_queue(self) -> str:
        """A queue for requests that only make heads known."""
        if not self.warm_handle:
            url, line = await self.create(WARM), await self.line()
            await self.stock(WARM, "m")
            reply = await line.ask("ReceiveMessage", {"QueueUrl": url})
            self.warm_handle = reply.json["Messages"][0]["ReceiptHandle"]
            await line.close()
        return self.url(WARM)

    async def stock(self, queue: str, *bodies: str) -> None:
        """Put messages into a queue without a request."""
        new = [NewMessage(random_uuid(), body, len(body.encode()), ACCOUNT, {}, None, None, None) for body in bodies]
        await self.store.send(await self.queue_id(queue), new, self.server.clock.now())

    async def queue_id(self, name: str) -> int:
        return (await self.store.queue(QueueKey(REGION, ACCOUNT, name))).id

    async def peek(self, name: str) -> list[tuple[Any, ...]]:
        """What lies in a queue, but for ids, times and handles."""
        now = self.server.clock.now()
        found = await self.store.peek(await self.queue_id(name), 10_000, b"", now)
        return [(m.body, m.attributes, m.group, m.deduplication_id, m.receive_count, m.sender, m.trace) for m in found]

    async def counts(self, name: str) -> tuple[int, ...]:
        counts = await self.store.counts(await self.queue_id(name), self.server.clock.now())
        return counts.visible, counts.in_flight, counts.delayed, counts.bytes

    async def stop(self) -> None:
        for line in self.lines:
            await line.close()
        if not self.server.listener.draining:
            await self.server.stop()


@asynccontextmanager
async def site(folder: Path, native: bool = True, native_store: bool = True, **settings: Any) -> AsyncIterator[Site]:
    """Without `native` everything is Python; without `native_store` the store alone is."""
    with contextlib.nullcontext() if native else nothing_compiled():
        server = await started(folder, native_store, **settings)
    running = Site(server)
    try:
        yield running
    finally:
        await running.stop()


@asynccontextmanager
async def opened_again(site: Site) -> AsyncIterator[SqliteStore]:
    """The store of a server that was stopped, without native code, with its keys."""
    settings = site.server.settings
    store = SqliteStore(site.database.path)
    await store.open()
    try:
        store.attach_keys(Keyring(await vault_of(settings, store), settings.kms_keys, settings.kms_keys_disabled))
        yield store
    finally:
        await store.close()


async def started(folder: Path, native_store: bool = True, **settings: Any) -> app.Server:
    given = {
        "listen": "127.0.0.1:0",
        "data": str(folder),
        "root_access_key": ROOT.key,
        "root_secret_key": ROOT.secret,
        "root_account": ACCOUNT,
        "region": REGION,
    }
    server = app.Server(replace(load(given, {}, None).settings, **settings))
    if not native_store:
        assert isinstance(server.store, SqliteStore)
        server.store.native = None
    await server.start()
    return server


def padded(body: bytes, digits: int = DIGITS) -> bytes:
    return body.ljust(10 ** (digits - 1))


@dataclass(frozen=True)
class Signing:
    """How a request is signed, and what is done to it afterwards."""

    at: float | None = None
    """Epoch seconds; now, if None."""
    day: str | None = None
    """In the scope, if it is not that of the date."""
    headers: Sequence[tuple[str, str]] = ()
    """Signed, beside the usual ones."""
    unsigned: Sequence[tuple[str, str]] = ()
    spoil: Callable[[bytes], bytes] = lambda request: request


USUAL = Signing()


def signed(site: Site, who: Who, action: str, body: bytes, how: Signing = USUAL) -> bytes:
    at = datetime.fromtimestamp(site.server.clock.wall() / 1000 if how.at is None else how.at, UTC)
    stamp = at.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{how.day or stamp[:8]}/{REGION}/sqs/aws4_request"
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "host": site.host,
        "x-amz-date": stamp,
        "x-amz-target": f"AmazonSQS.{action}",
        **dict(how.headers),
    }
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
    key = f"AWS4{who.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    head = [
        "POST / HTTP/1.1",
        *(f"{name}: {value}" for name, value in (*headers.items(), *how.unsigned)),
        f"content-length: {len(body)}",
        f"authorization: AWS4-HMAC-SHA256 Credential={who.key}/{scope}, SignedHeaders={names}, Signature={signature}",
    ]
    return how.spoil("\r\n".join(head).encode() + b"\r\n\r\n" + body)


class Line:
    """A connection."""

    def __init__(self, site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, who: Who) -> None:
        self.site, self.reader, self.writer, self.who = site, reader, writer, who

    def request(self, action: str, body: Json | bytes, how: Signing = USUAL, digits: int = DIGITS) -> bytes:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return signed(self.site, self.who, action, padded(raw, digits), how)

    async def ask(self, action: str, body: Json | bytes, how: Signing = USUAL, digits: int = DIGITS) -> Reply:
        await self.write(self.request(action, body, how, digits))
        return await self.reply()

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self) -> Reply:
        async with asyncio.timeout(PATIENCE):
            head = (await self.reader.readuntil(b"\r\n\r\n"))[:-4].decode().split("\r\n")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:])}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(int(head[0].split(" ")[1]), headers, body)

    async def rest(self) -> bytes:
        """Everything until the server closes, however it does."""
        async with asyncio.timeout(PATIENCE):
            parts = []
            with contextlib.suppress(ConnectionError):
                while part := await self.reader.read(65536):
                    parts.append(part)
            return b"".join(parts)

    async def warm(self, *actions: str, digits: int = DIGITS) -> None:
        """Ask for these, which changes nothing that a test looks at, until native code answers them all."""
        bodies = harmless(await self.site.warm_queue(), self.site.warm_handle)
        for _ in range(ROUNDS):
            before = self.site.answered
            for action in actions:
                if action == "ReceiveMessage":
                    await self.site.stock(WARM, "m")
                reply = await self.ask(action, bodies[action], digits=digits)
                assert reply.status == 200, reply.body
            if self.site.server.express is None or self.site.answered - before == len(actions):
                return
        raise AssertionError(f"native code does not answer {actions}")

    async def by_lane(self, action: str, body: Json | bytes, **options: Any) -> bool:
        before = self.site.answered
        assert (await self.ask(action, body, **options)).status == 200
        return self.site.answered > before

    async def at_once(self, action: str, body: Json | bytes, **options: Any) -> bool:
        """Whether native code alone serves it; and whoever asks the same next, if nothing changes."""
        for _ in range(2):
            before = self.site.at_once
            assert (await self.ask(action, body, **options)).status == 200
        return self.site.at_once > before

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def harmless(url: str, handle: str) -> dict[str, Json]:
    """A plain request of each kind."""
    return {
        "SendMessage": {"QueueUrl": url, "MessageBody": "m"},
        "SendMessageBatch": {"QueueUrl": url, "Entries": [{"Id": "a", "MessageBody": "m"}]},
        "ReceiveMessage": {"QueueUrl": url},
        "DeleteMessage": {"QueueUrl": url, "ReceiptHandle": handle},
        "DeleteMessageBatch": {"QueueUrl": url, "Entries": [{"Id": "a", "ReceiptHandle": handle}]},
    }


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HANDLE = re.compile(r"AQAAAA[A-Za-z0-9+/]{30,}={0,2}")
SEQUENCE = re.compile(r"1\d{19}")


def told(reply: Reply, *names: str) -> tuple[Any, ...]:
    """A reply as it would be of any other message of any other queue: without ids, handles, dates and these names."""
    body = reply.body.decode()
    for pattern, word in ((UUID, "ID"), (HANDLE, "HANDLE"), (SEQUENCE, "SEQUENCE")):
        body = pattern.sub(word, body)
    for name in names:
        body = body.replace(name, "NAME")
    headers = {name: value for name, value in reply.headers.items() if name not in CHANGING}
    return reply.status, headers, json.loads(body) if body.startswith("{") else body


CHANGING = {"date", "x-amzn-requestid", "content-length"}


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)
