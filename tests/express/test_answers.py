"""A request is answered alike, and does the same, whether native code looks at it first or not, whatever is in it."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from penstock.api.resources import remembered_key

from .conftest import Start
from .lane import Json, Line, Site, harmless, told

LANE, FLAT = "q-lane", "q-flat"
Body = Callable[[str, Sequence[str]], Json | bytes]
"""Of a request, given the queue's URL and the handles of what was received from it."""


@dataclass
class Case:
    action: str
    body: Body
    queue: dict[str, str] = field(default_factory=dict)
    sent: Sequence[Json] = ()
    received: int = 0
    by_lane: bool | None = None
    """Whether native code is expected to answer it; None if it may as well leave it."""

    @property
    def suffix(self) -> str:
        return ".fifo" if "FifoQueue" in self.queue else ""


def plain(text: str, **others: object) -> Body:
    return lambda url, handles: {"QueueUrl": url, "MessageBody": text, **others}


def raw(text: str | bytes) -> Body:
    """The rest of a SendMessage request, after the URL."""
    rest = text if isinstance(text, bytes) else text.encode()
    return lambda url, handles: b'{"QueueUrl":"%b",%b}' % (url.encode(), rest)


def entries(*given: object) -> Body:
    return lambda url, handles: {"QueueUrl": url, "Entries": list(given)}


def entry(name: object, body: object = "m", **others: object) -> Json:
    return {"Id": name, "MessageBody": body, **others}


def receive(**asked: object) -> Body:
    return lambda url, handles: {"QueueUrl": url, **asked}


def delete(change: Callable[[str], object] = str) -> Body:
    return lambda url, handles: {"QueueUrl": url, "ReceiptHandle": change(handles[0])}


def deletes(*given: tuple[object, int | str]) -> Body:
    """Each entry's id, and a handle or the place of one."""
    return lambda url, handles: {
        "QueueUrl": url,
        "Entries": [{"Id": name, "ReceiptHandle": handles[at] if isinstance(at, int) else at} for name, at in given],
    }


def flipped(handle: str) -> str:
    middle = len(handle) // 2
    return handle[:middle] + ("A" if handle[middle] != "A" else "B") + handle[middle + 1 :]


SIMPLE = '"MessageBody":"%s"'
M = {"MessageBody": "m"}
TEN = [{"MessageBody": f"m{number}"} for number in range(10)]
FIFO = {"FifoQueue": "true"}
BY_CONTENT = {**FIFO, "ContentBasedDeduplication": "true"}
GROUP = {"MessageGroupId": "g", "MessageDeduplicationId": "d"}
COLOUR = {"colour": {"DataType": "String", "StringValue": "blue"}}
PUNCTUATION = "".join(map(chr, range(0x21, 0x7F)))

SENDS = {
    "letters": Case("SendMessage", plain("two apples"), by_lane=True),
    "every escape": Case("SendMessage", raw(SIMPLE % r"\" \\ \/ \n \r \t \u00e4 \u20AC \uD83D\uDE00"), by_lane=True),
    "escaped names": Case("SendMessage", raw(r'"Message\u0042ody":"m"'), by_lane=True),
    "letters of everywhere": Case(
        "SendMessage", raw(SIMPLE % "äöü €—中文 \U0001f600 \x7f \u0080 \ufffd"), by_lane=True
    ),
    "blanks between": Case("SendMessage", raw(' \t\n\r"MessageBody" \n: "m" '), by_lane=True),
    "\\b": Case("SendMessage", raw(SIMPLE % r"\b")),
    "\\f": Case("SendMessage", raw(SIMPLE % r"\f")),
    "a control character, escaped": Case("SendMessage", raw(SIMPLE % r"\u0001")),
    "zero, escaped": Case("SendMessage", raw(SIMPLE % r"\u0000")),
    "a control character": Case("SendMessage", raw(SIMPLE % "\x01")),
    "a line break": Case("SendMessage", raw(SIMPLE % "a\nb")),
    "half a surrogate": Case("SendMessage", raw(SIMPLE % r"\ud800")),
    "the other half": Case("SendMessage", raw(SIMPLE % r"\udc00")),
    "halves the wrong way round": Case("SendMessage", raw(SIMPLE % r"\udc00\ud800")),
    "a half and a letter": Case("SendMessage", raw(SIMPLE % r"\ud800\u0041")),
    "a surrogate in UTF-8": Case("SendMessage", raw(b'"MessageBody":"\xed\xa0\x80"')),
    "FFFE": Case("SendMessage", raw(SIMPLE % r"\ufffe")),
    "FFFF": Case("SendMessage", raw(SIMPLE % "\uffff")),
    "broken UTF-8": Case("SendMessage", raw(b'"MessageBody":"\xff"')),
    "long UTF-8": Case("SendMessage", raw(b'"MessageBody":"\xc0\x80"')),
    "an unknown escape": Case("SendMessage", raw(SIMPLE % r"\x")),
    "an escape that ends early": Case("SendMessage", raw(SIMPLE % r"\u00")),
    "an empty body": Case("SendMessage", plain("")),
    "no body": Case("SendMessage", receive()),
    "a body that is null": Case("SendMessage", raw('"MessageBody":null')),
    "a body that is a number": Case("SendMessage", raw('"MessageBody":1')),
    "a body that is a list": Case("SendMessage", raw('"MessageBody":["m"]')),
    "a body of as many bytes as there may be": Case("SendMessage", plain("é" * 512), {"MaximumMessageSize": "1024"}),
    "a body of one byte more": Case("SendMessage", plain("é" * 512 + "x"), {"MaximumMessageSize": "1024"}),
    "a large body": Case("SendMessage", plain("x" * 8000), by_lane=True),
    "a member nobody knows": Case("SendMessage", plain("m", Colour="blue")),
    "a member that is null": Case("SendMessage", plain("m", DelaySeconds=None)),
    "a member twice": Case("SendMessage", raw('"MessageBody":"a","MessageBody":"b"')),
    "the URL twice": Case("SendMessage", raw('"MessageBody":"a","QueueUrl":"b"')),
    "a comma too many": Case("SendMessage", raw('"MessageBody":"a",')),
    "no JSON": Case("SendMessage", lambda url, handles: b"MessageBody=m"),
    "half of it": Case("SendMessage", lambda url, handles: b'{"QueueUrl":"%b","Mess' % url.encode()),
    "two of them": Case("SendMessage", lambda url, handles: b'{"QueueUrl":"%b","MessageBody":"m"}{}' % url.encode()),
    "a list": Case("SendMessage", lambda url, handles: b"[]"),
    "nothing but a brace": Case("SendMessage", lambda url, handles: b"{}"),
    "a byte order mark": Case("SendMessage", lambda url, handles: b'\xef\xbb\xbf{"QueueUrl":"q"}'),
    "a delay": Case("SendMessage", plain("m", DelaySeconds=60)),
    "no delay on a queue with one": Case("SendMessage", plain("m", DelaySeconds=0), {"DelaySeconds": "60"}),
    "the queue's delay": Case("SendMessage", plain("m"), {"DelaySeconds": "60"}, by_lane=True),
    "a delay that is too long": Case("SendMessage", plain("m", DelaySeconds=901)),
    "an attribute": Case("SendMessage", plain("m", MessageAttributes=COLOUR)),
    "no attributes": Case("SendMessage", plain("m", MessageAttributes={})),
    "a trace": Case(
        "SendMessage",
        plain("m", MessageSystemAttributes={"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5e"}}),
    ),
    "a group on a standard queue": Case("SendMessage", plain("m", MessageGroupId="g")),
    "a group on a standard queue with one": Case(
        "SendMessage", plain("m", MessageGroupId="g"), sent=[{**M, "MessageGroupId": "h"}]
    ),
    "no group on a standard queue with one": Case("SendMessage", plain("m"), sent=[{**M, "MessageGroupId": "h"}]),
    "an empty group": Case("SendMessage", plain("m", MessageGroupId="")),
    "a group with a blank": Case("SendMessage", plain("m", MessageGroupId="a b")),
    "a group of every character": Case("SendMessage", plain("m", MessageGroupId=PUNCTUATION)),
    "a group that is too long": Case("SendMessage", plain("m", MessageGroupId="g" * 129)),
    "a group that is null": Case("SendMessage", plain("m", MessageGroupId=None)),
    "a deduplication id on a standard queue": Case("SendMessage", plain("m", MessageDeduplicationId="d")),
    "FIFO": Case("SendMessage", plain("m", **GROUP), FIFO, by_lane=True),
    "FIFO, every character": Case(
        "SendMessage", plain("m", MessageGroupId=PUNCTUATION, MessageDeduplicationId=PUNCTUATION), FIFO, by_lane=True
    ),
    "FIFO without a group": Case("SendMessage", plain("m", MessageDeduplicationId="d"), FIFO),
    "FIFO without a deduplication id": Case("SendMessage", plain("m", MessageGroupId="g"), FIFO),
    "FIFO by content": Case("SendMessage", plain("m", MessageGroupId="g"), BY_CONTENT, by_lane=True),
    "FIFO by content, again": Case(
        "SendMessage", plain("é", MessageGroupId="g"), BY_CONTENT, [{"MessageBody": "é", "MessageGroupId": "g"}]
    ),
    "FIFO, again": Case("SendMessage", plain("other", **GROUP), FIFO, [{**M, **GROUP}], by_lane=True),
    "FIFO with a delay": Case("SendMessage", plain("m", **GROUP, DelaySeconds=1), FIFO),
    "FIFO by content, with an id": Case("SendMessage", plain("m", **GROUP), BY_CONTENT, by_lane=True),
    "nothing encrypted": Case("SendMessage", plain("m"), {"SqsManagedSseEnabled": "false"}, by_lane=True),
}

BATCHES = {
    "one entry": Case("SendMessageBatch", entries(entry("a")), by_lane=True),
    "ten": Case("SendMessageBatch", entries(*(entry(f"e{n}", f"m{n}") for n in range(10))), by_lane=True),
    "none": Case("SendMessageBatch", entries()),
    "eleven": Case("SendMessageBatch", entries(*(entry(f"e{n}") for n in range(11)))),
    "no list": Case("SendMessageBatch", receive()),
    "a list that is null": Case("SendMessageBatch", receive(Entries=None)),
    "an id twice": Case("SendMessageBatch", entries(entry("a"), entry("b"), entry("a"))),
    "a bad id": Case("SendMessageBatch", entries(entry("a b"))),
    "an empty id": Case("SendMessageBatch", entries(entry(""))),
    "no id": Case("SendMessageBatch", entries({"MessageBody": "m"})),
    "an id that is a number": Case("SendMessageBatch", entries(entry(1))),
    "the longest id": Case("SendMessageBatch", entries(entry("a-Z_9" * 16)), by_lane=True),
    "an id that is longer": Case("SendMessageBatch", entries(entry("a" * 81))),
    "an entry without a body": Case("SendMessageBatch", entries(entry("a"), {"Id": "b"})),
    "an empty entry": Case("SendMessageBatch", entries(entry("a"), entry("b", ""))),
    "a bad character": Case("SendMessageBatch", entries(entry("a"), entry("b", "\x01"))),
    "an entry that is too long": Case(
        "SendMessageBatch", entries(entry("a"), entry("b", "x" * 1025)), {"MaximumMessageSize": "1024"}
    ),
    "an entry with an attribute": Case("SendMessageBatch", entries(entry("a"), entry("b", MessageAttributes=COLOUR))),
    "an entry with a delay": Case("SendMessageBatch", entries(entry("a"), entry("b", DelaySeconds=60))),
    "an entry with a group": Case("SendMessageBatch", entries(entry("a"), entry("b", MessageGroupId="g"))),
    "an entry that is null": Case("SendMessageBatch", entries(entry("a"), None)),
    "an unknown member": Case("SendMessageBatch", entries(entry("a", Colour="blue"))),
    "FIFO": Case("SendMessageBatch", entries(entry("a", **GROUP), entry("b", **GROUP)), FIFO, by_lane=True),
    "FIFO, one without a group": Case("SendMessageBatch", entries(entry("a", **GROUP), entry("b")), FIFO),
    "FIFO, one deduplicated": Case(
        "SendMessageBatch",
        entries(entry("a", **GROUP), entry("b", MessageGroupId="g", MessageDeduplicationId="e")),
        FIFO,
        [{**M, **GROUP}],
        by_lane=True,
    ),
    "one with a deduplication id": Case(
        "SendMessageBatch", entries(entry("a"), entry("b", MessageDeduplicationId="d"))
    ),
}

RECEIVES = {
    "one": Case("ReceiveMessage", receive(), sent=TEN, by_lane=True),
    "none there": Case("ReceiveMessage", receive()),
    "some": Case("ReceiveMessage", receive(MaxNumberOfMessages=3), sent=TEN, by_lane=True),
    "all": Case("ReceiveMessage", receive(MaxNumberOfMessages=10), sent=TEN, by_lane=True),
    "more than there are": Case("ReceiveMessage", receive(MaxNumberOfMessages=10), sent=TEN[:3], by_lane=True),
    "0": Case("ReceiveMessage", receive(MaxNumberOfMessages=0), sent=TEN),
    "11": Case("ReceiveMessage", receive(MaxNumberOfMessages=11), sent=TEN),
    "less than none": Case("ReceiveMessage", receive(MaxNumberOfMessages=-1), sent=TEN),
    "1.0": Case("ReceiveMessage", receive(MaxNumberOfMessages=1.0), sent=TEN),
    "1.5": Case("ReceiveMessage", receive(MaxNumberOfMessages=1.5), sent=TEN),
    "1e0": Case("ReceiveMessage", raw('"MaxNumberOfMessages":1e0'), sent=TEN),
    "01": Case("ReceiveMessage", raw('"MaxNumberOfMessages":01'), sent=TEN),
    "true": Case("ReceiveMessage", receive(MaxNumberOfMessages=True), sent=TEN),
    "null": Case("ReceiveMessage", receive(MaxNumberOfMessages=None), sent=TEN),
    "a word": Case("ReceiveMessage", receive(MaxNumberOfMessages="1"), sent=TEN),
    "a long number": Case("ReceiveMessage", receive(MaxNumberOfMessages=10**12), sent=TEN),
    "visible at once": Case("ReceiveMessage", receive(VisibilityTimeout=0), sent=TEN),
    "hidden for long": Case("ReceiveMessage", receive(VisibilityTimeout=43200), sent=TEN, by_lane=True),
    "hidden for too long": Case("ReceiveMessage", receive(VisibilityTimeout=43201), sent=TEN),
    "hidden for less than nothing": Case("ReceiveMessage", receive(VisibilityTimeout=-1), sent=TEN),
    "a queue that hides nothing": Case("ReceiveMessage", receive(), {"VisibilityTimeout": "0"}, sent=TEN),
    "a wait": Case("ReceiveMessage", receive(WaitTimeSeconds=20), sent=TEN, by_lane=True),
    "a wait that is too long": Case("ReceiveMessage", receive(WaitTimeSeconds=21), sent=TEN),
    "a wait of less than nothing": Case("ReceiveMessage", receive(WaitTimeSeconds=-1), sent=TEN),
    "an attempt": Case("ReceiveMessage", receive(ReceiveRequestAttemptId="a"), sent=TEN),
    "names of attributes": Case(
        "ReceiveMessage",
        receive(AttributeNames=["SenderId", "ApproximateReceiveCount"], MessageAttributeNames=["All"]),
        sent=[{**M, "MessageAttributes": COLOUR}],
    ),
    "no names of attributes": Case("ReceiveMessage", receive(AttributeNames=[]), sent=TEN),
    "what has attributes": Case("ReceiveMessage", receive(), sent=[{**M, "MessageAttributes": COLOUR}]),
    "what needs escapes": Case(
        "ReceiveMessage", receive(), sent=[{"MessageBody": '"\\/\n\r\tä\x7f\u2028😀'}], by_lane=True
    ),
    "what is long": Case("ReceiveMessage", receive(), sent=[{"MessageBody": "é" * 4000}]),
    "what was received before": Case("ReceiveMessage", receive(MaxNumberOfMessages=10), sent=TEN, received=3),
    "of groups": Case(
        "ReceiveMessage",
        receive(MaxNumberOfMessages=10),
        sent=[{**M, "MessageGroupId": "g"}, {**M, "MessageGroupId": "h"}, M],
    ),
    "FIFO": Case(
        "ReceiveMessage",
        receive(MaxNumberOfMessages=10),
        FIFO,
        [{"MessageBody": f"m{n}", "MessageGroupId": f"g{n % 2}", "MessageDeduplicationId": f"d{n}"} for n in range(6)],
        by_lane=True,
    ),
    "FIFO, a group that is held": Case(
        "ReceiveMessage", receive(), FIFO, [{**M, **GROUP}, {**M, **GROUP, "MessageDeduplicationId": "e"}], received=1
    ),
    "nothing encrypted": Case(
        "ReceiveMessage", receive(MaxNumberOfMessages=10), {"SqsManagedSseEnabled": "false"}, TEN, by_lane=True
    ),
}

DELETES = {
    "it": Case("DeleteMessage", delete(), sent=TEN, received=1, by_lane=True),
    "a handle that is forged": Case("DeleteMessage", delete(flipped), sent=TEN, received=1),
    "a handle cut off": Case("DeleteMessage", delete(lambda handle: handle[:-4]), sent=TEN, received=1),
    "a handle with more behind it": Case("DeleteMessage", delete(lambda handle: handle + "AAAA"), sent=TEN, received=1),
    "a handle with a blank": Case("DeleteMessage", delete(lambda handle: f"{handle} "), sent=TEN, received=1),
    "no handle": Case("DeleteMessage", receive()),
    "an empty handle": Case("DeleteMessage", delete(lambda handle: ""), sent=TEN, received=1),
    "a handle that is null": Case("DeleteMessage", delete(lambda handle: None), sent=TEN, received=1),
    "a handle that is a number": Case("DeleteMessage", delete(lambda handle: 7), sent=TEN, received=1),
    "a handle that is rubbish": Case("DeleteMessage", delete(lambda handle: "ä\x00"), sent=TEN, received=1),
    "a handle of every letter": Case("DeleteMessage", delete(lambda handle: "=" * 100), sent=TEN, received=1),
    "a body with it": Case("DeleteMessage", receive(MessageBody="m"), sent=TEN, received=1),
    "what is long": Case("DeleteMessage", delete(), sent=[{"MessageBody": "x" * 4000}], received=1, by_lane=True),
    "of a group": Case("DeleteMessage", delete(), sent=[{**M, "MessageGroupId": "g"}], received=1, by_lane=True),
    "FIFO": Case("DeleteMessage", delete(), FIFO, [{**M, **GROUP}], received=1, by_lane=True),
}

DELETE_BATCHES = {
    "one": Case("DeleteMessageBatch", deletes(("a", 0)), sent=TEN, received=1, by_lane=True),
    "ten": Case("DeleteMessageBatch", deletes(*((f"e{n}", n) for n in range(10))), sent=TEN, received=10, by_lane=True),
    "the same handle twice": Case(
        "DeleteMessageBatch", deletes(("a", 0), ("b", 0)), sent=TEN, received=1, by_lane=True
    ),
    "the same id twice": Case("DeleteMessageBatch", deletes(("a", 0), ("a", 1)), sent=TEN, received=2),
    "none": Case("DeleteMessageBatch", deletes()),
    "eleven": Case("DeleteMessageBatch", deletes(*((f"e{n}", 0) for n in range(11))), sent=TEN, received=1),
    "a bad handle": Case("DeleteMessageBatch", deletes(("a", 0), ("b", "AAAA")), sent=TEN, received=1),
    "an empty handle": Case("DeleteMessageBatch", deletes(("a", 0), ("b", "")), sent=TEN, received=1),
    "a bad id": Case("DeleteMessageBatch", deletes(("a!", 0)), sent=TEN, received=1),
    "FIFO": Case("DeleteMessageBatch", deletes(("a", 0)), FIFO, [{**M, **GROUP}], received=1, by_lane=False),
}

CASES = {
    f"{kind}: {name}": case
    for kind, cases in (
        ("send", SENDS),
        ("send batch", BATCHES),
        ("receive", RECEIVES),
        ("delete", DELETES),
        ("delete batch", DELETE_BATCHES),
    )
    for name, case in cases.items()
}


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
    assert await line.by_lane("SendMessage", {"QueueUrl": url, "MessageBody": "m"})
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
