"""What comes on a lent connection may come in any pieces, with anything behind it, and may end anywhere."""

import asyncio
import json
import os
from collections.abc import Sequence

import pytest

from penstock.api.express import SERVED

from .conftest import Start
from .lane import Json, Line, Signing, Site, until

LIVE = b"GET /health/live HTTP/1.1\r\nHost: here\r\n\r\n"


READ_BYTES = 64 * 1024
"""What native code reads at once."""


def at_once(line: Line, data: bytes) -> None:
    """The system has all of it before the server looks."""
    assert os.write(line.writer.get_extra_info("socket").fileno(), data) == len(data)


async def turns(number: int = 5) -> None:
    """Of the loop: enough for the server to see what has been written."""
    for _ in range(number):
        await asyncio.sleep(0)


def send(line: Line, url: str, body: str = "m", **options: object) -> bytes:
    return line.request("SendMessage", {"QueueUrl": url, "MessageBody": body}, **options)  # type: ignore[arg-type]


async def bodies(site: Site, queue: str = "orders") -> list[str]:
    return [body for body, *_ in await site.peek(queue)]


async def test_a_request_in_two_pieces_is_answered_by_native_code(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = send(line, url)
    head = request.index(b"\r\n\r\n") + 4
    for cut in (1, 4, 100, head - 2, head, head + 1, len(request) - 1):
        before = site.answered
        await line.write(request[:cut])
        await turns()
        await line.write(request[cut:])
        assert (await line.reply()).status == 200
        assert site.answered == before + 1
    assert len(await bodies(site)) == 7


@pytest.mark.parametrize("begin", [b"\x16\x03\x01\x02\x00", b"GET /", b"POST / HTTP/1.1\r\nhost: there\r\n"])
async def test_what_cannot_become_a_known_head_goes_back_at_once(start: Start, begin: bytes) -> None:
    site = await start()
    line = await site.lent_line("SendMessage")
    assert site.lent == 1
    await line.write(begin)
    await turns()
    assert site.lent == 0


async def test_a_request_that_comes_byte_by_byte_is_answered(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    for byte in send(line, url):
        line.writer.write(bytes([byte]))
        await asyncio.sleep(0)
    assert (await line.reply()).status == 200
    assert await bodies(site) == ["m"]


@pytest.mark.parametrize("number", [2, 10])
async def test_requests_in_one_piece_are_answered_in_their_order(start: Start, number: int) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessageBatch")
    before = site.answered
    requests = [
        line.request("SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": f"e{n}", "MessageBody": f"m{n}"}]})
        for n in range(number)
    ]
    await line.write(b"".join(requests))
    for n in range(number):
        assert (await line.reply()).json["Successful"][0]["Id"] == f"e{n}"
    assert site.answered == before + number
    assert await bodies(site) == [f"m{n}" for n in range(number)]


async def test_requests_of_every_kind_in_one_piece_are_answered_in_their_order(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line()
    asked: Sequence[tuple[str, Json]] = [
        ("SendMessage", {"QueueUrl": url, "MessageBody": "a"}),
        ("ReceiveMessage", {"QueueUrl": url}),
        ("ReceiveMessage", {"QueueUrl": url}),
        ("SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": "x", "MessageBody": "b"}]}),
        ("ChangeMessageVisibility", {"QueueUrl": url, "ReceiptHandle": "none", "VisibilityTimeout": 0}),
        ("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 10}),
        ("DeleteMessage", {"QueueUrl": url, "ReceiptHandle": "none"}),
    ]
    await line.write(b"".join(line.request(*each) for each in asked))
    replies = [await line.reply() for _ in asked]
    assert [reply.status for reply in replies] == [200, 200, 200, 200, 404, 200, 404] or [
        reply.status for reply in replies
    ] == [200, 200, 200, 200, 400, 200, 400]
    assert [message["Body"] for reply in replies for message in reply.json.get("Messages", [])] == ["a", "b"]


async def test_another_request_behind_a_plain_one_is_answered_behind_it(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = send(line, url)
    await line.write(request + LIVE + request + LIVE)
    replies = [await line.reply() for _ in range(4)]
    assert [reply.status for reply in replies] == [200] * 4
    assert ["MessageId" in reply.body.decode() for reply in replies] == [True, False, True, False]
    assert len(await bodies(site)) == 2


async def test_garbage_behind_a_good_request_is_refused_behind_it(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    await line.write(send(line, url) + b"\x00garbage\r\n\r\n")
    assert (await line.reply()).status == 200
    refusal = await line.reply()
    assert (refusal.status, refusal.headers["connection"]) == (400, "close")
    assert await line.rest() == b""
    assert await bodies(site) == ["m"]


async def test_empty_lines_before_a_request_are_forgiven(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    await line.write(b"\r\n\r\n" + send(line, url))
    assert (await line.reply()).status == 200
    await line.warm("SendMessage")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
async def test_a_client_that_leaves_in_the_middle_of_a_request_takes_its_connection_with_it(
    start: Start, share: float
) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = send(line, url)
    await line.write(request[: int(len(request) * share)])
    await turns()
    await line.close()
    await until(lambda: site.server.metrics.open_connections == 0)
    assert site.lent == 0
    assert await bodies(site) == []


async def test_a_client_that_resets_is_forgotten(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("SendMessage") for _ in range(5)]
    for line in lines:
        line.writer.write(send(line, url))
        line.writer.transport.abort()
    await until(lambda: site.server.metrics.open_connections == 0)
    assert site.lent == 0
    assert await (await site.line()).by_lane("SendMessage", {"QueueUrl": url, "MessageBody": "m"}) is False


@pytest.mark.parametrize("body", ["m", "\x01"])
async def test_who_closes_his_side_behind_a_request_is_answered(start: Start, body: str) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    line.writer.write(send(line, url, body))
    line.writer.write_eof()
    assert (await line.reply()).status == (200 if body == "m" else 400)
    assert await line.rest() == b""
    await until(lambda: site.server.metrics.open_connections == 0)


async def test_who_closes_his_side_behind_several_requests_is_answered_all_of_them(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    line.writer.write(b"".join(send(line, url, f"{n}") for n in range(5)))
    line.writer.write_eof()
    assert [(await line.reply()).status for _ in range(5)] == [200] * 5
    assert await line.rest() == b""
    assert await bodies(site) == [f"{n}" for n in range(5)]


async def test_who_asks_to_close_is_closed(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    await line.write(send(line, url, how=Signing(unsigned=[("connection", "close")])))
    assert (await line.reply()).headers["connection"] == "close"
    assert await line.rest() == b""


async def test_who_expects_to_be_told_to_continue_is_told(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = send(line, url, how=Signing(unsigned=[("expect", "100-continue")]))
    head = request.index(b"\r\n\r\n") + 4
    await line.write(request[:head])
    assert (await line.reply()).status == 100
    await line.write(request[head:])
    assert (await line.reply()).status == 200
    await line.warm("SendMessage")


async def test_a_body_in_chunks_is_read(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    head, _, body = send(line, url).partition(b"\r\n\r\n")
    head = head.replace(b"content-length: %d" % len(body), b"transfer-encoding: chunked")
    await line.write(head + b"\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    assert (await line.reply()).status == 200
    assert await bodies(site) == ["m"]
    await line.warm("SendMessage")


@pytest.mark.parametrize("length", [b"-001", b"0000", b"1e10", b"+999"])
async def test_a_length_that_is_none_is_refused_alike(start: Start, length: bytes) -> None:
    site = await start()
    url, line, fresh = await site.create("orders"), await site.lent_line("SendMessage"), await site.line()
    told = []
    for each in (line, fresh):
        request = send(each, url)
        await each.write(request.replace(b"content-length: 1000", b"content-length: " + length))
        told.append((await each.reply()).status)
    assert told[0] == told[1] >= 400
    assert await bodies(site) == []


@pytest.mark.parametrize("most", [20_000, 3 * READ_BYTES - 8])
async def test_a_body_as_long_as_may_be_is_answered_by_native_code(start: Start, most: int) -> None:
    """Also if the last part that is read at once ends in the middle of the request, but behind so many bytes."""
    site = await start(max_request_bytes=most)
    digits = len(str(most))
    url, line = await site.create("orders"), await site.lent_line("SendMessage", digits=digits)
    body = json.dumps({"QueueUrl": url, "MessageBody": "m"}).encode().ljust(most)
    before = site.answered
    at_once(line, line.request("SendMessage", body))
    assert (await line.reply()).status == 200
    assert site.answered == before + 1


async def test_a_body_that_is_longer_is_refused(start: Start) -> None:
    site = await start(max_request_bytes=20_000)
    url, line = await site.create("orders"), await site.lent_line("SendMessage", digits=5)
    await line.write(send(line, url).replace(b"content-length: 1000", b"content-length: 20001"))
    assert (await line.reply()).status == 413


async def test_a_large_request_and_one_behind_it_are_both_answered(start: Start) -> None:
    """As much as is read at once, to the byte: there is nothing left of it that would tell of the other."""
    site = await start(max_request_bytes=65_400)
    url, line = await site.create("orders"), await site.lent_line("SendMessage", digits=5)
    body = json.dumps({"QueueUrl": url, "MessageBody": "m"}).encode()
    head = len(line.request("SendMessage", body, digits=5)) - 10_000
    request = line.request("SendMessage", body.ljust(READ_BYTES - head))
    assert len(request) == READ_BYTES
    at_once(line, request + line.request("SendMessage", body, digits=5))
    assert [(await line.reply()).status for _ in range(2)] == [200, 200]


async def test_many_large_requests_in_a_row_are_answered(start: Start) -> None:
    site = await start(max_request_bytes=65_400)
    url, line = await site.create("orders"), await site.lent_line("SendMessage", digits=5)
    body = json.dumps({"QueueUrl": url, "MessageBody": "m"}).encode()
    line.writer.write(b"".join(line.request("SendMessage", body.ljust(size)) for size in range(64_900, 65_400, 10)))
    assert [(await line.reply()).status for _ in range(50)] == [200] * 50


# Time

BRIEF = {"idle_seconds": 0.3, "header_seconds": 0.3}


async def test_a_lent_connection_that_is_idle_is_closed_when_its_time_is_over(start: Start) -> None:
    site = await start(**BRIEF)
    line = await site.lent_line("SendMessage")
    assert site.lent == 1
    assert await line.rest() == b""
    await until(lambda: site.server.metrics.open_connections == 0)
    assert site.lent == 0


async def test_a_lent_connection_that_is_used_stays(start: Start) -> None:
    site = await start(**BRIEF)
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while loop.time() < begun + 4 * BRIEF["idle_seconds"]:
        assert (await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})).status == 200
    assert site.lent == 1


async def test_a_head_that_is_never_ended_is_refused(start: Start) -> None:
    site = await start(**BRIEF)
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    await line.write(send(line, url)[:100])
    assert (await line.reply()).status == 408
    assert await line.rest() == b""
    assert site.lent == 0


async def test_a_request_that_was_begun_in_time_may_be_ended(start: Start) -> None:
    site = await start(idle_seconds=0.3)
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    request = send(line, url)
    loop = asyncio.get_running_loop()
    await line.write(request[:700])
    begun = loop.time()
    await until(lambda: loop.time() > begun + 0.9)
    await line.write(request[700:])
    assert (await line.reply()).status == 200
    assert await bodies(site) == ["m"]


# Clients that do not read


async def test_replies_that_are_not_read_are_neither_lost_nor_mixed(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    texts = [f"{n} ".ljust(1500, "x") for n in range(2000)]
    await site.stock("orders", *texts)
    lines = [await site.lent_line("ReceiveMessage") for _ in range(3)]
    for line in lines:
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]
        request = line.request("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": 10})
        line.writer.write(request * 100)
    await turns(200)
    found = []
    for line in lines:
        line.writer.transport.resume_reading()  # type: ignore[attr-defined]
        for _ in range(100):
            found += [message["Body"] for message in (await line.reply()).json.get("Messages", [])]
    assert sorted(found) == sorted(texts)


async def test_two_thousand_short_replies_that_are_not_read_come_in_order(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessageBatch")
    line.writer.transport.pause_reading()  # type: ignore[attr-defined]
    entry = line.request("SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": "e", "MessageBody": "m"}]})
    line.writer.write(entry * 2000)
    last = -1
    while site.answered != last:
        last = site.answered
        await turns(100)
    line.writer.transport.resume_reading()  # type: ignore[attr-defined]
    for _ in range(2000):
        assert (await line.reply()).json["Successful"][0]["Id"] == "e"
    assert len(await bodies(site)) == 2000


async def test_many_connections_at_once_each_get_their_own(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("SendMessageBatch") for _ in range(20)]

    async def volley(place: int, line: Line) -> None:
        for n in range(20):
            entry = {"Id": f"c{place}-{n}", "MessageBody": f"{place} {n}"}
            reply = await line.ask("SendMessageBatch", {"QueueUrl": url, "Entries": [entry]})
            assert [done["Id"] for done in reply.json["Successful"]] == [entry["Id"]]

    before = site.answered
    await asyncio.gather(*(volley(place, line) for place, line in enumerate(lines)))
    assert site.answered == before + 400
    assert sorted(await bodies(site)) == sorted(f"{place} {n}" for place in range(20) for n in range(20))


def test_what_native_code_answers_is_what_it_is_tested_with() -> None:
    assert set(SERVED) == {
        "SendMessage",
        "SendMessageBatch",
        "ReceiveMessage",
        "DeleteMessage",
        "DeleteMessageBatch",
    }
