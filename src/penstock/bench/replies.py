"""Where one HTTP reply ends. Knows nothing of what is in it."""

from typing import NamedTuple

END_OF_HEAD = b"\r\n\r\n"


class Reply(NamedTuple):
    status: int
    body: bytes
    closes: bool


def reply_in(data: bytes, *, ended: bool = False) -> Reply | None:
    """The one reply that `data` begins and ends with, or None while more is to come. `ended`: nothing more will come.

    The quick way is for what most servers send: a length, spelled one of two ways.
    """
    head_end = data.find(END_OF_HEAD)
    if head_end < 0:
        return None
    at = data.find(b"\nContent-Length: ", 0, head_end)
    if at < 0:
        at = data.find(b"\ncontent-length: ", 0, head_end)
    if at < 0 or data[5:8] != b"1.1" or data.find(b"onnection: close", 0, head_end) > 0:
        return _read_carefully(data, head_end, ended)
    body = head_end + 4
    if len(data) - body < int(data[at + 17 : data.index(b"\r", at)]):
        return None
    return Reply(int(data[9:12]), data[body:], False)


def _read_carefully(data: bytes, head_end: int, ended: bool) -> Reply | None:
    lines = data[:head_end].split(b"\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
    status = int(lines[0][9:12])
    connection = headers.get(b"connection", b"").lower()
    closes = b"close" in connection or (lines[0].startswith(b"HTTP/1.0") and b"keep-alive" not in connection)
    body = data[head_end + 4 :]
    if b"chunked" in headers.get(b"transfer-encoding", b"").lower():
        whole = _unchunked(body)
        return None if whole is None else Reply(status, whole, closes)
    if b"content-length" in headers:
        return Reply(status, body, closes) if len(body) >= int(headers[b"content-length"]) else None
    if status == 204:
        return Reply(status, b"", closes)
    return Reply(status, body, True) if ended else None


def _unchunked(data: bytes) -> bytes | None:
    parts: list[bytes] = []
    at = 0
    while (line_end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:line_end].split(b";")[0], 16)
        at = line_end + 2
        if size == 0:
            return b"".join(parts) if data.find(b"\r\n", at) >= 0 else None
        if len(data) < at + size + 2:
            return None
        parts.append(data[at : at + size])
        at += size + 2
    return None
