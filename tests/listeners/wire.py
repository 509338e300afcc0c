"""What the listener tests are written in: a server on a free port, and a client that says exactly what it is told."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from penstock.aws.http import Handler, HttpRequest, HttpResponse
from penstock.listeners.http import HttpLimits, HttpListener

PATIENCE = 2.0
"""Seconds after which a test stops waiting. Whatever it waits for comes at once or not at all."""

Serve = Callable[..., Awaitable["Running"]]


async def echo(request: HttpRequest) -> HttpResponse:
    return HttpResponse(200, request.body, b"Content-Type: application/octet-stream\r\n")


def request(body: bytes = b"", *headers: bytes, method: bytes = b"POST", target: bytes = b"/") -> bytes:
    lines = [b"%b %b HTTP/1.1" % (method, target), b"Host: here", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass
class Reply:
    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @property
    def socket(self) -> socket.socket:
        return self.writer.get_extra_info("socket")  # type: ignore[no-any-return]

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> Reply:
        async with asyncio.timeout(PATIENCE):
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        pairs = (line.split(b": ", 1) for line in lines)
        return Reply(int(first.split(b" ")[1]), {name.lower(): value for name, value in pairs}, b"")

    async def reply(self) -> Reply:
        reply = await self.head()
        async with asyncio.timeout(PATIENCE):
            reply.body = await self.reader.readexactly(int(reply.headers.get(b"content-length", b"0")))
        return reply

    async def ask(self, data: bytes) -> Reply:
        await self.send(data)
        return await self.reply()

    async def rest(self) -> bytes:
        """Everything until the server closes, however it does."""
        async with asyncio.timeout(PATIENCE):
            parts = []
            with contextlib.suppress(ConnectionError):
                while part := await self.reader.read(65536):
                    parts.append(part)
            return b"".join(parts)

    async def refused(self, data: bytes) -> int:
        """The status of the one reply that this gets before the connection is closed."""
        await self.send(data)
        reply = await self.reply()
        assert reply.headers[b"connection"] == b"close"
        assert await self.rest() == b""
        return reply.status

    def reset(self) -> None:
        self.writer.transport.abort()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


class Running:
    def __init__(self, listener: HttpListener) -> None:
        self.listener = listener
        self.wires: list[Wire] = []
        self.connections: list[int] = []

    async def open(self, **options: object) -> Wire:
        if "sock" not in options:
            options = {"host": self.listener.host, "port": self.listener.port, **options}
        wire = Wire(*await asyncio.open_connection(**options))  # type: ignore[arg-type]
        self.wires.append(wire)
        return wire

    async def close(self) -> None:
        for wire in self.wires:
            await wire.close()
        await self.listener.stop(0)


async def run(
    handler: Handler = echo, limits: HttpLimits | None = None, host: str = "127.0.0.1", **options: object
) -> Running:
    counts: list[int] = []
    listener = HttpListener(
        host,
        0,
        handler,
        limits=limits or HttpLimits(),
        on_connections=counts.append,
        **options,  # type: ignore[arg-type]
    )
    await listener.start()
    running = Running(listener)
    running.connections = counts
    return running


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


class Parked:
    """A handler that waits, as a long poll does, until it is told to answer or is cancelled."""

    def __init__(self) -> None:
        self.entered = self.cancelled = self.answered = 0
        self.targets: list[bytes] = []
        self.gate = asyncio.Event()

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        self.entered += 1
        self.targets.append(request.target)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.answered += 1
        return HttpResponse(200, request.target)
