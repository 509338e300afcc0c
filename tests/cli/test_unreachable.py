"""What a command says when something else than Penstock is at the endpoint, or nothing that it can speak with."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from server_process import Server

from .conftest import Run

PAGE = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<html>\n</html>"
AtPort = Callable[[bytes], int]


@pytest.fixture
def stranger() -> Iterator[AtPort]:
    """`stranger(words)` is the port of a server that reads something, says `words` to everyone, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(words: bytes) -> None:
            with contextlib.suppress(OSError), listening.accept()[0] as visitor:
                visitor.recv(65536)
                visitor.sendall(words)
                visitor.shutdown(socket.SHUT_WR)
                while visitor.recv(65536):  # to hang up on unread bytes would take the words back
                    pass

        def start(words: bytes) -> int:
            threading.Thread(target=serve, args=(words,), daemon=True).start()
            return int(listening.getsockname()[1])

        yield start


@pytest.mark.parametrize(
    ("scheme", "words", "said"),
    [
        ("http", PAGE, "the answer has status 400 and is not Penstock's: is the endpoint right?"),
        ("http", b"", "{url}/ closed the connection: is the server stopping, or does it speak TLS?"),
        ("https", PAGE, "cannot speak TLS with {url}/: it speaks no TLS; try http://"),
    ],
)
def test_a_stranger_at_the_endpoint_is_told_in_one_line(
    penstock: Run, server: Server, stranger: AtPort, scheme: str, words: bytes, said: str
) -> None:
    url = f"{scheme}://127.0.0.1:{stranger(words)}"
    done = penstock("sqs", "list-queues", "--endpoint-url", url, env=server.environment)
    assert (done.returncode, done.stderr) == (1, f"penstock: {said.format(url=url)}\n")


def test_an_endpoint_without_a_scheme_is_told_what_one_looks_like(penstock: Run, server: Server) -> None:
    done = penstock("sqs", "list-queues", "--endpoint-url", "localhost:9324", env=server.environment)
    assert done.stderr == "penstock: endpoint 'localhost:9324': give a URL, such as http://127.0.0.1:9324\n"
