"""A connection on which any bytes may be sent, one request behind the other, and replies are read as they come."""

import json
import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from .client import ACCOUNT, Place, headers_of

SECONDS = 5.0
"""No server of ours thinks about anything for longer."""


class Silence(Exception):
    """No reply, and no end of the connection either."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    closes: bool


class Raw:
    def __init__(self, server: Place, seconds: float = SECONDS, source: str = "") -> None:
        host, port = urlsplit(server.url).hostname or "", urlsplit(server.url).port or 0
        self.socket = socket.create_connection((host, port), seconds, (source, 0) if source else None)
        self._read = b""
        self.host = f"{host}:{port}"

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """As much of it as the server takes: it may have said what it thinks of it and hung up."""
        try:
            self.socket.sendall(data)
        except TimeoutError as error:
            raise Silence("it takes nothing") from error
        except OSError:
            return

    def hang_up_sending(self) -> None:
        """Nothing more will come from here, but replies are still read."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def answer(self) -> Answer | None:
        """The next reply; None when the connection is at its end."""
        head = self._until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        if status == 100:
            return self.answer()
        body = self._exactly(int(fields.get("content-length", 0)))
        return Answer(status, body, fields.get("connection", "").lower() == "close")

    def answers(self) -> list[Answer]:
        """All that come until the end of the connection."""
        found = []
        while (answer := self.answer()) is not None:
            found.append(answer)
        return found

    def _until(self, end: bytes) -> bytes | None:
        while end not in self._read:
            if not self._more():
                return None
        found, _, self._read = self._read.partition(end)
        return found

    def _exactly(self, number: int) -> bytes:
        while len(self._read) < number and self._more():
            pass
        found, self._read = self._read[:number], self._read[number:]
        return found

    def _more(self) -> bool:
        try:
            data = self.socket.recv(65536)
        except TimeoutError as error:
            raise Silence("no reply") from error
        except OSError:
            return False
        self._read += data
        return bool(data)


def request(host: str, headers: dict[str, str], body: bytes, target: str = "/") -> bytes:
    lines = [f"POST {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def call(server: Place, action: str, queue: str = "", account: str = ACCOUNT, **params: Any) -> bytes:
    """A call of the JSON protocol, ready to be sent."""
    if queue:
        params["QueueUrl"] = f"{server.url}/{account}/{queue}"
    return request(urlsplit(server.url).netloc, headers_of(action, account), json.dumps(params).encode())
