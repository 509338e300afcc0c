"""Requests, plain and odd, and the queues that they are made to: what `test_answers` has answered in both ways."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .lane import Json

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
