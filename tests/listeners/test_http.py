"""What a well-behaved client meets."""

import asyncio
import errno
import gc
import socket
import struct
from email.utils import parsedate_to_datetime

import pytest
from structlog.testing import capture_logs

from penstock.aws.http import HttpRequest, HttpResponse
from penstock.listeners.http import HttpLimits, HttpListener, sweep_period

from .wire import Parked, Serve, echo, request, until


async def test_a_request_reaches_the_handler_as_it_was_sent(serve: Serve) -> None:
    seen: list[HttpRequest] = []

    async def handler(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse(200)

    wire = await (await serve(handler)).open()
    sent = request(b'{"a":1}', b"X-Twice:  one \t", b"x-twice: two", b"X-Empty:", target=b"/a%2fb/../c?x=%20&y=")
    assert (await wire.ask(sent)).status == 200
    assert seen == [
        HttpRequest(
            "POST",
            b"/a%2fb/../c?x=%20&y=",
            {b"host": b"here", b"content-length": b"7", b"x-twice": b"one,two", b"x-empty": b""},
            b'{"a":1}',
            "127.0.0.1",
            False,
        )
    ]


async def test_a_reply_has_its_headers_its_length_and_the_date(serve: Serve) -> None:
    wire = await (await serve()).open()
    reply = await wire.ask(request(b"hello"))
    assert (reply.status, reply.body) == (200, b"hello")
    assert set(reply.headers) == {b"content-type", b"content-length", b"date"}
    assert parsedate_to_datetime(reply.headers[b"date"].decode()).tzinfo is not None


async def test_a_connection_serves_one_request_after_another(serve: Serve) -> None:
    server = await serve()
    wire = await server.open()
    for number in range(5):
        assert (await wire.ask(request(b"%d" % number))).body == b"%d" % number
    assert server.connections == [1]


@pytest.mark.parametrize(
    "sent",
    [
        request(b"", b"Connection: close"),
        request(b"", b"Connection: TE, Close"),
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    ],
)
async def test_the_connection_closes_when_the_client_says_so_or_is_of_http_1_0(serve: Serve, sent: bytes) -> None:
    wire = await (await serve()).open()
    reply = await wire.ask(sent)
    assert (reply.status, reply.headers[b"connection"]) == (200, b"close")
    assert await wire.rest() == b""


async def test_the_connection_closes_when_the_handler_says_so(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(403, b"no", close=True)

    wire = await (await serve(handler)).open()
    assert await wire.refused(request()) == 403


async def test_pipelined_requests_are_answered_in_order_and_one_at_a_time(serve: Serve) -> None:
    running: list[bytes] = []

    async def handler(request: HttpRequest) -> HttpResponse:
        running.append(request.body)
        assert len(running) == 1
        await asyncio.sleep(0.01 if request.body == b"0" else 0)
        running.pop()
        return HttpResponse(200, request.body)

    wire = await (await serve(handler)).open()
    await wire.send(b"".join(request(b"%d" % number) for number in range(20)))
    assert [(await wire.reply()).body for _ in range(20)] == [b"%d" % number for number in range(20)]


async def test_a_request_that_arrives_byte_by_byte_is_whole(serve: Serve) -> None:
    wire = await (await serve()).open()
    for byte in request(b"hello", b"X-Header: value", target=b"/a/long/target"):
        await wire.send(bytes((byte,)))
        await asyncio.sleep(0)
    assert (await wire.reply()).body == b"hello"


async def test_a_large_body_arrives_whole(serve: Serve) -> None:
    wire = await (await serve()).open()
    body = bytes(range(256)) * 16 * 1024
    assert len(body) == HttpLimits().body_bytes
    assert (await wire.ask(request(body))).body == body


async def test_a_chunked_body_is_decoded_and_its_extensions_and_trailers_are_dropped(serve: Serve) -> None:
    seen: list[HttpRequest] = []

    async def handler(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return await echo(request)

    wire = await (await serve(handler)).open()
    head = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: Chunked\r\n\r\n"
    body = b'5;a="b"\r\nhello\r\n00006 ; x\r\n world\r\n0\r\nHost: elsewhere\r\nX-Trailer: y\r\n\r\n'
    assert (await wire.ask(head + body)).body == b"hello world"
    assert (await wire.ask(request(b"next"))).body == b"next"
    assert [set(one.headers) for one in seen] == [{b"host", b"transfer-encoding"}, {b"host", b"content-length"}]
    assert seen[0].headers[b"host"] == b"here"


async def test_a_client_that_waits_for_100_is_told_to_go_on(serve: Serve) -> None:
    wire = await (await serve()).open()
    sent = request(b"hello", b"Expect: 100-Continue")
    await wire.send(sent[:-5])
    assert (await wire.head()).status == 100
    assert (await wire.ask(sent[-5:])).body == b"hello"


async def test_a_client_that_did_not_wait_for_100_gets_none(serve: Serve) -> None:
    wire = await (await serve()).open()
    assert (await wire.ask(request(b"hello", b"Expect: 100-continue"))).status == 200


async def test_a_request_that_will_be_refused_is_not_asked_for(serve: Serve) -> None:
    wire = await (await serve(limits=HttpLimits(body_bytes=4))).open()
    assert await wire.refused(request(b"hello", b"Expect: 100-continue")[:-5]) == 413


async def test_any_other_expectation_fails(serve: Serve) -> None:
    wire = await (await serve()).open()
    assert await wire.refused(request(b"", b"Expect: a-pony")) == 417


async def test_an_expectation_of_http_1_0_is_ignored(serve: Serve) -> None:
    wire = await (await serve()).open()
    await wire.send(b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert (await wire.ask(b"ok")).body == b"ok"


async def test_head_is_answered_without_a_body(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"12345")

    wire = await (await serve(handler)).open()
    await wire.send(request(method=b"HEAD") + request())
    assert (await wire.head()).headers[b"content-length"] == b"5"
    assert (await wire.reply()).body == b"12345"


async def test_a_reply_without_content_has_no_length(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(204)

    wire = await (await serve(handler)).open()
    for _ in range(2):
        reply = await wire.ask(request(method=b"OPTIONS", target=b"*"))
        assert (reply.status, b"content-length" in reply.headers) == (204, False)


@pytest.mark.parametrize("method", [b"GET", b"DELETE", b"SOURCE", b"PRI", b"post", b"BREW", b"X-Y.Z"])
async def test_every_method_that_is_a_token_is_left_to_the_handler(serve: Serve, method: bytes) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, request.method.encode() + request.body)

    wire = await (await serve(handler)).open()
    assert (await wire.ask(request(b"!", method=method))).body == method + b"!"


async def test_an_offer_of_http_2_is_not_taken_and_its_request_served(serve: Serve) -> None:
    wire = await (await serve()).open()
    offer = request(b"hello", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEA")
    for _ in range(2):
        assert (await wire.ask(offer)).body == b"hello"


async def test_an_empty_line_before_a_request_is_forgiven(serve: Serve) -> None:
    wire = await (await serve()).open()
    await wire.send(b"\r")
    assert (await wire.ask(b"\n" + request(b"a") + b"\r\n" + request(b"b"))).body == b"a"
    assert (await wire.reply()).body == b"b"


async def test_a_handler_that_fails_is_logged_and_answered_500_without_its_reason(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        raise RuntimeError("the secret of the house")

    wire = await (await serve(handler)).open()
    with capture_logs() as logs:
        await wire.send(request(target=b"/queue"))
        reply = await wire.reply()
    assert reply.status == 500
    assert b"secret" not in reply.body
    assert [(entry["event"], entry["target"]) for entry in logs] == [("http.handler_failed", "b'/queue'")]


@pytest.mark.parametrize("answer", [None, HttpResponse(200, b"", "text")])
async def test_a_reply_that_cannot_be_written_is_a_500(serve: Serve, answer: HttpResponse) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return answer

    wire = await (await serve(handler)).open()
    with capture_logs() as logs:
        assert await wire.refused(request()) == 500
    assert len(logs) == 1


async def test_a_handler_that_cancels_itself_closes_the_connection(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        raise asyncio.CancelledError

    wire = await (await serve(handler)).open()
    await wire.send(request())
    assert await wire.rest() == b""


async def test_refusals_are_rendered_as_the_application_wishes(serve: Serve) -> None:
    def refuse(status: int, reason: str) -> HttpResponse:
        return HttpResponse(status, b"<Error>" + reason.encode())

    wire = await (await serve(refuse=refuse)).open()
    assert (await wire.ask(b"GET / HTTP/1.1\r\n\r\n")).body == b"<Error>The header host is missing."


async def test_a_client_that_leaves_cancels_the_request_it_waited_for(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked, HttpLimits(half_close_seconds=0.01))
    wire = await server.open()
    await wire.send(request())
    await until(lambda: parked.entered)
    await asyncio.sleep(0.02)
    await wire.close()
    await until(lambda: parked.cancelled)
    await until(lambda: server.connections[-1] == 0)


async def test_what_a_cancelled_request_waited_for_may_fail_in_silence(serve: Serve) -> None:
    failing: list[asyncio.Future[HttpResponse]] = []

    async def handler(request: HttpRequest) -> HttpResponse:
        failing.append(asyncio.get_running_loop().create_future())
        return await failing[0]

    server = await serve(handler, HttpLimits(half_close_seconds=0.01))
    wire = await server.open()
    await wire.send(request())
    await until(lambda: bool(failing))
    await wire.close()
    await until(lambda: server.connections[-1] == 0)
    failing.pop().set_exception(ValueError("of no interest to anyone"))
    await asyncio.sleep(0.01)
    gc.collect()


async def test_a_client_that_leaves_at_once_cancels_its_request_soon(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked, HttpLimits(half_close_seconds=0.05))
    wire = await server.open()
    await wire.send(request(target=b"/1") + request(target=b"/2"))
    await wire.close()
    await until(lambda: parked.cancelled)
    await until(lambda: server.connections[-1] == 0)
    assert parked.targets == [b"/1"]


async def test_a_client_that_resets_the_connection_cancels_its_request_at_once(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked, HttpLimits(half_close_seconds=60))
    wire = await server.open()
    await wire.send(request())
    await until(lambda: parked.entered)
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.reset()
    await until(lambda: parked.cancelled)


async def test_a_client_that_only_stops_writing_gets_the_answers_that_are_quick(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        await asyncio.sleep(0.01)
        return HttpResponse(200, request.body)

    server = await serve(handler, HttpLimits(half_close_seconds=1))
    wire = await server.open()
    await wire.send(request(b"a") + request(b"b") + request(b"cut short")[:-1])
    wire.writer.write_eof()
    assert [(await wire.reply()).body for _ in "ab"] == [b"a", b"b"]
    assert await wire.rest() == b""


async def test_pipelining_without_reading_stops_being_read(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked, HttpLimits(read_ahead_bytes=1024))
    wire = await server.open()
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    count, body = 400, b"x" * 20_000
    sending = asyncio.create_task(wire.send(b"".join(request(body, target=b"/%d" % n) for n in range(count))))
    await until(lambda: parked.entered)
    await asyncio.sleep(0.05)
    assert not sending.done()
    parked.gate.set()
    for number in range(count):
        assert (await wire.reply()).body == b"/%d" % number
    await sending
    assert parked.entered == count


async def test_a_reply_larger_than_every_buffer_arrives_and_the_next_request_waits_for_it(serve: Serve) -> None:
    large, entered = b"x" * 16_000_000, []

    async def handler(request: HttpRequest) -> HttpResponse:
        entered.append(request.target)
        return HttpResponse(200, large)

    wire = await (await serve(handler)).open(limit=1024)
    await wire.send(request(target=b"/1") + request(target=b"/2"))
    await asyncio.sleep(0.05)
    assert entered == [b"/1"]
    assert (await wire.reply()).body == large
    assert (await wire.reply()).body == large
    assert entered == [b"/1", b"/2"]


async def test_a_client_that_never_reads_is_dropped(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"x" * 16_000_000, close=request.target == b"/last")

    server = await serve(handler, HttpLimits(write_seconds=0.05))
    for target in (b"/", b"/last"):
        wire = await server.open(limit=1024)
        await wire.send(request(target=target))
        await until(lambda: server.connections[-1] == 1)
        await until(lambda: server.connections[-1] == 0)


async def test_it_listens_on_ipv6_too(serve: Serve) -> None:
    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, request.peer.encode())

    wire = await (await serve(handler, host="::1")).open()
    assert (await wire.ask(request())).body == b"::1"


async def test_every_address_of_a_host_has_the_same_port(serve: Serve) -> None:
    server = await serve(host="localhost")
    addresses = await asyncio.get_running_loop().getaddrinfo("localhost", server.listener.port, type=socket.SOCK_STREAM)
    for *_, address in addresses:
        assert (await (await server.open(host=address[0])).ask(request())).status == 200


async def test_a_host_that_does_not_exist_is_said_plainly() -> None:
    with pytest.raises(OSError, match=r"cannot listen on nowhere\.invalid port 0: "):
        await HttpListener("nowhere.invalid", 0, echo).start()


async def test_a_port_that_is_taken_is_said_plainly(serve: Serve) -> None:
    server = await serve()
    second = HttpListener("127.0.0.1", server.listener.port, echo)
    with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1 port {server.listener.port}: .*in use") as caught:
        await second.start()
    assert caught.value.errno == errno.EADDRINUSE


async def test_a_server_without_clients_sets_no_timer(serve: Serve) -> None:
    server = await serve(limits=HttpLimits(idle_seconds=0.02))
    assert server.listener._timer is None
    wire = await server.open()
    assert (await wire.ask(request())).status == 200
    assert server.listener._timer is not None
    await wire.rest()
    await until(lambda: server.listener._timer is None)


def test_deadlines_are_looked_at_once_a_second_or_as_often_as_the_shortest_needs() -> None:
    assert sweep_period(HttpLimits()) == 1.0
    assert sweep_period(HttpLimits(header_seconds=0.2)) == 0.1
