"""What no good client sends: each gets an error of its protocol's own form, never a 5xx, and nothing is changed."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from .clients import Client, JsonClient, QueryClient, Reply
from .harness import ACCOUNT, HOST, Queue, World, make

DEEP = 100_000


async def sends(client: Client, action: str, body: bytes, **headers: str) -> Reply:
    reply = client.read(action, await client.raw(action, body, headers=headers))
    assert 400 <= reply.status < 500, reply.body
    return reply


# JSON


GARBAGE = [
    b"\x00", b"\xff\xfe\x00", b"{", b"}", b"[]", b'"text"', b"5", b"true", b"null", b"{]", b"{'QueueUrl': 1}",
    b"<xml/>", b'{"QueueUrl"}', b'{"QueueUrl":}', b'{"QueueUrl":"a",}', b'{"QueueUrl":"a"} x', b'{"QueueUrl":"a"}{}',
    b"{} ", b"\xef\xbb\xbf{}", b'{"QueueUrl":"\xff"}', b'{"QueueUrl":"\xed\xa0\x80"}', b'{"QueueUrl":"\\ud800"}',
    b'{"QueueUrl":"\\x"}', b'{"QueueUrl":"\x00"}', b'{"QueueUrl":"a\nb"}', b"Action=SendMessage",
    b'{"QueueUrl":"a","MessageBody":NaN}',
]  # fmt: skip


@pytest.mark.parametrize("body", GARBAGE)
async def test_garbage(client: Client, untouched: Queue, body: bytes) -> None:
    if isinstance(client, JsonClient):
        reply = await sends(client, "SendMessage", body)
        assert reply.error_code in ("MalformedInput", "MissingParameter", "InvalidAddress")
        assert " ." not in reply.message, "a parameter without a name"
    else:
        answer = await client.raw("SendMessage", body)
        assert answer.status in (400, 404)


def sending(queue: Queue, more: str) -> bytes:
    return f'{{"QueueUrl":"{queue.url}","MessageBody":"m",{more}}}'.encode()


WRONG: dict[str, list[Any]] = {
    "string": [5, 1.5, True, [], {}, ["a"]],
    "integer": ["5", "", 1.0, 1.5, 1e400, True, [], {}, [5], 2**31, -(2**31) - 1, 10**400],
    "list": ["a", 5, True, {}, {"1": "a"}],
    "map": ["a", 5, True, [], ["a"]],
    "blob": [5, True, [], {}, "not base64!", "YQ", "Y===", "é"],
}
MEMBERS = [
    ("SendMessage", "string", "MessageBody"),
    ("SendMessage", "string", "QueueUrl"),
    ("SendMessage", "string", "MessageGroupId"),
    ("SendMessage", "integer", "DelaySeconds"),
    ("SendMessage", "map", "MessageAttributes"),
    ("ReceiveMessage", "list", "AttributeNames"),
    ("ReceiveMessage", "integer", "MaxNumberOfMessages"),
    ("SendMessageBatch", "list", "Entries"),
    ("TagQueue", "map", "Tags"),
    ("SetQueueAttributes", "map", "Attributes"),
]


@pytest.mark.parametrize(("action", "kind", "member"), MEMBERS)
async def test_a_member_of_the_wrong_type(
    client: Client, untouched: Queue, action: str, kind: str, member: str
) -> None:
    required = {"SendMessage": {"MessageBody": "m"}, "SendMessageBatch": {"Entries": [{"Id": "1", "MessageBody": "m"}]}}
    good = {"QueueUrl": untouched.url} | required.get(action, {})
    for value in WRONG[kind] if client.protocol == "json" else []:
        text = json.dumps(good | {member: value}).replace("Infinity", "1e400")
        reply = await sends(client, action, text.encode())
        assert reply.error_code == "MalformedInput"


@pytest.mark.parametrize("value", WRONG["blob"])
async def test_a_blob_that_is_not_base64(client: Client, untouched: Queue, value: Any) -> None:
    attribute = {"DataType": "Binary", "BinaryValue": value}
    if client.protocol == "json" or isinstance(value, str):
        reply = await untouched.call("SendMessage", MessageBody="m", MessageAttributes={"k": attribute})
        assert reply.status == 400


@pytest.mark.parametrize(
    ("action", "more"),
    [
        ("SendMessage", {"MessageAttributes": {"k": "text"}}),
        ("SendMessage", {"MessageAttributes": {"k": None}}),
        ("SendMessage", {"MessageAttributes": {"k": {"DataType": 5, "StringValue": "v"}}}),
        ("SendMessage", {"MessageAttributes": {"k": {"DataType": "String", "StringValue": ["v"]}}}),
        ("SendMessage", {"MessageAttributes": {"k": {}}}),
        ("SendMessageBatch", {"Entries": [5]}),
        ("SendMessageBatch", {"Entries": [None]}),
        ("SendMessageBatch", {"Entries": [[]]}),
        ("SendMessageBatch", {"Entries": [{"Id": "1", "MessageBody": 5}]}),
        ("SendMessageBatch", {"Entries": [{"Id": None, "MessageBody": "m"}]}),
        ("SendMessageBatch", {"Entries": None}),
        ("DeleteMessageBatch", {"Entries": [{"Id": "1", "ReceiptHandle": None}]}),
        ("TagQueue", {"Tags": {"k": None}}),
        ("TagQueue", {"Tags": {"k": 5}}),
        ("TagQueue", {}),
        ("UntagQueue", {"TagKeys": [None]}),
        ("UntagQueue", {}),
        ("SetQueueAttributes", {"Attributes": {"DelaySeconds": 5}}),
        ("SetQueueAttributes", {"Attributes": {"DelaySeconds": None}}),
        ("SetQueueAttributes", {}),
        ("ReceiveMessage", {"AttributeNames": [5]}),
        ("ReceiveMessage", {"AttributeNames": [None]}),
        ("AddPermission", {"Label": "l", "AWSAccountIds": [5], "Actions": ["SendMessage"]}),
        ("ChangeMessageVisibility", {"ReceiptHandle": "h", "VisibilityTimeout": None}),
    ],
)
async def test_what_is_inside_is_checked_too(
    client: Client, untouched: Queue, action: str, more: dict[str, Any]
) -> None:
    if client.protocol == "json":
        body = {"QueueUrl": untouched.url} | ({"MessageBody": "m"} if action == "SendMessage" else {}) | more
        await sends(client, action, json.dumps(body).encode())


async def test_unknown_members_are_ignored(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    done = await queue.call("SendMessage", MessageBody="m", Foo="bar", Bar=5, messagebody="x")
    assert done.ok
    assert await queue.bodies() == ["m"]


REPEATED = [
    '"MessageBody":"n"',
    f'"QueueUrl":"http://{HOST}/{ACCOUNT}/other"',
    '"DelaySeconds":0,"DelaySeconds":1',
    '"MessageAttributes":{},"MessageAttributes":{}',
    '"DelaySeconds"\r:0,"DelaySeconds"\t \n:1',
    '"MessageAttributes":{"k":{"DataType":"String","DataType":"Number","StringValue":"1"}}',
    '"MessageAttributes":{"k":{"DataType":"String","StringValue":"1"},"k":{"DataType":"String","StringValue":"2"}}',
]


@pytest.mark.parametrize("more", REPEATED)
async def test_a_key_stands_once_in_an_object(client: Client, untouched: Queue, more: str) -> None:
    if client.protocol == "json":
        assert (await sends(client, "SendMessage", sending(untouched, more))).error_code == "MalformedInput"


async def test_also_in_the_entries_of_a_batch_and_beside_them(client: Client, untouched: Queue) -> None:
    good, twice = '{"Id":"1","MessageBody":"m"}', '{"Id":"2","MessageBody":"m","DelaySeconds":1,"DelaySeconds":2}'
    url = f'"QueueUrl":"{untouched.url}"'
    bodies = [f'{{{url},"Entries":[{good},{twice}]}}', f'{{{url},{url},"Entries":[{good}]}}']
    for body in bodies if client.protocol == "json" else []:
        assert (await sends(client, "SendMessageBatch", body.encode())).error_code == "MalformedInput"


async def test_a_key_may_stand_twice_in_a_request_if_not_in_one_object(client: Client) -> None:
    queue = await make(client, "orders")
    body = sending(queue, '"MessageAttributes":{"QueueUrl":{"DataType":"String","StringValue":"MessageBody"}}')
    if client.protocol == "json":
        assert client.read("SendMessage", await client.raw("SendMessage", body)).ok


@pytest.mark.parametrize(
    "value",
    [
        b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"[[" * 490 + b"]]" * 490,
        b"9" * 5000, b"-" + b"9" * 5000, b'"\xff"', b'"\xed\xa0\x80"', b"1e999999", b"NaN", b'"\\ud800"',
        b'"' + b"a" * 3_000_000 + b'"',
    ],
    ids=lambda value: f"{value[:6]!r}x{len(value)}",
)  # fmt: skip
async def test_a_value_that_nobody_asked_for_breaks_nothing(world: World, client: Client, value: bytes) -> None:
    """It may be refused or ignored, also when a word stands in the request twice and is looked at more closely."""
    queue = await make(client, "orders")
    if client.protocol == "json":
        for body in ("m", "QueueUrl"):
            start = f'{{"QueueUrl":"{queue.url}","MessageBody":"{body}","Foo":'
            answer = await client.raw("SendMessage", start.encode() + value + b"}")
            assert answer.status in (200, 400), answer.body


@pytest.mark.parametrize("depth", range(900, 1000, 3))
async def test_the_deepest_request_that_can_be_read_breaks_nothing(world: World, client: Client, depth: int) -> None:
    queue = await make(client, "orders")
    if client.protocol == "json":
        body = sending(queue, f'"MessageGroupId":"QueueUrl","Foo":{"[" * depth}{"]" * depth}')
        assert (await client.raw("SendMessage", body)).status in (200, 400)


# Query


FORMS = [
    b"", b"\x00", b"\xff\xfe", b"Action", b"Action=", b"=", b"&&&", b"Action=SendMessage&Action=SendMessage", b"{}",
    b"Action=SendMessage&MessageBody=%ff", b"Action=SendMessage&MessageBody=%ED%A0%80", b"Action=%00",
    b"Action=SendMessage&MessageBody=\xff", b"Action=SendMessage&MessageBody=m&MessageBody=n",
]  # fmt: skip


@pytest.mark.parametrize("body", FORMS)
async def test_a_form_that_is_none(client: Client, untouched: Queue, body: bytes) -> None:
    if isinstance(client, QueryClient):
        answer = await client.raw(
            "SendMessage", body.replace(b"SendMessage&", f"SendMessage&QueueUrl={untouched.url}&".encode())
        )
        assert answer.status in (400, 404)
        if answer.status == 400:
            client.read("SendMessage", answer)


@pytest.mark.parametrize("text", ["%", "%z", "%4", "%%", "%u0041", "100%"])
async def test_a_percent_sign_that_encodes_nothing_breaks_nothing(client: Client, text: str) -> None:
    queue = await make(client, "orders")
    if isinstance(client, QueryClient):
        answer = await client.raw("SendMessage", f"Action=SendMessage&QueueUrl={queue.url}&MessageBody={text}".encode())
        assert answer.status in (200, 400)
        answer = await client.get(f"/{ACCOUNT}/orders", f"Action=SendMessage&MessageBody={text}")
        assert answer.status in (200, 400, 403)


def form(queue: Queue, action: str, *fields: str) -> bytes:
    return "&".join([f"Action={action}", f"QueueUrl={quote(queue.url, safe='')}", *fields]).encode()


BOMBS = {
    "fields": [f"a{number}=b" for number in range(1001)],
    "entries": [f"SendMessageBatchRequestEntry.{number}.Id=a" for number in range(1, 998)],
    "index": ["MessageBody=m", "MessageAttribute.999999999.Name="],
    "index-long": ["SendMessageBatchRequestEntry.99999999999999999999999.Id=a"],
    "dots": ["SendMessageBatchRequestEntry" + ".1" * 100_000 + "=a"],
    "name": ["a" * 1_000_000 + "=b", "a" * 1_000_000 + "=b"],
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_form_bomb(client: Client, untouched: Queue, bomb: str) -> None:
    if client.protocol == "query":
        action = "SendMessage" if bomb == "index" else "SendMessageBatch"
        await sends(client, action, form(untouched, action, *BOMBS[bomb]))


@pytest.mark.parametrize(
    "fields",
    [
        ["MessageBody=m", "MessageAttribute.1.Value.DataType=String", "MessageAttribute.1.Value.StringValue=v"],
        ["MessageBody=m", "MessageAttribute.1.Name=k"],
        ["MessageBody=m", "MessageAttribute.1.Name=k", "MessageAttribute.1.Value=v"],
        ["MessageBody.1=m"],
        ["MessageBody.Foo.Bar=m"],
        ["MessageBody=m", "DelaySeconds.1=5"],
        ["MessageBody=m", "DelaySeconds=" + "9" * 5000],
        ["MessageBody=m", "DelaySeconds=NaN"],
    ],
)
async def test_a_form_whose_parts_do_not_fit(client: Client, untouched: Queue, fields: list[str]) -> None:
    if client.protocol == "query":
        answer = await client.raw("SendMessage", form(untouched, "SendMessage", *fields))
        assert client.read("SendMessage", answer).status == 400
