"""Replies as bytes, and the words for a request that is refused before it reaches the handler."""

from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

from penstock.aws.http import HttpResponse

Refuse = Callable[[int, str], HttpResponse]

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
STATUS_LINES = {status.value: b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
BODILESS = frozenset((204, 304))


def render(response: HttpResponse, date: bytes, *, close: bool, head: bool = False) -> bytes:
    """One reply, ready for one write. `date` is a whole header line; `head` sends the length of the body alone."""
    status, body = response.status, response.body
    parts = [STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status, date]
    parts += [b"%b: %b\r\n" % pair for pair in response.headers]
    if status not in BODILESS:
        parts.append(b"Content-Length: %d\r\n" % len(body))
    if close:
        parts.append(b"Connection: close\r\n")
    reply = b"".join(parts)
    if reply.count(b"\n") != len(parts) or reply.count(b"\r") != len(parts):
        raise ValueError("a reply's header holds a line break")
    return reply + b"\r\n" if head or status in BODILESS else b"%b\r\n%b" % (reply, body)


def refuse_in_words(status: int, reason: str) -> HttpResponse:
    headers = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"x-amzn-RequestId", str(uuid4()).encode())]
    return HttpResponse(status, f"{reason}\n".encode(), headers, close=True)
