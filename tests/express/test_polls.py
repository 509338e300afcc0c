"""Receivers who wait, on connections that were lent; and a server that stops while connections are."""

import asyncio
import time

import pytest

from penstock.core.queue import QueueKey

from .conftest import Start
from .lane import ACCOUNT, REGION, Json, Line, opened_again, until
from .test_stream import turns


def poll(url: str, seconds: int = 20, **asked: int) -> Json:
    return {"QueueUrl": url, "WaitTimeSeconds": seconds, **asked}


@pytest.mark.parametrize("sender", ["lent", "new"])
async def test_a_receiver_who_waits_is_given_what_is_sent(start: Start, sender: str) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    other = await site.lent_line("SendMessage") if sender == "lent" else await site.line()
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    assert (await other.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})).status == 200
    (message,) = (await line.reply()).json["Messages"]
    assert message["Body"] == "m"
    assert len(site.server.room) == 0
    await line.warm("ReceiveMessage")


async def test_many_who_wait_are_given_one_each(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("ReceiveMessage") for _ in range(10)]
    sender = await site.lent_line("SendMessageBatch")
    for line in lines:
        line.writer.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 10)
    entries = [{"Id": f"e{n}", "MessageBody": f"m{n}"} for n in range(10)]
    await sender.ask("SendMessageBatch", {"QueueUrl": url, "Entries": entries})
    given = [(await line.reply()).json["Messages"] for line in lines]
    assert sorted(message["Body"] for (message,) in given) == sorted(f"m{n}" for n in range(10))


async def test_a_wait_ends_with_nothing_when_it_is_over(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    begun = time.monotonic()
    assert (await line.ask("ReceiveMessage", poll(url, 1))).json == {}
    assert 0.9 < time.monotonic() - begun < 3


async def test_a_queue_s_own_wait_is_kept(start: Start) -> None:
    site = await start()
    url = await site.create("orders", ReceiveMessageWaitTimeSeconds="20")
    line, sender = await site.lent_line("ReceiveMessage"), await site.lent_line("SendMessage")
    await line.write(line.request("ReceiveMessage", {"QueueUrl": url}))
    await until(lambda: len(site.server.room) == 1)
    await sender.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    assert len((await line.reply()).json["Messages"]) == 1


@pytest.mark.parametrize("how", ["closes", "resets"])
async def test_a_message_is_not_lost_to_a_receiver_who_has_left(start: Start, how: str) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    sender = await site.lent_line("SendMessage")
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    if how == "closes":
        await line.close()
    else:
        line.writer.transport.abort()
    await until(lambda: len(site.server.room) == 0)
    await sender.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    assert (await site.counts("orders"))[:3] == (1, 0, 0)


async def test_requests_behind_a_receive_that_waits_wait_for_it(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage", "SendMessage")
    sender = await site.lent_line("SendMessage")
    behind = line.request("SendMessage", {"QueueUrl": url, "MessageBody": "second"})
    await line.write(line.request("ReceiveMessage", poll(url)) + behind)
    await until(lambda: len(site.server.room) == 1)
    assert (await site.counts("orders"))[:3] == (0, 0, 0)
    await sender.ask("SendMessage", {"QueueUrl": url, "MessageBody": "first"})
    assert (await line.reply()).json["Messages"][0]["Body"] == "first"
    assert "MessageId" in (await line.reply()).json


# Stopping


async def test_a_server_with_idle_lent_connections_stops_at_once(start: Start) -> None:
    site = await start()
    lines = [await site.lent_line("SendMessage") for _ in range(5)]
    assert site.lent == 5
    async with asyncio.timeout(3):
        await site.server.stop()
    for line in lines:
        assert await line.rest() == b""
    assert (site.lent, site.server.metrics.open_connections) == (0, 0)


async def replies(line: Line) -> int:
    """How many good ones come before the server closes."""
    data = await line.rest()
    assert data.count(b"HTTP/1.1 ") == data.count(b"HTTP/1.1 200 OK")
    assert data.count(b'"MessageId"') == data.count(b"HTTP/1.1 ")
    return data.count(b"HTTP/1.1 ")


@pytest.mark.parametrize("looks", range(4))
async def test_what_was_begun_when_the_server_stops_is_answered_and_nothing_is_done_unsaid(
    start: Start, looks: int
) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("SendMessage") for _ in range(10)]
    for place, line in enumerate(lines):
        request = line.request("SendMessage", {"QueueUrl": url, "MessageBody": f"m{place}"})
        line.writer.write(request * (1 + place))
    await turns(looks)
    async with asyncio.timeout(5):
        await site.server.stop()
    answered = sum([await replies(line) for line in lines])
    async with opened_again(site) as store:
        queue = await store.queue(QueueKey(REGION, ACCOUNT, "orders"))
        assert (await store.counts(queue.id, site.server.clock.now())).visible == answered
    assert site.server.metrics.open_connections == 0


async def test_a_request_that_has_half_come_when_the_server_stops_may_be_ended(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = line.request("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    await line.write(request[:900])
    await turns()
    stopping = asyncio.create_task(site.server.stop())
    await turns()
    await line.write(request[900:])
    reply = await line.reply()
    assert (reply.status, reply.headers["connection"]) == (200, "close")
    async with asyncio.timeout(3):
        await stopping


async def test_who_waits_is_answered_when_the_server_stops(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    async with asyncio.timeout(3):
        await site.server.stop()
    assert (await line.reply()).json == {}
    assert await line.rest() == b""
