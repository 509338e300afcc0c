"""Replies as bytes, and the words for a request that is refused before it reaches the handler."""

from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

from penstock.aws.http import HttpResponse, header

Refuse = Callable[[int, str], HttpResponse]

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
STATUS_LINES = {status.value: b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) for status in HTTPStatus}
BODILESS = frozenset((204, 304))


def render(response: HttpResponse, date: bytes, *, close: bool, head: bool = False) -> bytes:
    """One reply, ready for one write. `date` is a whole header line; `head` sends the length of the body alone."""
    status, body, headers = response.status, response.body, response.headers
    if status == 200 and not close and not head:
        return b"HTTP/1.1 200 OK\r\n%b%bContent-Length: %d\r\n\r\n%b" % (date, headers, len(body), body)
    parts = [STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status, date, headers]
    if status not in BODILESS:
        parts.append(b"Content-Length: %d\r\n" % len(body))
    if close:
        parts.append(b"Connection: close\r\n")
    parts.append(b"\r\n")
    return b"".join(parts) if head or status in BODILESS else b"".join((*parts, body))


def refuse_in_words(status: int, reason: str) -> HttpResponse:
    headers = b"Content-Type: text/plain; charset=utf-8\r\n" + header("x-amzn-RequestId", str(uuid4()))
    return HttpResponse(status, f"{reason}\n".encode(), headers, close=True)
