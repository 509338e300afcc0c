"""A head that is known by its likeness is read as it would be by a reader that knows none, whatever was done to it."""

import gc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.aws.http import HttpRequest
from penstock.listeners.http_framing import RequestReader
from penstock.listeners.http_likeness import MOST_OF_A_SIZE, MOST_SIZES, Shared
from penstock.listeners.http_limits import HttpLimits, Refused

LIMITS = HttpLimits(body_bytes=99)
UUID = b"0f1e2d3c-4b5a-4697-8877-665544332211"
BODY = b'{"QueueUrl":"/1/q"}'


def head(
    date: bytes = b"20261116T101112Z", signature: bytes = b"a" * 64, length: bytes = b"19", target: bytes = b"Send"
) -> bytes:
    """As botocore writes it, but for the length of things."""
    lines = (
        b"POST /?a=b HTTP/1.1",
        b"Host: here:9324",
        b"X-Amz-Target: AmazonSQS." + target,
        b"Content-Type:  application/x-amz-json-1.0 ",
        b"X-Amz-Date: " + date,
        b"amz-sdk-invocation-id:\t" + UUID,
        b"X-Amz-Content-Sha256: " + b"0" * 64,
        b"Authorization: AWS4-HMAC-SHA256 Credential=K/20261116/r/sqs/aws4_request, SignedHeaders=host, Signature="
        + signature,
        b"Content-Length: " + length,
    )
    return b"\r\n".join(lines) + b"\r\n\r\n"


HEAD = head()
ADDED = {
    "another length": b"Content-Length: 19",
    "chunks": b"Transfer-Encoding: chunked",
    "an expectation": b"Expect: 100-continue",
    "a farewell": b"Connection: close",
    "another date": b"X-Amz-Date: 20261116T101112Z",
    "another host": b"Host: there",
    "an unknown one": b"X-A: b",
    "a folded line": b" and more",
    "a name without a value": b"X-A",
}


def taught(*heads: bytes, shared: Shared | None = None) -> RequestReader:
    """A reader that has met each of these as often as it takes to remember it."""
    reader = RequestReader(LIMITS, Shared() if shared is None else shared, "peer")
    for one in heads:
        met = next(met for _ in range(99) if (met := reader.whole(one + BODY)) and met.remember)
        met.remember(met, "lesson")
    return reader


def seen(request: HttpRequest | None, reader: RequestReader) -> object:
    """All that whoever gets the request can see of its head, the order of headers included."""
    return request and (request.method, request.target, list(request.headers.items()), request.body, reader.keep_alive)


def told(reader: RequestReader, data: bytes) -> object:
    """What a reader says of these bytes if they come at once."""
    return seen(reader.whole(data), reader)


def told_of_two(reader: RequestReader, data: bytes) -> list[object]:
    """What it says if the body comes after the head, as many send it."""
    said: list[object] = []
    end = data.find(b"\r\n\r\n") + 4
    try:
        for piece in (data[:end], data[end:]):
            reader.buffer += piece
            while request := reader.next():
                said.append(seen(request, reader))
            said.append((reader.in_body, reader.wants_continue, len(reader.buffer)))
    except Refused as refused:
        said.append(refused.status)
    return said


def lesson_with(reader: RequestReader, data: bytes) -> object:
    request = reader.whole(data)
    return request and request.lesson


def the_same(data: bytes) -> bool:
    return all(
        tell(taught(HEAD), data) == tell(RequestReader(LIMITS, Shared(), "peer"), data) for tell in (told, told_of_two)
    )


def test_a_head_with_other_values_is_known_and_read_as_it_is() -> None:
    other, body = head(b"20261117T000000Z", b"0123456789abcdef" * 4, b"05"), b"{   }"
    assert the_same(other + body)
    exact = head(b"20261117T000000Z", b"0123456789abcdef" * 4, b"12") + b'{"Other": 1}'
    assert the_same(exact)
    assert lesson_with(taught(HEAD), exact) == "lesson"


def test_a_head_is_known_also_if_its_body_comes_later_and_learnt_of_such() -> None:
    reader, lessons = RequestReader(LIMITS, Shared(), "peer"), []
    for body in (b"first", b"second", b"third", b"fourth"):
        reader.buffer += head(length=b"%02d" % len(body))
        assert reader.next() is None
        reader.buffer += body
        request = reader.next()
        assert request is not None
        assert request.body == body
        lessons.append(request.lesson)
        if request.remember is not None:
            request.remember(request, "lesson")
    assert lessons == [None, None, "lesson", "lesson"]
    assert lesson_with(reader, HEAD + BODY) == "lesson"


@settings(max_examples=500)
@given(st.integers(0, len(HEAD) - 1), st.binary(max_size=3), st.integers(0, 3))
@example(HEAD.find(b"20261116T"), b"\r\n ", 3)
@example(HEAD.find(b"\r\nX-Amz-Date"), b"\n", 2)
def test_a_head_that_was_changed_anywhere_is_read_as_if_none_were_known(at: int, put: bytes, dropped: int) -> None:
    assert the_same(HEAD[:at] + put + HEAD[at + dropped :] + BODY)


@pytest.mark.parametrize("byte", range(256))
def test_every_byte_is_the_same_in_every_value_that_varies(byte: int) -> None:
    for value in (b"20261116T", UUID, b"0" * 64, b"a" * 64, b"19\r\n"):
        at = HEAD.find(value) + 1
        assert the_same(HEAD[:at] + bytes([byte]) + HEAD[at + 1 :] + BODY)


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("at", [1, 5, 9])
def test_a_line_more_is_not_overlooked(name: str, at: int) -> None:
    lines = HEAD.split(b"\r\n")
    data = b"\r\n".join([*lines[:at], ADDED[name], *lines[at:]]) + BODY
    assert the_same(data)
    assert lesson_with(taught(HEAD), data) is None


@pytest.mark.parametrize("data", [HEAD + BODY + b"x", HEAD + BODY[:-1], HEAD + BODY + HEAD + BODY, HEAD])
def test_bytes_that_are_not_the_head_and_its_body_are_left_to_others(data: bytes) -> None:
    assert taught(HEAD).whole(data) is None


def test_a_body_over_the_limit_is_left_to_others() -> None:
    three = head(length=b"019")
    assert taught(three).whole(head(length=b"100") + b"x" * 100) is None
    assert told_of_two(taught(three), head(length=b"100") + b"x" * 100) == [413]


def test_heads_of_one_length_are_known_beside_each_other() -> None:
    reader = taught(head(target=b"Send"), head(target=b"Read"))
    for target in (b"Send", b"Read"):
        assert lesson_with(reader, head(target=target) + BODY) == "lesson"
    assert lesson_with(reader, head(target=b"Drop") + BODY) is None


def test_nothing_is_remembered_of_a_head_that_the_handler_did_not_ask_for() -> None:
    reader = RequestReader(LIMITS, shared := Shared(), "peer")
    for _ in range(50):
        assert lesson_with(reader, HEAD + BODY) is None
    assert not shared


def test_a_head_that_comes_once_is_not_offered() -> None:
    first, second = (taught().whole(HEAD + BODY) for _ in range(2))
    assert (first and first.remember, second and second.remember) == (None, None)


def test_what_connections_know_alike_is_kept_once_and_goes_with_the_last_of_them() -> None:
    shared = Shared()
    first, second = taught(HEAD, shared=shared), taught(HEAD, shared=shared)
    assert len(shared) == 1
    del first
    gc.collect()
    assert len(shared) == 1
    del second
    gc.collect()
    assert len(shared) == 0


def test_what_a_connection_can_make_us_keep_is_bounded() -> None:
    heads = [head(target=b"x" * length + letter) for length in range(40) for letter in (b"a", b"b", b"c", b"d", b"e")]
    reader = taught(*heads, shared=(shared := Shared()))
    assert 0 < len(shared) <= MOST_SIZES * MOST_OF_A_SIZE
    assert reader.whole(heads[-1] + BODY)


def test_a_request_that_offers_to_be_remembered_does_not_hold_itself() -> None:
    reader = RequestReader(LIMITS, Shared(), "peer")
    reader.whole(HEAD + BODY)
    offered = reader.whole(HEAD + BODY)
    assert isinstance(offered, HttpRequest)
    assert offered.remember is not None
    assert offered not in gc.get_referents(offered.remember)
