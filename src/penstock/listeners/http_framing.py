"""Where one HTTP/1.1 request ends and the next begins, and which requests are refused before anyone reads them.

A protocol without sockets: bytes go into `RequestReader.buffer`, whole requests come out of `RequestReader.next`,
and whatever is ambiguous, oversized or malformed raises `Refused`. It knows nothing of time, transports or SQS.

We cut, httptools reads. The head is everything up to the first empty line; it is shown to llhttp, in its strict mode,
as it arrives, so that rubbish is refused with its first bytes. Bodies are cut here, by length or by chunk. Each head
gets a parser of its own (0.6 µs): nothing can leak from one request into the next, and llhttp's idea of where a body
ends is never asked. Because we cut, limits are exact and a pipelined request costs only its bytes until its turn.

llhttp knows a closed list of methods and gives some of them a framing of their own (CONNECT, PRI, SOURCE). Which
methods exist is the handler's business, so every head is shown to it as a POST.

Grammar: RFC 9112.
"""

import re

import httptools

from penstock.aws.http import Headers, HttpRequest
from penstock.listeners.http_chunks import TOKEN, ChunkedBody
from penstock.listeners.http_likeness import Likenesses, Shared
from penstock.listeners.http_limits import HttpLimits, Refused, too_large

METHOD = re.compile(TOKEN)
LONGEST_METHOD = 32
LONGEST_LENGTH = 19  # digits; int() of thousands of them raises
VERSIONS = (b"HTTP/1.1", b"HTTP/1.0")
ORDINARY = b"POST /", b" HTTP/1.1\r\n"
UNUSUAL = frozenset((b"transfer-encoding", b"expect", b"content-encoding", b"connection", b"upgrade"))
ONCE = frozenset((b"host", b"authorization", b"x-amz-date", b"content-length", b"transfer-encoding", b"expect"))


class RequestReader:
    """The bytes of one connection. `keep_alive` and `wants_continue` speak of the request read last."""

    def __init__(self, limits: HttpLimits, shared: Shared, peer: str = "", secure: bool = False) -> None:
        self.buffer = bytearray()
        self.keep_alive = True
        self.wants_continue = False
        self._limits, self._peer, self._secure = limits, peer, secure
        self._parser: httptools.HttpRequestParser | None = None
        self._fed = 0
        self._head_read = False
        self._repeats: list[bytes] = []
        self._target = b""
        self._headers: Headers = {}
        self._request: HttpRequest | None = None
        self._length = 0
        self._chunks: ChunkedBody | None = None
        self.likenesses = Likenesses(shared)

    @property
    def in_body(self) -> bool:
        return self._request is not None

    @property
    def body_received(self) -> int:
        return len(self.buffer) + (self._chunks.received if self._chunks else 0)

    def whole(self, data: bytes) -> HttpRequest | None:
        """The request that `data` is from its first byte to its last, if it is one of the ordinary kind: what nearly
        everyone sends, read without a detour. None if `next` is to look at the bytes."""
        end = data.find(b"\r\n\r\n") + 4
        size = len(data) - end
        if size == 0 or size > self._limits.body_bytes:  # many send the body after the head
            return None
        if (request := self._known(data, end)) and request.headers[b"content-length"] == b"%d" % size:
            self.keep_alive = True
            request.body = data[end:]
            return request
        return self._whole(data, end)

    def _known(self, data: bytes | bytearray, end: int) -> HttpRequest | None:
        """The request whose head `data` begins with, but for its body, if there was one like it before."""
        for like in self.likenesses.by_size.get(end, ()):
            if headers := like.headers_of(data):
                return HttpRequest("POST", like.target, headers, b"", self._peer, self._secure, None, like.lesson)
        return None

    def _whole(self, data: bytes, end: int) -> HttpRequest | None:
        if end < 4 or end > self._limits.line_bytes or not data.startswith(ORDINARY[0]):
            return None
        headers: Headers = {}
        repeats: list[bytes] = []
        self._headers, self._target, self._repeats = headers, b"", repeats
        self._parser = parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(data[:end])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return None
        finally:
            self._parser = None
        target, length = self._target, headers.get(b"content-length", b"")
        if (
            repeats
            or b"host" not in headers
            or not UNUSUAL.isdisjoint(headers)
            or len(headers) > self._limits.header_count
            or not data.startswith(target + ORDINARY[1], 5)
            or not length.isdigit()
            or len(length) > LONGEST_LENGTH
            or len(data) - end != int(length)
        ):
            return None
        self.keep_alive = True
        request = HttpRequest("POST", target, headers, data[end:], self._peer, self._secure)
        self.likenesses.meet(data[:end], request)
        return request

    def next(self) -> HttpRequest | None:
        """The next whole request, or None until more bytes arrive."""
        request = self._request
        if request is None:
            if not self.buffer or (request := self._read_head()) is None:
                return None
            self._request = request
        if self._chunks is not None:
            if not self._chunks.take(self.buffer):
                return None
            request.body, self._chunks = bytes(self._chunks.body), None
        elif self._length:
            if len(self.buffer) < self._length:
                return None
            request.body = bytes(self.buffer[: self._length])
            del self.buffer[: self._length]
        self._request, self.wants_continue = None, False
        return request

    def _known_head(self) -> HttpRequest | None:
        end = self.buffer.find(b"\r\n\r\n") + 4
        request = self._known(self.buffer, end)
        length = request.headers[b"content-length"] if request else b""
        if not length.isdigit() or int(length) > self._limits.body_bytes:
            return None
        del self.buffer[:end]
        self._length, self.keep_alive = int(length), True
        return request

    def _read_head(self) -> HttpRequest | None:
        if self._parser is None and (request := self._known_head()):
            return request
        buffer, parser = self.buffer, self._parser or self._begin()
        if parser is None:
            return None
        end = buffer.find(b"\r\n\r\n")
        stop = end + 4 if end >= 0 else len(buffer)
        if stop > self._limits.line_bytes:
            self._check_size(stop)
        try:
            parser.feed_data(buffer[self._fed : stop])
        except httptools.HttpParserUpgrade:
            # Java's HttpClient offers h2c with every first request; RFC 9110 §7.8 lets us not take the offer.
            if self._headers.get(b"upgrade", b"").lower() != b"h2c":
                raise Refused(400, "This server does not change protocols.") from None
        except httptools.HttpParserError as error:
            raise Refused(400, f"The request is not HTTP/1.1: {error}.") from None
        self._fed = stop
        if self._head_read is not (end >= 0):
            raise Refused(400, "The head of the request has no clear end.")
        return self._accept(stop) if end >= 0 else None

    def _begin(self) -> httptools.HttpRequestParser | None:
        """A parser for this head, once its method is here. What cannot become a method is refused at once."""
        buffer = self.buffer
        if buffer.startswith(b"\r"):  # RFC 9112 §2.2: empty lines before a request are forgiven
            while buffer.startswith(b"\r\n"):
                del buffer[:2]
            if not buffer or buffer == b"\r":
                return None
        space = buffer.find(b" ", 0, LONGEST_METHOD + 1)
        method = buffer[: space if space >= 0 else LONGEST_METHOD + 1]
        if method != b"POST" and (len(method) > LONGEST_METHOD or not METHOD.fullmatch(method)):
            raise Refused(400, "The request does not start with a method.")
        if space < 0:
            return None
        if method == b"CONNECT":
            raise Refused(405, "This server is not a proxy.")
        self._headers, self._target, self._repeats, self._head_read, self._fed = {}, b"", [], False, space
        self._parser = parser = httptools.HttpRequestParser(self)
        parser.feed_data(b"POST")
        return parser

    def _check_size(self, size: int) -> None:
        limits, lines = self._limits, self.buffer[:size].split(b"\r\n")
        if len(lines[0]) > limits.line_bytes:
            raise Refused(414, f"A request line has at most {limits.line_bytes} bytes.")
        if size > limits.header_bytes or len(max(lines, key=len)) > limits.line_bytes:
            raise Refused(431, f"Headers have at most {limits.header_bytes} bytes, one has {limits.line_bytes}.")

    # httptools calls these while it reads a head.

    def on_url(self, target: bytes) -> None:
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        headers, name = self._headers, name.lower()
        if name not in headers:
            headers[name] = value.rstrip(b" \t")
            return
        headers[name] += b"," + value.rstrip(b" \t")
        self._repeats.append(name)

    def on_headers_complete(self) -> None:
        self._head_read = True
        assert self._parser is not None
        self.keep_alive = self._parser.should_keep_alive()

    def _accept(self, size: int) -> HttpRequest:
        """The head is whole and well formed; is it one we take?"""
        buffer, headers = self.buffer, self._headers
        head = bytes(buffer[:size])
        line = head[: head.find(b"\r\n")].split(b" ")
        del buffer[:size]
        self._parser = None
        if len(line) != 3 or line[2] not in VERSIONS or line[1] != self._target:
            raise Refused(400, "The request line is malformed.")
        modern = line[2] == b"HTTP/1.1"
        self.keep_alive = self.keep_alive and modern
        if len(headers) + len(self._repeats) > self._limits.header_count:
            raise Refused(431, f"A request has at most {self._limits.header_count} headers.")
        if not ONCE.isdisjoint(self._repeats):
            raise Refused(400, f"A request has one header of each: {b', '.join(sorted(ONCE)).decode()}.")
        if modern and b"host" not in headers:
            raise Refused(400, "The header host is missing.")
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Refused(415, "Compressed requests are not accepted.")
        self._frame(modern)
        if b"expect" in headers:
            if headers[b"expect"].lower() != b"100-continue":
                raise Refused(417, "The only expectation this server meets is 100-continue.")
            self.wants_continue = modern
        request = HttpRequest(line[0].decode(), _origin_form(self._target), headers, b"", self._peer, self._secure)
        if line[0] == b"POST" and modern and not self._repeats and UNUSUAL.isdisjoint(headers):
            self.likenesses.meet(head, request)
        return request

    def _frame(self, modern: bool) -> None:
        length, coding = self._headers.get(b"content-length"), self._headers.get(b"transfer-encoding")
        self._length = 0
        if coding is not None:
            if not modern or length is not None or coding.lower() != b"chunked":
                raise Refused(400, "The only transfer coding is chunked, in HTTP/1.1 and without a Content-Length.")
            self._chunks = ChunkedBody(self._limits)
        elif length is not None:
            if not length.isdigit() or len(length) > LONGEST_LENGTH:
                raise Refused(400, "Content-Length is not a number.")
            self._length = int(length)
            if self._length > self._limits.body_bytes:
                raise too_large(self._limits)


def _origin_form(target: bytes) -> bytes:
    """The target without scheme and host, which those put before it who take us for their proxy."""
    if target.startswith(b"/"):
        return target
    scheme, separator, rest = target.partition(b"://")
    if not separator or scheme.lower() not in (b"http", b"https"):
        return target
    return b"/" + rest.partition(b"/")[2]
