"""What a client meets that is broken, slow, greedy or hostile."""

import asyncio
import resource
import socket

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from penstock.core.neighbourhood import neighbourhood_of
from penstock.listeners.http import HttpLimits

from .wire import PATIENCE, Parked, Serve, request, run, until

START = b"POST / HTTP/1.1\r\nHost: here\r\n"
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"

AMBIGUOUS = {
    "both lengths": START + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths, the other way": START + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": START + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "two lengths in one": START + b"Content-Length: 5, 5\r\n\r\nhello",
    "a signed length": START + b"Content-Length: +5\r\n\r\nhello",
    "a negative length": START + b"Content-Length: -5\r\n\r\n",
    "a hexadecimal length": START + b"Content-Length: 0x5\r\n\r\nhello",
    "a length with a space in it": START + b"Content-Length: 1 2\r\n\r\n",
    "no length after all": START + b"Content-Length:\r\n\r\n",
    "a length beyond 64 bits": START + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "a length of 5000 digits": START + b"Content-Length: " + b"0" * 5000 + b"5\r\n\r\nhello",
    "another coding": START + b"Transfer-Encoding: gzip\r\n\r\n",
    "two codings": START + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": START + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked twice in one": START + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunked first": START + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "nearly chunked": START + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked behind a tab": START + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare line feed after the request line": b"GET / HTTP/1.1\nHost: here\r\n\r\n",
    "a bare line feed after a header": b"GET / HTTP/1.1\r\nHost: here\nX: y\r\n\r\n",
    "bare line feeds only": b"GET / HTTP/1.1\nHost: here\n\n",
    "a bare line feed at the end of the head": b"GET / HTTP/1.1\r\nHost: here\r\n\n",
    "a bare line feed at the start": b"\nGET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a bare carriage return": START + b"X: a\rb\r\n\r\n",
    "a folded header": START + b"X: a\r\n b\r\n\r\n",
    "a folded first header": b"GET / HTTP/1.1\r\n Host: here\r\n\r\n",
    "a space before the colon": START + b"Content-Length : 5\r\n\r\nhello",
    "a header without a colon": START + b"X\r\n\r\n",
    "a header without a name": START + b": x\r\n\r\n",
    "a name that is no token": START + b"X(y): z\r\n\r\n",
    "a NUL in a value": START + b"X: a\0b\r\n\r\n",
    "a NUL in a name": START + b"X\0: a\r\n\r\n",
    "a control character": START + b"X: a\x01b\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": START + b"Host: there\r\n\r\n",
    "two authorizations": START + b"Authorization: a\r\nauthorization: b\r\n\r\n",
    "two dates": START + b"X-Amz-Date: a\r\nX-AMZ-DATE: a\r\n\r\n",
    "a chunk size that is no number": CHUNKED + b"zz\r\n",
    "a chunk size with a sign": CHUNKED + b"+5\r\nhello\r\n",
    "a chunk size with an underscore": CHUNKED + b"0_5\r\nhello\r\n",
    "a chunk size with a prefix": CHUNKED + b"0x5\r\nhello\r\n",
    "a chunk size of nine digits": CHUNKED + b"000000005\r\nhello\r\n",
    "an empty chunk size": CHUNKED + b"\r\n",
    "a chunk that is longer than it says": CHUNKED + b"5\r\nhello!\r\n0\r\n\r\n",
    "a chunk ended by a bare line feed": CHUNKED + b"5\r\nhello\n0\r\n\r\n",
    "a chunk size ended by a bare line feed": CHUNKED + b"5\nhello\r\n0\r\n\r\n",
    "a line feed in a chunk extension": CHUNKED + b"5;a\nb\r\nhello\r\n0\r\n\r\n",
    "a long chunk extension": CHUNKED + b"5;" + b"a" * 64 + b"\r\nhello\r\n0\r\n\r\n",
    "an endless chunk extension": CHUNKED + b"5;" + b"a" * 200,
    "a trailer that is no header": CHUNKED + b"0\r\nGET / HTTP/1.1\r\n\r\n",
    "a folded trailer": CHUNKED + b"0\r\nX: a\r\n b\r\n\r\n",
    "two spaces in the request line": b"GET  / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a space in the target": b"GET / a HTTP/1.1\r\nHost: here\r\n\r\n",
    "a control character in the target": b"GET /\x01 HTTP/1.1\r\nHost: here\r\n\r\n",
    "a method that is no token": b"G@T / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a method too long": b"G" * 33,
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\nHost: here\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "RTSP": b"OPTIONS / RTSP/1.0\r\n\r\n",
    "TLS on a plain port": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a websocket": START + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
}


@pytest.mark.parametrize("sent", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
async def test_what_is_malformed_gets_one_400_and_nothing_behind_it_is_read(serve: Serve, sent: bytes) -> None:
    parked = Parked()
    parked.gate.set()
    server = await serve(parked)
    wire = await server.open()
    assert await wire.refused(sent + b"GET /smuggled HTTP/1.1\r\nHost: here\r\n\r\n") == 400
    assert parked.targets == []


async def test_a_request_to_connect_elsewhere_is_refused(serve: Serve) -> None:
    wire = await (await serve()).open()
    assert await wire.refused(b"CONNECT db:5432 HTTP/1.1\r\nHost: db:5432\r\n\r\n") == 405


@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"br", b"identity, gzip", b"aws-chunked"])
async def test_compressed_bodies_are_refused(serve: Serve, coding: bytes) -> None:
    wire = await (await serve()).open()
    assert await wire.refused(request(b"x", b"Content-Encoding: " + coding)) == 415


async def test_the_identity_coding_is_none(serve: Serve) -> None:
    wire = await (await serve()).open()
    assert (await wire.ask(request(b"x", b"Content-Encoding: Identity"))).body == b"x"


LIMITS = HttpLimits(body_bytes=100, header_bytes=400, line_bytes=200, header_count=8, chunks=4, chunk_extension_bytes=8)
OVERSIZED = {
    "a length over the cap, before a byte of it came": (413, START + b"Content-Length: 101\r\n\r\n"),
    "chunks over the cap together": (413, CHUNKED + b"40\r\n" + b"x" * 64 + b"\r\n40\r\n"),
    "a chunk over the cap, before a byte of it came": (413, CHUNKED + b"ffffffff\r\n"),
    "too many chunks": (413, CHUNKED + b"1\r\nx\r\n" * 5),
    "a long request line": (414, b"GET /" + b"a" * 200 + b" HTTP/1.1\r\nHost: here\r\n\r\n"),
    "an endless request line": (414, b"GET /" + b"a" * 300),
    "a long header": (431, START + b"X: " + b"a" * 200 + b"\r\n\r\n"),
    "an endless header": (431, START + b"X: " + b"a" * 300),
    "large headers together": (431, START + b"".join(b"X%d: %s\r\n" % (n, b"a" * 100) for n in range(4)) + b"\r\n"),
    "many headers": (431, START + b"".join(b"X%d:\r\n" % n for n in range(8)) + b"\r\n"),
    "many larger headers": (431, START + b"".join(b"X%d: %s\r\n" % (n, b"a" * 20) for n in range(8)) + b"\r\n"),
    "large trailers": (431, CHUNKED + b"0\r\n" + b"X: aaaaaaaaaaaaaaaaaa\r\n" * 20),
}


@pytest.mark.parametrize(("status", "sent"), OVERSIZED.values(), ids=OVERSIZED.keys())
async def test_what_is_too_large_is_refused_as_soon_as_it_is_known(serve: Serve, status: int, sent: bytes) -> None:
    wire = await (await serve(limits=LIMITS)).open()
    assert await wire.refused(sent) == status


async def test_what_is_just_small_enough_is_served(serve: Serve) -> None:
    wire = await (await serve(limits=LIMITS)).open()
    assert (await wire.ask(request(b"x" * 100))).status == 200
    assert (
        await wire.ask(CHUNKED + b"32;1234567\r\n" + b"x" * 50 + b"\r\n32\r\n" + b"y" * 50 + b"\r\n0\r\n\r\n")
    ).status == 200
    assert (await wire.ask(START + b"".join(b"X%d:\r\n" % n for n in range(7)) + b"\r\n")).status == 200
    assert (await wire.ask(b"GET /" + b"a" * 186 + b" HTTP/1.1\r\nHost: here\r\n\r\n")).status == 200
    assert (await wire.ask(START + b"X: " + b"a" * 197 + b"\r\n\r\n")).status == 200


async def test_a_client_that_keeps_sending_a_refused_body_still_reads_why(serve: Serve) -> None:
    wire = await (await serve()).open()
    body = b"x" * 5_000_000
    sending = asyncio.create_task(wire.send(request(body)))
    reply = await wire.reply()
    assert reply.status == 413
    await asyncio.wait_for(sending, PATIENCE)


async def test_a_refused_client_that_never_closes_is_cut_off(serve: Serve) -> None:
    server = await serve(limits=HttpLimits(linger_seconds=0.05))
    wire = await server.open()
    await wire.refused(b"rubbish\r\n")
    await until(lambda: server.connections[-1] == 0)


@pytest.mark.parametrize("sent", [b"P", b"POST / HTTP/1.1\r\nHost:", request()[:-1]])
async def test_a_head_that_takes_too_long_is_a_408(serve: Serve, sent: bytes) -> None:
    wire = await (await serve(limits=HttpLimits(header_seconds=0.05))).open()
    assert await wire.refused(sent) == 408


async def test_a_head_that_drips_is_a_408_all_the_same(serve: Serve) -> None:
    wire = await (await serve(limits=HttpLimits(header_seconds=0.1))).open()

    async def drip() -> None:
        for byte in START * 1000:
            wire.writer.write(bytes((byte,)))
            await asyncio.sleep(0.01)

    dripping = asyncio.create_task(drip())
    assert (await wire.reply()).status == 408
    dripping.cancel()


async def test_a_client_that_never_says_a_word_is_let_go_in_silence(serve: Serve) -> None:
    wire = await (await serve(limits=HttpLimits(header_seconds=0.05))).open()
    assert await wire.rest() == b""


async def test_empty_lines_do_not_keep_a_connection_open(serve: Serve) -> None:
    server = await serve(limits=HttpLimits(header_seconds=0.1))
    wire = await server.open()

    async def knock() -> None:
        while True:
            wire.writer.write(b"\r\n")
            await asyncio.sleep(0.01)

    knocking = asyncio.create_task(knock())
    await until(lambda: server.connections[-1:] == [0])
    knocking.cancel()


@pytest.mark.parametrize("head", [START + b"Content-Length: 100\r\n\r\n", CHUNKED + b"64\r\n"])
async def test_a_body_that_comes_too_slowly_is_a_408(serve: Serve, head: bytes) -> None:
    wire = await (await serve(limits=HttpLimits(body_grace_seconds=0.05))).open()
    assert await wire.refused(head + b"x") == 408


async def test_a_body_that_starts_fast_and_then_stops_is_a_408_too(serve: Serve) -> None:
    limits = HttpLimits(body_grace_seconds=0.1, body_floor_bytes_per_second=1000)
    wire = await (await serve(limits=limits)).open()
    assert await wire.refused(START + b"Content-Length: 1000000\r\n\r\n" + b"x" * 999_999) == 408


async def test_a_body_that_comes_at_a_fair_pace_may_take_its_time(serve: Serve) -> None:
    limits = HttpLimits(body_grace_seconds=0.05, body_floor_bytes_per_second=1000)
    wire = await (await serve(limits=limits)).open()
    sent = request(b"x" * 20_000)
    for start in range(0, len(sent), 1000):
        await wire.send(sent[start : start + 1000])
        await asyncio.sleep(0.01)
    assert (await wire.reply()).status == 200


async def test_an_idle_connection_is_closed_in_silence(serve: Serve) -> None:
    wire = await (await serve(limits=HttpLimits(idle_seconds=0.05))).open()
    assert (await wire.ask(request())).status == 200
    assert await wire.rest() == b""


async def test_a_request_may_run_longer_than_every_deadline(serve: Serve) -> None:
    parked = Parked()
    limits = HttpLimits(header_seconds=0.02, body_grace_seconds=0.02, idle_seconds=0.02, write_seconds=0.02)
    wire = await (await serve(parked, limits)).open()
    await wire.send(request())
    await asyncio.sleep(0.1)
    parked.gate.set()
    assert (await wire.reply()).status == 200


@pytest.mark.parametrize("limits", [HttpLimits(connections_per_address=2), HttpLimits(connections=2)])
async def test_one_connection_too_many_is_turned_away_until_another_leaves(serve: Serve, limits: HttpLimits) -> None:
    server = await serve(limits=limits)
    first, second = await server.open(), await server.open()
    assert (await first.ask(request())).status == (await second.ask(request())).status == 200
    third = await server.open()
    assert (await third.reply()).status == 503
    assert await third.rest() == b""
    await first.close()
    await until(lambda: server.connections[-1] == 1)
    assert (await (await server.open()).ask(request())).status == 200
    assert (await second.ask(request())).status == 200
    assert max(server.connections) == 2


async def test_a_server_without_descriptors_takes_the_next_client_when_it_has_some_again(serve: Serve) -> None:
    server = await serve(limits=HttpLimits(header_seconds=0.1))
    client = socket.socket()
    client.setblocking(False)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with capture_logs() as logs:
        resource.setrlimit(resource.RLIMIT_NOFILE, (client.fileno() + 1, hard))
        try:
            await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", server.listener.port))
            await until(lambda: logs)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert logs[0]["event"] == "http.accept_failed"
    wire = await server.open(sock=client)
    assert (await wire.ask(request(b"hello"))).body == b"hello"


def test_an_ipv6_client_is_counted_by_its_network() -> None:
    assert neighbourhood_of("2001:db8:1:2::3") == neighbourhood_of("2001:db8:1:2:ffff::4")
    assert neighbourhood_of("2001:db8:1:2::3") != neighbourhood_of("2001:db8:1:3::3")
    assert neighbourhood_of("fe80::1%eth0") == neighbourhood_of("fe80::2")
    assert neighbourhood_of("192.0.2.1") != neighbourhood_of("192.0.2.2")


SEEDS = [
    request(b'{"QueueName":"a"}', b"Authorization: x"),
    CHUNKED + b"5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    *AMBIGUOUS.values(),
]
TINY = HttpLimits(header_seconds=0.1, body_grace_seconds=0.1, idle_seconds=0.1, linger_seconds=0.1)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SEEDS)))
    pieces = st.one_of(
        st.binary(max_size=8), st.sampled_from([b"\r\n", b"\n", b"\r\n\r\n", b":", b" ", b"\0", b"0", b";"])
    )
    for _ in range(draw(st.integers(0, 4))):
        at, until_ = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))  # type: ignore[call-overload]
        data[at : min(until_, at + 8)] = draw(pieces)
    return bytes(data)


@pytest.mark.parametrize("data", [st.binary(max_size=400), mutated()], ids=["random bytes", "mutated requests"])
def test_whatever_is_sent_is_answered_or_closed_and_never_a_traceback(data: st.SearchStrategy[bytes]) -> None:
    """Forty clients at a time, so that those who wait for a deadline wait together."""
    complaints: list[object] = []

    async def one(port: int, sent: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(sent)
            async with asyncio.timeout(PATIENCE):
                received = await reader.read()
            assert received == b"" or received.startswith(b"HTTP/1.1 ")
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.get_loop().set_exception_handler(lambda _, context: complaints.append(context))
        server = runner.run(run(limits=TINY))

        async def all_of(batch: list[bytes]) -> None:
            await asyncio.gather(*(one(server.listener.port, sent) for sent in batch))

        @settings(max_examples=15, deadline=None)
        @given(st.lists(data, min_size=40, max_size=40))
        def fuzz(batch: list[bytes]) -> None:
            runner.run(all_of(batch))

        fuzz()
        runner.run(server.close())
    assert complaints == []
