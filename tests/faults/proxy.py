"""A bad network between clients and a server: a TCP proxy that does something to an exchange now and then.

It knows of HTTP only where a message ends, and that a client waits for a reply before it speaks again. What may happen
to an exchange is in `TROUBLES`.
"""

import asyncio
import random
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from .client import Place

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends a reset and drops what was not sent."""


async def whole(reader: asyncio.StreamReader) -> bytes:
    """A request or a reply, from its first byte to its last; nothing at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        return head + await reader.readexactly(int(length[1]) if length else 0)
    except asyncio.IncompleteReadError:
        return b""


class Exchange:
    """One connection of a client, and the one to the server that belongs to it."""

    def __init__(self, client: tuple[asyncio.StreamReader, asyncio.StreamWriter], rng: random.Random) -> None:
        self.reader, self.writer = client
        self.rng = rng
        self.up: asyncio.StreamWriter
        self.down: asyncio.StreamReader

    async def reply(self) -> bytes:
        return await whole(self.down)

    async def send_up(self, data: bytes) -> None:
        self.up.write(data)
        await self.up.drain()

    async def send_down(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        writer.transport.abort()

    async def silence(self) -> None:
        """Until the client has had enough."""
        while await self.reader.read(65536):
            pass


async def delay(exchange: Exchange, request: bytes) -> bool:
    await asyncio.sleep(exchange.rng.uniform(0.05, 0.5))
    await exchange.send_up(request)
    reply = await exchange.reply()
    await asyncio.sleep(exchange.rng.uniform(0, 0.3))
    await exchange.send_down(reply)
    return bool(reply)


async def reset_before_the_request(exchange: Exchange, request: bytes) -> bool:
    exchange.reset(exchange.writer)
    return False


async def reset_after_the_request(exchange: Exchange, request: bytes) -> bool:
    """The server has it whole; whether it was carried out the client will never know."""
    await exchange.send_up(request)
    await asyncio.sleep(exchange.rng.choice((0, 0.001, 0.05)))
    exchange.reset(exchange.writer)
    exchange.reset(exchange.up)
    return False


async def reset_within_the_request(exchange: Exchange, request: bytes) -> bool:
    await exchange.send_up(request[: exchange.rng.randrange(len(request))])
    exchange.reset(exchange.up)
    exchange.reset(exchange.writer)
    return False


async def half_close(exchange: Exchange, request: bytes) -> bool:
    """The client's side ends after the request. A reply may still come."""
    await exchange.send_up(request)
    exchange.up.write_eof()
    await exchange.send_down(await exchange.reply())
    return False


async def half_a_reply(exchange: Exchange, request: bytes) -> bool:
    await exchange.send_up(request)
    reply = await exchange.reply()
    await exchange.send_down(reply[: exchange.rng.randrange(len(reply) + 1)])
    return False


async def black_hole_for_the_request(exchange: Exchange, request: bytes) -> bool:
    await exchange.silence()
    return False


async def black_hole_for_the_reply(exchange: Exchange, request: bytes) -> bool:
    await exchange.send_up(request)
    await exchange.silence()
    return False


async def drip(exchange: Exchange, request: bytes) -> bool:
    """A byte at a time: the first ones a second apart, or the client would be old before it is through."""
    for place in range(len(request)):
        await exchange.send_up(request[place : place + 1])
        await asyncio.sleep(1 if place < 1 else 0.0005)
    reply = await exchange.reply()
    for place in range(len(reply)):
        await exchange.send_down(reply[place : place + 1])
    return bool(reply)


Trouble = Callable[[Exchange, bytes], Awaitable[bool]]
"""Carries out an exchange in its own way; false when the connection is of no use any more."""
TROUBLES: tuple[Trouble, ...] = (
    delay, reset_before_the_request, reset_after_the_request, reset_within_the_request, half_close, half_a_reply,
    black_hole_for_the_request, black_hole_for_the_reply, drip,
)  # fmt: skip


class Proxy:
    """Runs in a thread of its own. `log` says where it is, in the words of a server."""

    def __init__(self, server: Place, log: Path, rng: random.Random, often: float) -> None:
        self._server, self._rng, self._often = server, rng, often
        self.log, self.happened = log, Counter[str]()
        self.healed = False
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> "Proxy":
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listening = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._listener = asyncio.run_coroutine_threadsafe(listening, self._loop).result(10)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        self.log.write_text(f"Penstock proxied listens on {self.url}\n")
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        exchange = Exchange((reader, writer), self._rng)
        place = urlsplit(self._server.url)
        try:
            exchange.down, exchange.up = await asyncio.open_connection(place.hostname, place.port)
            while request := await whole(reader):
                if not await self._chosen()(exchange, request):
                    break
        except (OSError, asyncio.CancelledError):
            return
        finally:
            writer.close()
            if hasattr(exchange, "up"):
                exchange.up.close()
            self._tasks.discard(task)

    def _chosen(self) -> Trouble:
        if self.healed or self._rng.random() > self._often:
            return passed_on
        trouble = self._rng.choice(TROUBLES)
        self.happened[trouble.__name__] += 1
        return trouble


async def passed_on(exchange: Exchange, request: bytes) -> bool:
    """As a good network does."""
    await exchange.send_up(request)
    reply = await exchange.reply()
    await exchange.send_down(reply)
    return bool(reply)
