"""A request is answered alike, and does the same, whether native code looks at it first or not, whatever is in it."""

import json
import random
import re

import pytest

from penstock.api.resources import remembered_key

from .cases import CASES, Case, deletes
from .conftest import Start
from .lane import Json, Line, Site, harmless, told

LANE, FLAT = "q-lane", "q-flat"


async def prepared(site: Site, case: Case, name: str) -> tuple[str, list[str]]:
    """A queue as the case wants it: its URL, and handles of what was received from it."""
    url, line = await site.create(name + case.suffix, **case.queue), await site.line()
    for message in case.sent:
        assert (await line.ask("SendMessage", {"QueueUrl": url, **message})).status == 200
    handles: list[str] = []
    for _ in range(case.received):
        reply = await line.ask("ReceiveMessage", {"QueueUrl": url})
        handles.append(reply.json["Messages"][0]["ReceiptHandle"])
    await line.close()
    return url, handles


async def goes_on(line: Line) -> None:
    await line.warm("SendMessage")


STORES: dict[str, Json] = {"native": {}, "python": {"native_store": False}, "memory": {"store": "memory://"}}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", CASES)
async def test_it_is_answered_on_a_lent_connection_as_on_a_new_one(start: Start, name: str, store: str) -> None:
    site, case = await start(**STORES[store]), CASES[name]
    lane, flat = await prepared(site, case, LANE), await prepared(site, case, FLAT)
    line, fresh = await site.lent_line(case.action), await site.line()
    before = site.answered
    replies = await line.ask(case.action, case.body(*lane)), await fresh.ask(case.action, case.body(*flat))
    by_lane = site.answered - before
    assert told(replies[0], LANE) == told(replies[1], FLAT)
    assert await site.peek(LANE + case.suffix) == await site.peek(FLAT + case.suffix)
    assert await site.counts(LANE + case.suffix) == await site.counts(FLAT + case.suffix)
    if case.by_lane is not None:
        assert by_lane == case.by_lane
    elif replies[0].status != 200:
        assert by_lane == 0
    await goes_on(line)


async def test_the_heads_of_replies_are_alike_to_the_byte(start: Start) -> None:
    site = await start()
    url, line, fresh = await site.create("orders"), await site.lent_line("SendMessage"), await site.line()
    heads = []
    for each in (line, fresh):
        await each.write(each.request("SendMessage", {"QueueUrl": url, "MessageBody": "m"}))
        head = (await each.reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        heads.append([re.sub(rb"^(Date|x-amzn-requestid): .*", rb"\1", text) for text in head])
    assert heads[0] == heads[1]


@pytest.mark.parametrize("url", ["", "missing", "/000000000000/missing", "http://h/1/2/3", "http://[::1", "x" * 600])
@pytest.mark.parametrize("action", ["SendMessage", "ReceiveMessage"])
async def test_a_queue_that_is_not_there_is_missed_alike(start: Start, action: str, url: str) -> None:
    site = await start()
    line, fresh = await site.lent_line(action), await site.line()
    body: Json = {"QueueUrl": url} | ({"MessageBody": "m"} if action == "SendMessage" else {})
    replies = [await each.ask(action, body) for each in (line, fresh)]
    assert replies[0].status == 400
    assert told(replies[0]) == told(replies[1])
    await goes_on(line)


async def test_a_queue_can_be_named_in_every_way_it_can_be_named_elsewhere(start: Start) -> None:
    site = await start()
    await site.create("orders")
    line = await site.lent_line("SendMessage")
    for url in ("orders", "/000000000000/orders", "https://sqs.us-east-1.amazonaws.com/000000000000/orders?x=y"):
        assert await line.by_lane("SendMessage", {"QueueUrl": url, "MessageBody": url})
    assert len(await site.peek("orders")) == 3


async def test_a_long_url_is_not_remembered(start: Start) -> None:
    site = await start()
    await site.create("orders")
    line, before = await site.lent_line("SendMessage"), remembered_key.cache_info().currsize
    body = {"QueueUrl": f"http://{'h' * 600}/000000000000/orders", "MessageBody": "m"}
    assert await line.by_lane("SendMessage", body)
    assert remembered_key.cache_info().currsize == before


async def test_a_queue_that_is_deleted_is_missed_by_the_very_next_request(start: Start) -> None:
    site = await start()
    url, line, other = await site.create("orders"), await site.lent_line("SendMessage"), await site.line()
    assert await line.at_once("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    assert (await other.ask("DeleteQueue", {"QueueUrl": url})).status == 200
    reply = await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
    assert reply.error == "QueueDoesNotExist"


async def test_a_handle_of_another_queue_or_of_a_message_that_was_given_again_is_judged_alike(start: Start) -> None:
    site = await start()
    ours, theirs = await site.create("ours"), await site.create("theirs")
    line, fresh = await site.lent_line("DeleteMessage"), await site.line()
    await site.stock("ours", "m")
    first = (await fresh.ask("ReceiveMessage", {"QueueUrl": ours, "VisibilityTimeout": 0})).json["Messages"][0]
    await fresh.ask("ReceiveMessage", {"QueueUrl": ours})
    for url in (ours, theirs):
        body = {"QueueUrl": url, "ReceiptHandle": first["ReceiptHandle"]}
        assert told(await line.ask("DeleteMessage", body)) == told(await fresh.ask("DeleteMessage", body))
    assert await site.counts("ours") == (0, 1, 0, 1)


async def test_an_expired_handle_of_a_fifo_queue_is_refused_and_the_rest_of_its_batch_is_deleted(start: Start) -> None:
    site = await start()
    url, fresh = await site.create("orders.fifo", FifoQueue="true"), await site.line()
    line = await site.lent_line("DeleteMessageBatch")
    for name in "ab":
        message = {"MessageBody": name, "MessageGroupId": name, "MessageDeduplicationId": name}
        await fresh.ask("SendMessage", {"QueueUrl": url, **message})
    handles = {}
    for timeout in (0, 30, 30):
        reply = await fresh.ask("ReceiveMessage", {"QueueUrl": url, "VisibilityTimeout": timeout})
        (message,) = reply.json["Messages"]
        handles.setdefault(message["Body"], message["ReceiptHandle"])
    body = deletes(("a", 0), ("b", 1))(url, [handles["a"], handles["b"]])
    result = (await line.ask("DeleteMessageBatch", body)).json
    assert [(failed["Id"], failed["Code"]) for failed in result["Failed"]] == [("a", "InvalidParameterValue")]
    assert result["Successful"] == [{"Id": "b"}]
    assert [body for body, *_ in await site.peek("orders.fifo")] == ["a"]


@pytest.mark.parametrize("action", ["SendMessage", "SendMessageBatch", "DeleteMessage", "DeleteMessageBatch"])
async def test_bodies_with_mistakes_are_read_alike(start: Start, action: str) -> None:
    site, rng = await start(), random.Random(action)
    url = await site.create("orders")
    line, fresh = await site.lent_line(action), await site.line()
    whole = json.dumps(harmless(url, site.warm_handle)[action], ensure_ascii=False).replace('"m"', r'"m\n\u00e4é😀"')
    for _ in range(150):
        body = bytearray(whole.encode())
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(body))
            body[at : at + rng.randint(0, 2)] = rng.choice(TELLING)
        replies = [await each.ask(action, bytes(body)) for each in (line, fresh)]
        assert told(replies[0]) == told(replies[1]), bytes(body)


TELLING = [bytes([byte]) for byte in b'{}[]"\\:,u0d8n \x00\xff\xc3\xed9-.'] + [b"", b"\\u00", b"\\ud8", b"null", b'","']


async def test_requests_are_counted_once_whoever_answers_them(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    line = await site.lent_line()
    requests = site.server.metrics.requests

    def counted(action: str) -> int:
        return sum(histogram.count for (name, _), histogram in requests.items() if name == action)

    for action, body in {
        "SendMessage": {"QueueUrl": url, "MessageBody": "m"},
        "ReceiveMessage": {"QueueUrl": url},
        "DeleteMessage": {"QueueUrl": url, "ReceiptHandle": "AAAA"},
    }.items():
        for _ in range(2):  # of receives the second finds nothing, and deletes are refused
            before = counted(action)
            await line.ask(action, body)
            assert counted(action) == before + 1
            await line.warm(action)


def test_cases_fit_the_heads_that_are_known() -> None:
    """Else they would be told apart by their heads, and nobody would look at their bodies."""
    for name, case in CASES.items():
        body = case.body("http://127.0.0.1:65535/000000000000/q-lane.fifo", ["h" * 72] * 11)
        encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
        assert len(encoded) < 10_000, name
