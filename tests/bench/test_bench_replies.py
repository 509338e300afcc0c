"""Where replies end, however a server frames them and however the network cuts them."""

import pytest

from penstock.bench.replies import Reply, reply_in

BODY = b'{"MessageId":"1"}'
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n" + BODY
CHUNKED = b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"Message\r\n8;note=1\r\nId":"1"}\r\n0\r\n\r\n'

FRAMINGS = {
    "a length": (PLAIN, False),
    "a length in lower case": (PLAIN.replace(b"Content-Length", b"content-length"), False),
    "a length in capitals and spaces": (PLAIN.replace(b"Content-Length: 17", b"CONTENT-LENGTH:  17 "), False),
    "a length first of all": (b"HTTP/1.1 200 OK\r\nContent-Length: 17\r\nDate: x\r\n\r\n" + BODY, False),
    "chunks": (CHUNKED, False),
    "a close that is announced": (PLAIN.replace(b"Content-Type", b"Connection: close\r\nContent-Type"), True),
    "a connection that stays": (PLAIN.replace(b"Content-Type", b"Connection: keep-alive\r\nContent-Type"), False),
    "an old version": (PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"), True),
    "an old version that stays": (
        PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"Content-Type", b"Connection: Keep-Alive\r\nContent-Type"),
        False,
    ),
}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_whole_reply_is_read_however_it_is_framed(framing: str) -> None:
    data, closes = FRAMINGS[framing]
    assert reply_in(data) == Reply(200, BODY, closes)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_no_piece_of_a_reply_is_taken_for_the_whole(framing: str) -> None:
    data, _ = FRAMINGS[framing]
    assert [size for size in range(len(data)) if reply_in(data[:size]) is not None] == []


def test_a_reply_without_a_length_ends_with_the_connection() -> None:
    data = b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n<a/>"
    assert reply_in(data) is None
    assert reply_in(data, ended=True) == Reply(200, b"<a/>", True)


def test_an_empty_reply_has_no_body() -> None:
    assert reply_in(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") == Reply(200, b"", False)
    assert reply_in(b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n") == Reply(204, b"", False)
