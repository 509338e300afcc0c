"""The reader without a socket: what it says does not depend on how the bytes were cut on their way."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.aws.http import HttpRequest
from penstock.listeners.http_framing import RequestReader
from penstock.listeners.http_likeness import Shared
from penstock.listeners.http_limits import HttpLimits, Refused

from .test_http_hardening import AMBIGUOUS, CHUNKED, mutated
from .wire import request

WELL_FORMED = [
    request(b"hello", b"X-A: b", b"x-a: c"),
    request(method=b"GET", target=b"/?a=b"),
    CHUNKED + b"5;x=y\r\nhello\r\n3\r\nyou\r\n0\r\nX: y\r\n\r\n",
    b"\r\n" + request(b"after an empty line"),
]


def read(pieces: list[bytes]) -> list[HttpRequest | int]:
    """The requests in these bytes, and the status of the refusal that ends them, if any."""
    reader, read = RequestReader(HttpLimits(), Shared(), "peer"), list[HttpRequest | int]()
    try:
        for piece in pieces:
            reader.buffer += piece
            while (request := reader.next()) is not None:
                request.remember = None  # an offer, and no part of what was read
                read.append(request)
    except Refused as refused:
        read.append(refused.status)
    return read


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


PLACES = st.lists(st.integers(0, 10_000), max_size=12)


@given(st.lists(st.sampled_from(WELL_FORMED), max_size=5), PLACES)
def test_well_formed_requests_are_the_same_however_they_are_cut(requests: list[bytes], places: list[int]) -> None:
    whole = read([b"".join(requests)])
    assert len(whole) == len(requests)
    assert read(cut(b"".join(requests), places)) == whole


@settings(max_examples=300)
@given(st.lists(st.one_of(st.sampled_from([*WELL_FORMED, *AMBIGUOUS.values()]), mutated()), max_size=3), PLACES)
@example([b"\r\n\r\n"], [2])
def test_the_others_are_refused_after_the_same_requests_however_they_are_cut(
    requests: list[bytes], places: list[int]
) -> None:
    data = b"".join(requests)
    whole, pieces = read([data]), read(cut(data, places))
    assert [one for one in pieces if isinstance(one, HttpRequest)] == [
        one for one in whole if isinstance(one, HttpRequest)
    ]
    assert len(pieces) == len(whole)


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    read([data])


@given(st.binary(max_size=5_000), st.lists(st.integers(1, 999), min_size=1, max_size=20), PLACES)
def test_a_body_is_the_same_in_any_chunks(body: bytes, sizes: list[int], places: list[int]) -> None:
    encoded, at = CHUNKED, 0
    for size in sizes:
        piece = body[at : at + size]
        at += size
        if piece:
            encoded += b"%x\r\n%b\r\n" % (len(piece), piece)
    encoded += b"0\r\n\r\n"
    (only,) = read(cut(encoded, places))
    assert isinstance(only, HttpRequest)
    assert only.body == body[:at]


def test_a_head_cut_short_costs_nothing_but_its_bytes() -> None:
    reader = RequestReader(HttpLimits(), Shared())
    reader.buffer += request(b"hello")[:-6]
    assert reader.next() is None
    assert not reader.in_body
    reader.buffer += b"\n"
    assert reader.next() is None
    assert (reader.in_body, reader.body_received) == (True, 0)
