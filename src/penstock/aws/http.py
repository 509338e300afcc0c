"""An HTTP request and reply, as plain data: what the listeners and the request pipeline agree on."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

Headers = dict[bytes, bytes]

VARYING = frozenset(
    (b"authorization", b"x-amz-date", b"content-length", b"x-amz-content-sha256", b"amz-sdk-invocation-id")
)
"""Headers that are new with every request of a client; of the authorization, its last characters: the signature."""
SIGNATURE_DIGITS = 64


class HttpRequest(msgspec.Struct):
    """`target` is the request target exactly as it was sent. Header names are lower case; a header that came more
    than once has its values joined with a comma, in order."""

    method: str
    target: bytes
    headers: Headers
    body: bytes = b""
    peer: str = ""
    secure: bool = False
    prepared: Any = None
    """What the handler worked out when it was told of the request, for itself."""
    lesson: Any = None
    """What the handler said to `remember` of an earlier request on this connection, if the head of this one is the same
    but for the values of `VARYING`, and these are of letters, digits and hyphens."""
    remember: "Callable[[HttpRequest, Any], None] | None" = None
    """If the listener offers it: takes this request and a lesson, once it is known to be from whom it says."""

    def kind(self) -> bytes:
        """Requests with the same one ask for the same, as far as can be told from outside."""
        return self.headers.get(b"x-amz-target", b"")


class HttpResponse(msgspec.Struct):
    """`headers` are whole lines, each with its line break."""

    status: int
    body: bytes = b""
    headers: bytes = b""
    close: bool = False


def header(name: str, value: str) -> bytes:
    """One line for a reply. A value that could be read as more than one never goes out."""
    if "\r" in value or "\n" in value:
        raise ValueError(f"the header {name} holds a line break")
    return f"{name}: {value}\r\n".encode("latin-1")


Handler = Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]
"""It may wait for futures, and for nothing that needs a task around it."""

Prepare = Callable[[Sequence[HttpRequest]], None]
"""Told of requests that arrived together, before any of them is handled."""
