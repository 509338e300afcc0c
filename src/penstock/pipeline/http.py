"""One keep-alive connection to a server: bytes of a request out, status and body of its reply in.

Raw sockets, because reading the headers of a reply by the standard library costs more than all else that an executor
does for ten messages. What is sent and what is read are apart, so that several connections can be under way at once.
"""

import os
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
CONNECT_SECONDS = 10
SILENCE_SECONDS = 60
"""Longer than any long poll."""
READ_BYTES = 1 << 16


class Lost(Exception):
    """The connection broke, or was refused. What became of the request on it is not known."""


class NotTrusted(Exception):
    """Whoever answers has no certificate that is trusted here. AWS_CA_BUNDLE names the file of another authority."""


@dataclass(frozen=True)
class Address:
    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> "Address":
        """Raises ValueError for what is no URL of a server."""
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError(f"{url!r} is no http:// or https:// URL")
        return cls(parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme])

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


class Connection:
    def __init__(self, address: Address) -> None:
        try:
            self._socket = socket.create_connection((address.host, address.port), CONNECT_SECONDS)
        except OSError as error:
            raise Lost(f"cannot reach {address}: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.scheme == "https":
            self._shake_hands(address)
        self._socket.settimeout(SILENCE_SECONDS)
        self._read = b""
        self.reusable = True

    def _shake_hands(self, address: Address) -> None:
        trusted = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
        try:
            self._socket = trusted.wrap_socket(self._socket, server_hostname=address.host)
        except OSError as error:
            self._socket.close()
            if isinstance(error, ssl.SSLCertVerificationError):
                said = error.verify_message
                raise NotTrusted(f"{address} shows a certificate that is not trusted: {said}") from error
            raise Lost(f"cannot reach {address}: {error}") from error

    def send(self, request: bytes) -> None:
        try:
            self._socket.sendall(request)
        except OSError as error:
            self.close()
            raise Lost(str(error)) from error

    def reply(self) -> tuple[int, bytes]:
        try:
            head = self._until(b"\r\n\r\n").lower()
            body = self._chunks() if b"\r\ntransfer-encoding: chunked" in head else self._exactly(_length(head))
        except (OSError, ValueError) as error:
            self.close()
            raise Lost(str(error) or "no reply") from error
        if b"\r\nconnection: close" in head or head.startswith(b"http/1.0"):
            self.close()
        return int(head[9:12]), body

    def close(self) -> None:
        self.reusable = False
        self._socket.close()

    def _until(self, mark: bytes) -> bytes:
        while (end := self._read.find(mark)) < 0:
            self._more()
        found, self._read = self._read[:end], self._read[end + len(mark) :]
        return found

    def _exactly(self, length: int) -> bytes:
        if len(self._read) < length:
            pieces, have = [self._read], len(self._read)
            while have < length:
                self._read = b""
                self._more()
                pieces.append(self._read)
                have += len(self._read)
            self._read = b"".join(pieces)
        found, self._read = self._read[:length], self._read[length:]
        return found

    def _chunks(self) -> bytes:
        pieces = []
        while size := int(self._until(b"\r\n").split(b";")[0], 16):
            pieces.append(self._exactly(size))
            self._until(b"\r\n")
        self._until(b"\r\n")
        return b"".join(pieces)

    def _more(self) -> None:
        data = self._socket.recv(READ_BYTES)
        if not data:
            raise OSError("the server closed the connection")
        self._read += data


def _length(head: bytes) -> int:
    _, found, rest = head.partition(b"\r\ncontent-length:")
    return int(rest.split(b"\r\n", 1)[0]) if found else 0
