"""The HTTP/1.1 listener: binding, TLS, how many may come in, one clock for all deadlines, and leaving politely.

What a request is lives in `http_framing`, what a connection does in `http_connection`. This file knows neither SQS
nor bytes; it is given a handler and keeps the doors.

One coarse timer sweeps all connections, at most once a second, and does not run while there are none: an idle
server uses no processor. The sweep also renews the Date header, so that no reply has to ask for the time.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from operator import itemgetter
from pathlib import Path

import structlog

from penstock.aws.http import Handler, Prepare
from penstock.core.neighbourhood import neighbourhood_of
from penstock.listeners.http_connection import HttpConnection
from penstock.listeners.http_express import Express, ExpressLane
from penstock.listeners.http_likeness import Shared
from penstock.listeners.http_limits import HttpLimits
from penstock.listeners.http_reply import Refuse, refuse_in_words, render
from penstock.listeners.vigil import Vigil

__all__ = ["HttpLimits", "HttpListener", "Refuse", "TlsFiles"]

log = structlog.get_logger(__name__)

DEFAULT_LIMITS = HttpLimits()
ACCEPTS_AT_ONCE = 64
NOT_PEM = "give PEM files: the certificate with its chain, and its key without a passphrase"
"""OpenSSL's own word for it is `PEM lib`."""
TLS_FAULTS = {"KEY_VALUES_MISMATCH": "the key is that of another certificate", None: NOT_PEM}
LISTEN_FAULTS = {
    errno.EADDRINUSE: "; stop what listens there, or listen elsewhere",
    errno.EADDRNOTAVAIL: "; this machine has no such address",
    errno.EACCES: "; ports below 1024 take a privilege, or a proxy in front",
}


@dataclass(frozen=True)
class TlsFiles:
    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self.certificate, self.key, password="")  # "": never ask on the terminal
        except OSError as error:
            why = TLS_FAULTS.get(error.reason, str(error)) if isinstance(error, ssl.SSLError) else error.strerror
            raise OSError(f"cannot serve TLS with {self.certificate} and {self.key}: {why}") from error
        return context


class HttpListener:
    def __init__(
        self,
        host: str,
        port: int,
        handler: Handler,
        *,
        limits: HttpLimits = DEFAULT_LIMITS,
        tls: TlsFiles | None = None,
        refuse: Refuse = refuse_in_words,
        on_connections: Callable[[int], object] | None = None,
        prepare: Prepare | None = None,
        express: Express | None = None,
    ) -> None:
        """`port` 0 takes a free one, known after `start`. `on_connections` hears the number of open connections."""
        self.host, self.port, self.handler, self.refuse = host, port, handler, refuse
        self.limits = limits
        self.draining = False
        self.date = date_line()
        self.likenesses = Shared()
        self._tls_files, self._on_connections, self._prepare, self._express = tls, on_connections, prepare, express
        self.lane: ExpressLane | None = None
        self._waiting: list[HttpConnection] = []
        self._tls: ssl.SSLContext | None = None
        self._loop: asyncio.AbstractEventLoop
        self._vigil: Vigil
        self._sockets: list[socket.socket] = []
        self._arriving: set[asyncio.Task[object]] = set()
        self._connections: set[HttpConnection] = set()
        self._by_address: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        self._period = sweep_period(limits)
        self._empty = asyncio.Event()

    async def start(self) -> None:
        self.reload_tls()
        self._loop = asyncio.get_running_loop()
        plain = self._express if self._tls is None else None
        lane = plain.lane(self.limits.body_bytes) if plain else None
        self._vigil = Vigil(self._loop.call_soon, keep_awake=lane.stay_awake if lane else None)
        try:
            self._sockets = await bind(self.host, self.port, self.limits.backlog)
        except OSError as error:
            why = f"{error.strerror}{LISTEN_FAULTS.get(error.errno or 0, '')}"
            raise OSError(error.errno, f"cannot listen on {self.host} port {self.port}: {why}") from error
        self.port = self._sockets[0].getsockname()[1]
        if plain and lane:
            half_close = self.limits.half_close_seconds
            self.lane = ExpressLane(self._loop, lane, plain, self._vigil, lambda: self.date, half_close)
        self._listen()

    def reload_tls(self) -> None:
        """Handshakes from now on use the files as they are now; if they are bad, say so and keep the old ones."""
        if self._tls_files is not None:
            self._tls = self._tls_files.context()

    async def stop(self, grace_seconds: float | None = None) -> None:
        """Accept no one, close what is idle, let requests finish for up to `grace_seconds`, abort the rest."""
        self.draining = True
        for listening in self._sockets:
            self._loop.remove_reader(listening)
            listening.close()
        self._sockets = []
        if self._tls is not None:  # else they arrive in a moment, and leave because we are draining
            for arrival in self._arriving:
                arrival.cancel()
        for connection in tuple(self._connections):
            connection.drain()
        await self._emptied(self.limits.drain_seconds if grace_seconds is None else grace_seconds)
        for connection in tuple(self._connections):
            connection.abort()
        await self._emptied(self.limits.linger_seconds)
        if self.lane is not None:
            self.lane.close()
        if self._timer is not None:
            self._timer.cancel()

    async def _emptied(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            if self._connections:
                async with asyncio.timeout(seconds):
                    await self._empty.wait()

    # Coming in. Accepting is done here and not by the loop, which would pay for a handshake before we could count.

    def _listen(self) -> None:
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTS_AT_ONCE):
            try:
                client, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptors or no memory left: those whom we serve will give some back
                log.error("http.accept_failed", reason=str(error))
                self._loop.remove_reader(listening)
                self._loop.call_later(self._period, self._listen)
                return
            client.setblocking(False)
            self._admit(client, str(address[0]).removeprefix("::ffff:"))

    def _admit(self, client: socket.socket, peer: str) -> None:
        neighbourhood = neighbourhood_of(peer)
        if (
            len(self._connections) >= self.limits.connections
            or self._by_address[neighbourhood] >= self.limits.connections_per_address
        ):
            self._turn_away(client)
            return
        connection = HttpConnection(self, self._loop, peer, self._tls is not None)
        self._connections.add(connection)
        self._by_address[neighbourhood] += 1
        if self._timer is None:
            self._sweep()
        self._tell()
        arrival = self._loop.create_task(self._take_on(connection, client))
        self._arriving.add(arrival)
        arrival.add_done_callback(lambda arrival: self._arrived(arrival, connection, client))

    def _turn_away(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            if self._tls is None:
                client.send(render(self.refuse(503, "Too many connections."), self.date, close=True))

    async def _take_on(self, connection: HttpConnection, client: socket.socket) -> None:
        seconds = self.limits.header_seconds, self.limits.linger_seconds
        handshake, shutdown = seconds if self._tls else (None, None)
        with contextlib.suppress(OSError):  # it has left, does not speak TLS, or takes too long over it
            await self._loop.connect_accepted_socket(
                lambda: connection,
                client,
                ssl=self._tls,
                ssl_handshake_timeout=handshake,
                ssl_shutdown_timeout=shutdown,
            )

    def _arrived(self, arrival: asyncio.Task[object], connection: HttpConnection, client: socket.socket) -> None:
        self._arriving.discard(arrival)
        if not connection.arrived:
            client.close()
            self.leave(connection)

    # Requests that arrive together are run together, those of one kind one after the other, each step of their
    # preparation for all before the next: a processor that has the code at hand does it in two thirds of the time.

    def arrived(self, connection: HttpConnection) -> None:
        self._waiting.append(connection)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._vigil.requests_came(len(waiting))
        together = [(request.kind(), request, connection) for connection in waiting if (request := connection.request)]
        together.sort(key=itemgetter(0))
        if self._prepare is not None:
            try:
                self._prepare([request for _, request, _ in together])
            except Exception:  # each of them will meet it again, and say so to its own client
                log.exception("http.preparation_failed")
        for _, _, connection in together:
            connection.run()
        self._vigil.requests_served()

    # Going out.

    def leave(self, connection: HttpConnection) -> None:
        if connection not in self._connections:
            return
        self._connections.remove(connection)
        neighbourhood = neighbourhood_of(connection.peer)
        self._by_address[neighbourhood] -= 1
        if not self._by_address[neighbourhood]:
            del self._by_address[neighbourhood]
        if self.draining and not self._connections:
            self._empty.set()
        self._tell()

    def _tell(self) -> None:
        if self._on_connections is not None:
            self._on_connections(len(self._connections))

    def _sweep(self) -> None:
        self._timer = self._loop.call_later(self._period, self._sweep) if self._connections else None
        self.date, now = date_line(), self._loop.time()
        if self.lane is not None:
            self.lane.recall_slow()
        for connection in tuple(self._connections):
            if connection.deadline <= now:
                connection.expire(now)


async def bind(host: str, port: int, backlog: int) -> list[socket.socket]:
    """A listening socket for each address of `host`, all on one port."""
    loop, sockets = asyncio.get_running_loop(), list[socket.socket]()
    flags = socket.AI_PASSIVE
    try:
        for family, _, _, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags):
            sockets.append(listening := socket.socket(family))
            listening.setblocking(False)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            chosen = sockets[0].getsockname()[1]
            listening.bind((address[0], port or chosen, *address[2:]))
            listening.listen(backlog)
    except OSError:
        for listening in sockets:
            listening.close()
        raise
    return sockets


def date_line() -> bytes:
    return f"Date: {formatdate(time.time(), usegmt=True)}\r\n".encode()


def sweep_period(limits: HttpLimits) -> float:
    """A deadline is kept to within half of the shortest one, and to within a second."""
    shortest = min(
        limits.header_seconds,
        limits.body_grace_seconds,
        limits.idle_seconds,
        limits.write_seconds,
        limits.linger_seconds,
    )
    return min(1.0, max(0.01, shortest / 2))
