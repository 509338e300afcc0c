"""Leaving: nobody who was being served is cut off, nobody else holds us up."""

import asyncio
import contextlib
import time

import pytest

from penstock.aws.http import HttpRequest, HttpResponse
from penstock.listeners.http import HttpLimits

from .wire import Parked, Serve, request, until


async def test_idle_connections_are_closed_at_once(serve: Serve) -> None:
    server = await serve()
    used, fresh = await server.open(), await server.open()
    await used.ask(request())
    await until(lambda: server.connections[-1] == 2)
    started = time.monotonic()
    await server.listener.stop(30)
    assert time.monotonic() - started < 1
    assert await used.rest() == await fresh.rest() == b""


async def test_a_running_request_is_finished_and_its_reply_says_close(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked)
    wire = await server.open()
    await wire.send(request(target=b"/1") + request(target=b"/2"))
    await until(lambda: parked.entered)
    stopping = asyncio.create_task(server.listener.stop(30))
    await asyncio.sleep(0)
    parked.gate.set()
    reply = await wire.reply()
    assert (reply.body, reply.headers[b"connection"]) == (b"/1", b"close")
    await stopping
    assert await wire.rest() == b""
    assert parked.targets == [b"/1"]


async def test_a_request_that_is_still_arriving_is_served(serve: Serve) -> None:
    server = await serve()
    in_head, in_body = await server.open(), await server.open()
    sent = request(b"hello")
    await in_head.send(sent[:20])
    await in_body.send(sent[:-2])
    await until(lambda: server.connections[-1] == 2)
    await asyncio.sleep(0.02)
    stopping = asyncio.create_task(server.listener.stop(30))
    await asyncio.sleep(0)
    for wire, rest in ((in_head, sent[20:]), (in_body, sent[-2:])):
        reply = await wire.ask(rest)
        assert (reply.body, reply.headers[b"connection"]) == (b"hello", b"close")
    await stopping


async def test_no_one_else_comes_in(serve: Serve) -> None:
    parked = Parked()
    server = await serve(parked)
    wire = await server.open()
    await wire.send(request())
    await until(lambda: parked.entered)
    stopping = asyncio.create_task(server.listener.stop(30))
    await asyncio.sleep(0.01)
    with pytest.raises(OSError):
        await server.open()
    parked.gate.set()
    assert (await wire.reply()).status == 200
    await stopping


@pytest.mark.parametrize("grace", [0, 0.05, None])
async def test_after_the_grace_the_rest_is_cancelled_and_cut_off(serve: Serve, grace: float | None) -> None:
    parked = Parked()
    server = await serve(parked, HttpLimits(drain_seconds=0.05))
    wire = await server.open()
    await wire.send(request())
    await until(lambda: parked.entered)
    await server.listener.stop(grace)
    assert (parked.cancelled, server.connections[-1]) == (1, 0)
    assert await wire.rest() == b""


async def test_a_client_that_has_yet_to_read_its_reply_gets_it(serve: Serve) -> None:
    large = b"x" * 16_000_000

    async def handler(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, large)

    server = await serve(handler)
    wire = await server.open(limit=1024)
    await wire.send(request())
    await wire.head()
    stopping = asyncio.create_task(server.listener.stop(30))
    assert await wire.rest() == large
    await stopping


@pytest.mark.parametrize("ticks", range(6))
async def test_a_client_that_comes_at_the_last_moment_is_let_go(serve: Serve, ticks: int) -> None:
    server = await serve()
    wires = [await server.open() for _ in range(3)]
    for _ in range(ticks):
        await asyncio.sleep(0)
    await server.listener.stop(30)
    assert [await wire.rest() for wire in wires] == [b""] * 3


async def test_a_handler_that_will_not_be_cancelled_is_left_where_it_is(serve: Serve) -> None:
    async def stubborn(request: HttpRequest) -> HttpResponse:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    server = await serve(stubborn, HttpLimits(linger_seconds=0.05))
    wire = await server.open()
    await wire.send(request())
    await asyncio.sleep(0.02)
    await server.listener.stop(0)
    assert server.connections[-1] == 0


async def test_stopping_twice_or_before_starting_is_nothing(serve: Serve) -> None:
    server = await serve()
    await server.listener.stop(0)
    await server.listener.stop(0)
