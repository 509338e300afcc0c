"""The chunked transfer coding, strictly: bytes of a body out of a buffer, everything else measured and dropped.

RFC 9112 §7.1. Lines end with CRLF and nothing else: a reader that forgives more can be made to disagree with a proxy.
"""

import re

from penstock.listeners.http_limits import HttpLimits, Refused, too_large

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # RFC 9110 §5.6.2
TRAILER = re.compile(TOKEN + rb":[\t\x20-\x7e\x80-\xff]*")
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?")
LONGEST_CHUNK_SIZE = 16


class ChunkedBody:
    """size CRLF data CRLF … 0 CRLF trailers CRLF. Extensions and trailers are read, measured and dropped."""

    def __init__(self, limits: HttpLimits) -> None:
        self.body = bytearray()
        self._limits = limits
        self._longest_line = LONGEST_CHUNK_SIZE + limits.chunk_extension_bytes + 2
        self._chunks = 0
        self._left = 0  # bytes of this chunk still to come, its closing CRLF included
        self._trailer_bytes: int | None = None  # None until the last chunk

    @property
    def received(self) -> int:
        return len(self.body)

    def take(self, buffer: bytearray) -> bool:
        """Move what `buffer` holds of this body out of it; True when the body is whole."""
        at = 0
        try:
            while self._trailer_bytes is None:
                if self._left:
                    at += self._take_data(buffer, at)
                    if self._left:
                        return False
                if (end := self._line_end(buffer, at, self._longest_line)) < 0:
                    return False
                self._start_chunk(bytes(buffer[at:end]))
                at = end + 2
            while (end := self._line_end(buffer, at, self._limits.line_bytes)) >= 0:
                line, at = bytes(buffer[at:end]), end + 2
                if not line:
                    return True
                self._drop_trailer(line)
            return False
        finally:
            del buffer[:at]

    def _take_data(self, buffer: bytearray, at: int) -> int:
        data = buffer[at : at + max(0, self._left - 2)]
        self.body += data
        self._left -= len(data)
        if self._left > 2 or len(buffer) < at + len(data) + 2:
            return len(data)
        if not buffer.startswith(b"\r\n", at + len(data)):
            raise Refused(400, "A chunk is longer than it says.")
        self._left = 0
        return len(data) + 2

    def _line_end(self, buffer: bytearray, at: int, longest: int) -> int:
        end = buffer.find(b"\r\n", at, at + longest)
        if end < 0 and len(buffer) - at >= longest:
            raise Refused(400, "A chunk's size, its extension or a trailer is too long.")
        return end

    def _start_chunk(self, line: bytes) -> None:
        match = CHUNK.fullmatch(line)
        if not match or len(match[2] or b"") > self._limits.chunk_extension_bytes:
            raise Refused(400, "A chunk's size is malformed.")
        size = int(match[1], 16)
        self._chunks += 1
        if len(self.body) + size > self._limits.body_bytes or self._chunks > self._limits.chunks:
            raise too_large(self._limits)
        if size:
            self._left = size + 2
        else:
            self._trailer_bytes = 0

    def _drop_trailer(self, line: bytes) -> None:
        self._trailer_bytes = (self._trailer_bytes or 0) + len(line) + 2
        if not TRAILER.fullmatch(line):
            raise Refused(400, "A trailer is malformed.")
        if self._trailer_bytes > self._limits.header_bytes:
            raise Refused(431, "The trailers of the request are too large.")
