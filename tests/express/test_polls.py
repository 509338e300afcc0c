"""Receivers who wait, on connections that were lent; and a server that stops while connections are."""

import asyncio
import socket
import struct
import time

import pytest

from penstock.core.limits import Limits
from penstock.core.queue import QueueKey

from .conftest import Start
from .lane import ACCOUNT, REGION, Json, Line, opened_again, until
from .test_signatures import a_user, iam
from .test_stream import turns


def poll(url: str, seconds: int = 20, **asked: int) -> Json:
    return {"QueueUrl": url, "WaitTimeSeconds": seconds, **asked}


def reset(line: Line) -> None:
    """Not only the stream ends: nothing can be sent to this client any more."""
    line.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.writer.transport.abort()


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


async def test_a_receiver_who_resets_its_connection_is_known_to_be_gone_at_once(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    site.server.listener.lane._half_close_seconds = 3600
    reset(line)
    await until(lambda: len(site.server.room) == 0)
    await until(lambda: site.lent == 0)


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
        reset(line)
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


# Native code answers them, too


async def test_who_waits_stays_in_the_lane_until_it_is_answered_there(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    sender, lent, answered = await site.lent_line("SendMessage"), site.lent, site.answered
    for body in ("one", "two"):
        await line.write(line.request("ReceiveMessage", poll(url)))
        await until(lambda: len(site.server.room) == 1)
        assert site.lent == lent
        assert await sender.by_lane("SendMessage", {"QueueUrl": url, "MessageBody": body})
        assert (await line.reply()).json["Messages"][0]["Body"] == body
    assert (site.lent, site.answered) == (lent, answered + 4)


@pytest.mark.parametrize("seconds", [0, 1])
async def test_that_there_is_nothing_is_said_there_too_and_noted(start: Start, seconds: int) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    assert await line.by_lane("ReceiveMessage", poll(url, seconds))
    key = QueueKey(REGION, ACCOUNT, "orders")
    assert [minute.empty for minute in site.store.traffic.minutes(key, 0, site.server.clock.now())] == [1]


async def test_receivers_who_came_together_wait_each_for_itself(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("ReceiveMessage") for _ in range(6)]
    await site.stock("orders", "here", "too")
    for line in lines:
        line.writer.write(line.request("ReceiveMessage", poll(url, 20 if line is lines[-1] else 1)))
    answers = [(await line.reply()).json for line in lines[:-1]]
    assert sorted(answer["Messages"][0]["Body"] for answer in answers if answer) == ["here", "too"]
    await site.stock("orders", "later")
    assert (await lines[-1].reply()).json["Messages"][0]["Body"] == "later"


async def test_a_message_that_native_code_does_not_read_is_given_to_one_of_several(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines, odd = [await site.lent_line("ReceiveMessage") for _ in range(3)], await site.line()
    attributes = {"a": {"DataType": "String", "StringValue": "b"}}
    await site.stock("orders", "first")
    await odd.ask("SendMessage", {"QueueUrl": url, "MessageBody": "odd", "MessageAttributes": attributes})
    await site.stock("orders", "last")
    for line in lines:
        line.writer.write(line.request("ReceiveMessage", poll(url)))
    given = [(await line.reply()).json["Messages"][0]["Body"] for line in lines]
    assert sorted(given) == ["first", "last", "odd"]


# A client that ends its stream and may still be there


async def test_a_client_that_half_closes_is_answered_if_that_is_soon(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    sender = await site.lent_line("SendMessage")
    await line.write(line.request("ReceiveMessage", poll(url)))
    line.writer.write_eof()
    await until(lambda: len(site.server.room) == 1)
    await sender.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    assert (await line.reply()).json["Messages"][0]["Body"] == "m"
    assert await line.rest() == b""


@pytest.mark.parametrize("when", ["with its request", "while it waits", "after a while"])
async def test_a_client_that_half_closes_takes_no_message_later(start: Start, when: str) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    line.writer.write(line.request("ReceiveMessage", poll(url)))
    if when != "with its request":
        await until(lambda: len(site.server.room) == 1)
    if when == "after a while":
        await asyncio.sleep(site.server.listener.limits.half_close_seconds + 0.1)
    line.writer.write_eof()
    assert await line.rest() == b""
    assert len(site.server.room) == 0
    await site.stock("orders", "m")
    assert (await site.counts("orders"))[:3] == (1, 0, 0)
    await until(lambda: site.server.metrics.open_connections == site.lent)


async def test_what_stands_behind_a_request_that_nobody_waits_for_is_not_done(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage", "SendMessage")
    behind = line.request("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    await line.write(line.request("ReceiveMessage", poll(url)) + behind)
    line.writer.write_eof()
    assert await line.rest() == b""
    assert (await site.counts("orders"))[:3] == (0, 0, 0)


# What changes while somebody waits


async def test_a_queue_that_is_deleted_is_no_more_waited_for(start: Start) -> None:
    site = await start()
    url, line, other = await site.create("orders"), await site.lent_line("ReceiveMessage"), await site.line()
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    await other.ask("DeleteQueue", {"QueueUrl": url})
    assert (await line.reply()).error.endswith("QueueDoesNotExist")


async def test_what_was_meant_for_a_receiver_who_may_no_more_is_another_s(start: Start) -> None:
    site = await start()
    url, root = await site.create("orders"), await site.line()
    ann = await a_user(site, root)
    first, second = await site.lent_line("ReceiveMessage", who=ann), await site.lent_line("ReceiveMessage")
    for waiting, line in enumerate((first, second), start=1):
        await line.write(line.request("ReceiveMessage", poll(url)))
        await until(lambda waiting=waiting: len(site.server.room) == waiting)
    await iam(site, root, "DeleteAccessKey", UserName="ann", AccessKeyId=ann.key)
    await site.stock("orders", "m")
    assert (await first.reply()).error.endswith("UnrecognizedClientException")
    assert (await second.reply()).json["Messages"][0]["Body"] == "m"


async def test_more_than_may_wait_are_told_at_once_that_there_is_nothing(start: Start) -> None:
    site = await start(limits=Limits(max_parked_receives_per_account=1))
    url = await site.create("orders")
    first, second = [await site.lent_line("ReceiveMessage") for _ in range(2)]
    await first.write(first.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    assert (await second.ask("ReceiveMessage", poll(url))).json == {}
    await site.stock("orders", "m")
    assert (await first.reply()).json["Messages"][0]["Body"] == "m"


async def test_where_too_many_are_in_flight_nobody_is_given_more(start: Start) -> None:
    site = await start(limits=Limits(max_in_flight=20))
    url, line = await site.create("orders"), await site.lent_line("ReceiveMessage")
    await site.stock("orders", *map(str, range(21)))
    for _ in range(2):
        held = (await line.ask("ReceiveMessage", poll(url, MaxNumberOfMessages=10))).json["Messages"]
        assert len(held) == 10
    assert (await line.ask("ReceiveMessage", {"QueueUrl": url})).error.endswith("OverLimit")
    await line.warm("ReceiveMessage")
    await line.write(line.request("ReceiveMessage", poll(url)))
    await until(lambda: len(site.server.room) == 1)
    other = await site.line()
    await other.ask("DeleteMessage", {"QueueUrl": url, "ReceiptHandle": held[0]["ReceiptHandle"]})
    await site.stock("orders", "another")
    assert (await line.reply()).json["Messages"][0]["Body"] == "20"


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
    reply = await line.reply()
    assert (reply.json, reply.headers["connection"]) == ({}, "close")
    assert await line.rest() == b""
