"""An HTTP request and reply, as plain data: what the listeners and the request pipeline agree on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

Headers = dict[bytes, bytes]


@dataclass(slots=True)
class HttpRequest:
    """`target` is the request target exactly as it was sent. Header names are lower case; a header that came more
    than once has its values joined with a comma, in order."""

    method: str
    target: bytes
    headers: Headers
    body: bytes = b""
    peer: str = ""
    secure: bool = False


@dataclass(slots=True)
class HttpResponse:
    status: int
    body: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    close: bool = False


Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]
