"""One keep-alive connection: the script that uses it, the request that goes out, the reply that comes in pieces."""

import socket
import ssl
from array import array
from collections.abc import Callable, Generator
from typing import Any

from penstock.bench.replies import Reply, reply_in
from penstock.bench.target import BenchError, Target

CONNECT_SECONDS = 10
READ_BYTES = 1 << 14
"""Larger reads cost: Python takes the whole buffer from the system for each. A reply that did not fit is large."""
LARGE_READ_BYTES = 1 << 20
PAUSE = array("d")
"""Yielded in place of a latency record: wait so many seconds, and ask nothing."""

Send = Callable[[bytes | memoryview], int]
Receive = Callable[[int], bytes]
Asked = tuple["array[float]", Any]
Script = Generator[Asked, bytes, None]


class Closed(Exception):
    """The server has closed the connection, and no reply was on it."""


class Connection:
    __slots__ = ("_read", "_target", "receive", "record", "script", "send", "socket", "started", "unsent")

    def __init__(self, target: Target, script: Script) -> None:
        self.script = script
        self._target = target
        self.record = PAUSE
        self.started = 0.0
        self.connect()

    def connect(self) -> None:
        target = self._target
        try:
            self.socket = socket.create_connection((target.host, target.port), CONNECT_SECONDS)
        except OSError as error:
            reason = error.strerror or "no answer"
            raise BenchError(f"cannot reach {target.endpoint}: {reason[0].lower()}{reason[1:]}") from None
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send: Send = self.socket.send
        self.receive: Receive = self.socket.recv
        if target.scheme == "https":
            self._shake_hands(target)
        self.socket.setblocking(False)
        self._read = b""
        self.unsent: memoryview | None = None

    def _shake_hands(self, target: Target) -> None:
        try:
            secured = ssl.create_default_context(cafile=target.ca_file).wrap_socket(
                self.socket, server_hostname=target.host
            )
        except OSError as error:
            raise BenchError(f"cannot reach {target.endpoint}: {error.strerror or error}") from None
        self.socket, self.send, self.receive = secured, _sending(secured), _receiving(secured)

    def send_more(self) -> bool:
        """Go on with a request that was larger than the socket's buffer. True once nothing is left."""
        assert self.unsent is not None
        try:
            self.unsent = self.unsent[self.send(self.unsent) :]
        except BlockingIOError:
            return False
        except OSError:  # the server refuses the rest; why stands in the reply, if there is one
            self.unsent = None
        return not self.unsent

    def reply(self) -> Reply | None:
        """What has come, if it is a whole reply."""
        try:
            data = self.receive(LARGE_READ_BYTES if self._read else READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        ended = not data
        if self._read:
            data = self._read + data
        reply = reply_in(data, ended=ended)
        if reply is None:
            self._read = data
            if ended:
                raise Closed
        elif self._read:
            self._read = b""
        return reply


def _sending(secured: ssl.SSLSocket) -> Send:
    def send(data: bytes | memoryview) -> int:
        try:
            return secured.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    return send


def _receiving(secured: ssl.SSLSocket) -> Receive:
    """All that there is: what has been decrypted already is nothing that epoll would tell of."""

    def receive(most: int) -> bytes:
        pieces: list[bytes] = []
        try:
            while piece := secured.recv(most):
                pieces.append(piece)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if not pieces:
                raise BlockingIOError from None
        return b"".join(pieces)

    return receive
