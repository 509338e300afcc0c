"""A server that answers by a list, and keeps what it was asked."""

import socket
import threading
from dataclasses import dataclass, field

CLOSE = None
"""In place of a reply: close the connection."""


def reply(status: int, body: str) -> bytes:
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


@dataclass
class ScriptedServer:
    replies: list[bytes | None]
    heads: list[str] = field(default_factory=list)

    def __enter__(self) -> "ScriptedServer":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while self.replies:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                self._answer(connection, lines)

    def _answer(self, connection: socket.socket, lines: "socket.SocketIO") -> None:
        while self.replies:
            head = ""
            while (line := lines.readline()) not in (b"\r\n", b""):
                head += line.decode()
            if not head:
                return
            length = next(int(one.split(":")[1]) for one in head.splitlines() if one.startswith("content-length"))
            lines.read(length)
            self.heads.append(head)
            answer = self.replies.pop(0)
            if answer is CLOSE:
                return
            connection.sendall(answer)
