"""The light load client: raw sockets and epoll in one process, one request at a time on each connection.

A script is a generator: it yields a request and gets the body of its reply. So what a connection does reads from top
to bottom, and the loop below knows nothing of messages. It is short because it shares the machine with the server that
it measures: each microsecond here is one that the server does not get.

Connections are made anew when a server closes them (some speak HTTP/1.0). TCP_NODELAY is set.
"""

import heapq
import select
from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import perf_counter, time
from typing import Any, TypeVar

from penstock.bench.connection import PAUSE, Asked, Closed, Connection, Script
from penstock.bench.replies import Reply
from penstock.bench.signing import Signer, Template
from penstock.bench.target import BenchError, Target
from penstock.bench.wire import Parts, Wire
from penstock.bench.wire_json import JsonWire
from penstock.bench.wire_query import QueryWire

WIRES: dict[str, type[Wire]] = {"json": JsonWire, "query": QueryWire}
SILENCE_SECONDS = 60
TICK_SECONDS = 0.25
NEVER = float("inf")

T = TypeVar("T")


class TooSlow(BenchError):
    """It may work, but nobody wants to wait for it."""


class Refused(BenchError):
    """The server answered with an error."""


def _nothing() -> None:
    pass


class Client:
    """Requests to one target, and the loop that sends them."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.wire: Wire = WIRES[target.protocol]()
        self.signer = Signer(target)
        self.signer.renew(time())
        self.requests = 0
        self.over = False
        self.progress: Callable[[], None] = _nothing
        self.patience_seconds = NEVER
        self._latencies: dict[str, array[float]] = {}
        self._counted: dict[str, int] = {}

    # What scripts use

    def template(self, action: str, parts: Parts) -> Template:
        return Template(self.signer, self.wire.headers(action), *parts)

    def prepared(self, action: str, **parameters: Any) -> Template:
        """A request that is the same each time."""
        return self.template(action, Parts(self.wire.plain(action, parameters)))

    def latencies(self, action: str) -> "array[float]":
        return self._latencies.setdefault(action, array("d"))

    def summary(self, of: Callable[["array[float]"], T]) -> dict[str, T]:
        """The latencies of the last run, action by action: those of the time that was measured."""
        return {action: of(self._latencies[action][:count]) for action, count in self._counted.items() if count}

    def call(self, action: str, **parameters: Any) -> bytes:
        """One request outside of any measurement, on a connection of its own."""
        replies: list[bytes] = []
        request = self.prepared(action, **parameters).request()

        def script() -> Script:
            replies.append((yield array("d"), request))

        self.run([script()])
        return replies[0]

    # The loop

    def run(
        self,
        scripts: Iterable[Script],
        seconds: float | None = None,
        warmup: float = 0.0,
        mark: Callable[[], None] | None = None,
    ) -> float:
        """Until every script has ended; after `seconds` they are told by `over`. The time measured, in seconds.

        What happens in the first `warmup` seconds is checked like the rest, and not counted. `mark` is called when the
        counting begins and when it ends.
        """
        self.over = False
        self._mark = mark or _nothing
        self.deadline = perf_counter() + self.patience_seconds + warmup + (seconds or 0.0)
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        self._pauses: list[tuple[float, int, Connection]] = []
        try:
            for script in scripts:
                self._join(Connection(self.target, script))
            return self._loop(seconds, warmup)
        finally:
            self._epoll.close()
            for connection in self._connections.values():
                connection.script.close()
                connection.socket.close()

    def _loop(self, seconds: float | None, warmup: float) -> float:
        connections, poll, ask = self._connections, self._epoll.poll, self._ask
        self._begin()
        last = started = tick = perf_counter()
        warm = started + warmup if warmup else NEVER
        end = NEVER if seconds is None else started + warmup + seconds
        finished = 0.0
        for connection in list(connections.values()):
            ask(connection, next(connection.script, None))
        while connections:
            events = poll(self._patience(min(warm, end)), 1024)
            now = perf_counter()
            if now >= tick:
                tick = now + TICK_SECONDS
                self._tick(now - last)
            if now >= warm:
                warm, started = NEVER, now
                self._begin()
            if now >= end:
                end, finished, self.over = NEVER, now, True
                self._finish()
            if self._pauses:
                self._end_pauses(now)
            for file, event in events:
                last = now
                connection = connections[file]
                if event & select.EPOLLOUT:
                    self._send_on(connection)
                    continue
                body = self._read(connection)
                if body is None:
                    continue
                connection.record.append(perf_counter() - connection.started)
                self.requests += 1
                try:
                    asked = connection.script.send(body)
                except StopIteration:
                    asked = None
                ask(connection, asked)
        if not finished:
            finished = perf_counter()
            self._finish()
        return finished - started

    def _begin(self) -> None:
        self.requests = 0
        for record in self._latencies.values():
            del record[:]
        self._mark()

    def _finish(self) -> None:
        self._counted = {action: len(record) for action, record in self._latencies.items()}
        self._mark()

    def _tick(self, silent_seconds: float) -> None:
        """A few times a second: what need not be done for every request."""
        self.signer.renew(time())
        self.progress()
        if silent_seconds > SILENCE_SECONDS:
            raise BenchError(f"{self.target.endpoint} has not answered for {SILENCE_SECONDS} seconds")
        if perf_counter() > self.deadline:
            raise TooSlow(f"it took longer than {self.patience_seconds:.0f} seconds")

    def _patience(self, end: float) -> float:
        until = min(end, self._pauses[0][0]) if self._pauses else end
        return max(0.0, min(TICK_SECONDS, until - perf_counter()))

    def _ask(self, connection: Connection, asked: Asked | None) -> None:
        if asked is None:
            self._leave(connection)
            return
        connection.record, request = asked
        connection.started = perf_counter()
        if connection.record is PAUSE:
            heapq.heappush(self._pauses, (connection.started + request, id(connection), connection))
            return
        try:
            count = connection.send(request)
        except BlockingIOError:
            count = 0
        except OSError:
            self._closed(connection)
            return
        if count < len(request):
            connection.unsent = memoryview(request)[count:]
            self._epoll.modify(connection.socket, select.EPOLLIN | select.EPOLLOUT)

    def _send_on(self, connection: Connection) -> None:
        if connection.send_more():
            self._epoll.modify(connection.socket, select.EPOLLIN)

    def _read(self, connection: Connection) -> bytes | None:
        """The body of a whole reply, or None if more is to come."""
        try:
            reply = connection.reply()
        except Closed:
            self._closed(connection)
            return None
        if reply is None:
            return None
        if reply.status != 200:
            raise Refused(self._complaint(reply))
        if reply.closes:
            self._renew(connection)
        return reply.body

    def _closed(self, connection: Connection) -> None:
        """The server has closed. Between two requests it may; within one it may not, or what it did is not known."""
        if connection.record is not PAUSE:
            raise BenchError(f"{self.target.endpoint} closed a connection without having answered the request on it")
        self._renew(connection)

    def _renew(self, connection: Connection) -> None:
        self._leave(connection)
        connection.connect()
        self._join(connection)

    def _join(self, connection: Connection) -> None:
        self._connections[connection.socket.fileno()] = connection
        self._epoll.register(connection.socket, select.EPOLLIN)

    def _leave(self, connection: Connection) -> None:
        self._epoll.unregister(connection.socket)
        del self._connections[connection.socket.fileno()]
        connection.socket.close()

    def _end_pauses(self, now: float) -> None:
        while self._pauses and self._pauses[0][0] <= now:
            connection = heapq.heappop(self._pauses)[2]
            try:
                asked: Asked | None = connection.script.send(b"")
            except StopIteration:
                asked = None
            self._ask(connection, asked)

    def _complaint(self, reply: Reply) -> str:
        """What refuses a connection, and not a request, may speak XML to anyone."""
        said = ""
        for wire in (self.wire, QueryWire()):
            with suppress(ValueError, AttributeError):
                said = said or wire.refusal(reply.body)
        said = said or reply.body[:200].decode(errors="replace").strip()
        return f"{self.target.endpoint} answered {reply.status}: {' '.join(said.split())}".rstrip(": ")
