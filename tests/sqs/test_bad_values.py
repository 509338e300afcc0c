"""Values that no good client sends, in requests that are well made: handles, addresses, documents, headers."""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from .clients import Answer, Client, Reply
from .harness import ACCOUNT, HOST, REGION, ROOT, Queue, World, make, make_with_dead_letters, no_such_queue, refused

DEEP = 100_000


async def sends(client: Client, action: str, body: bytes, **headers: str) -> Reply:
    reply = client.read(action, await client.raw(action, body, headers=headers))
    assert 400 <= reply.status < 500, reply.body
    return reply


HANDLES = ["", "garbage", " ", "é", "=", "AQEB", "A" * 100_000, "\U0001f600", "AAAA" * 20]


@pytest.mark.parametrize("handle", HANDLES, ids=lambda handle: repr(handle[:10]))
async def test_a_handle_that_is_none(client: Client, untouched: Queue, handle: str) -> None:
    for action, more in (("DeleteMessage", {}), ("ChangeMessageVisibility", {"VisibilityTimeout": 0})):
        reply = await untouched.call(action, ReceiptHandle=handle, **more)
        assert (reply.status, reply.error_code) in ((404, "ReceiptHandleIsInvalid"), (400, "MissingParameter"))


async def test_a_handle_that_was_tampered_with(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    handle = (await queue.take())["ReceiptHandle"]
    raw = bytearray(base64.b64decode(handle))
    for place in range(len(raw)):
        raw[place] ^= 1
        forged = base64.b64encode(bytes(raw)).decode()
        raw[place] ^= 1
        reply = await queue.call("DeleteMessage", ReceiptHandle=forged)
        assert reply.error_code == "ReceiptHandleIsInvalid"
    assert await queue.counts() == (0, 1, 0)


URLS = [
    "http://", "http://queue.test", "http://queue.test/", "http://queue.test/orders", f"http://queue.test/{ACCOUNT}/",
    f"http://queue.test/{ACCOUNT}/orders/more", "//", "/", f"/{ACCOUNT}//orders", "a/b/c", "http:///x/y/z",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
async def test_a_queue_url_that_is_none(client: Client, untouched: Queue, url: str) -> None:
    message = f"The address {url} is not valid for this endpoint."
    await refused(client, "InvalidAddress", message, "SendMessage", QueueUrl=url, MessageBody="m")


@pytest.mark.parametrize("name", ["nowhere", "a b", "\x00", "é", "%6Frders", "orders\n", "../orders", "x" * 10_000])
async def test_the_url_of_a_queue_that_cannot_be(client: Client, untouched: Queue, name: str) -> None:
    if "/" in name:
        reply = await client.call("PurgeQueue", QueueUrl=f"http://queue.test/{ACCOUNT}/{name}")
        assert reply.error_code == "InvalidAddress"
    else:
        await no_such_queue(client, "PurgeQueue", QueueUrl=f"http://queue.test/{ACCOUNT}/{name}")


DOCUMENTS = [
    "[" * DEEP,
    '{"a":' * DEEP,
    '{"Statement":' + "[" * DEEP,
    "9" * 5000,
    "\ufeff{}",
    '{"maxReceiveCount":' + "9" * 5000,
]


@pytest.mark.parametrize("attribute", ["Policy", "RedrivePolicy", "RedriveAllowPolicy"])
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: f"{document[:8]}x{len(document)}")
async def test_a_document_that_cannot_be_read(client: Client, untouched: Queue, attribute: str, document: str) -> None:
    reply = await untouched.call("SetQueueAttributes", Attributes={attribute: document})
    assert reply.status == 400


@pytest.mark.parametrize(
    "policy",
    [
        '{"Statement":["x"]}', '{"Statement":null}', '{"Statement":5}', '{"Statement":[null]}',
        '{"Statement":{"Sid":[]}}', '{"Version":5,"Id":{}}', '{"Statement":[{"Sid":"\\ud800"}]}', '{"a":NaN}', "{}",
    ],
)  # fmt: skip
async def test_a_strange_policy_is_refused_or_can_be_lived_with(world: World, client: Client, policy: str) -> None:
    queue = await make(client, "orders")
    await queue.call("SetQueueAttributes", Attributes={"Policy": policy})
    permission = {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["SendMessage"]}
    await queue.call("AddPermission", **permission)
    await queue.call("GetQueueAttributes", AttributeNames=["All"])
    await queue.call("RemovePermission", Label="l")
    assert [call.action for call in world.calls if call.status >= 500] == []


TASKS: list[Any] = [
    "[" * DEEP, {"taskId": "\ud800", "sourceArn": "ARN"}, {"taskId": None, "sourceArn": "ARN"},
    {"taskId": "\0", "sourceArn": "ARN"}, {"taskId": "x", "sourceArn": "\ud800"}, {"taskId": "x", "sourceArn": 5},
    {"taskId": [], "sourceArn": {}}, "x", None, [],
    {"taskId": "x" * 1_000_000, "sourceArn": "ARN"},
]  # fmt: skip


@pytest.mark.parametrize("task", TASKS, ids=lambda task: repr(task)[:24])
async def test_a_task_handle_that_is_none(world: World, client: Client, task: Any) -> None:
    _, dead = await make_with_dead_letters(client, "jobs", 1)
    text = task if isinstance(task, str) else json.dumps(task).replace("ARN", dead.arn)
    handle = base64.b64encode(text.encode()).decode()
    reply = await client.call("CancelMessageMoveTask", TaskHandle=handle)
    assert reply.status in (400, 404)


@pytest.mark.parametrize("token", ["garbage", "é", "====", "/w==", "A" * 100_001, " ", "7aCA"])
async def test_a_token_that_is_none(client: Client, untouched: Queue, token: str) -> None:
    for action in ("ListQueues", "ListDeadLetterSourceQueues"):
        params = {} if action == "ListQueues" else {"QueueUrl": untouched.url}
        reply = await client.call(action, MaxResults=5, NextToken=token, **params)
        assert reply.status in (200, 400)


# The request around it


TARGETS = [
    "", ".", "AmazonSQS", "AmazonSQS.", ".SendMessage", "AmazonSQS.FooBar", "amazonsqs.SendMessage",
    "AmazonSQS.SendMessage.x", "AmazonSNS.Publish", "x" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
async def test_a_target_that_is_none(client: Client, untouched: Queue, target: str) -> None:
    if client.protocol == "json":
        reply = await sends(client, "SendMessage", b"{}", **{"X-Amz-Target": target})
        assert reply.error_code == "InvalidAction"
    else:
        action = target.rpartition(".")[2] or "x"
        if action != "SendMessage":
            assert (await sends(client, action, f"Action={quote(action)}".encode())).error_code == "InvalidAction"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "FOO"])
async def test_a_method_that_is_none(world: World, client: Client, untouched: Queue, method: str) -> None:
    headers = {"Host": HOST, "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.PurgeQueue"}
    if client.protocol == "query":
        headers = {"Host": HOST, "Content-Type": "application/x-www-form-urlencoded"}
    body = b'{"QueueUrl":"orders"}' if client.protocol == "json" else b"Action=PurgeQueue&QueueUrl=orders"
    send = client._send  # the signed way in
    answer = await send(method, "/", headers, body if method != "GET" or client.protocol == "json" else b"")
    assert 400 <= answer.status < 500
    if client.protocol == "json":
        assert client.read("PurgeQueue", answer).error_code == "InvalidAction"


@pytest.mark.parametrize("content_type", ["text/plain", "", "multipart/form-data; boundary=x", "application/json", "é"])
async def test_a_content_type_that_is_none(world: World, client: Client, untouched: Queue, content_type: str) -> None:
    if client.protocol == "query":
        answer: Answer = await client.raw(
            "PurgeQueue", b"Action=PurgeQueue&QueueUrl=orders", headers={"Content-Type": content_type}
        )
        assert 400 <= answer.status < 500


SCOPE, SIGNED = f"{ROOT}/20231114/{REGION}/sqs/aws4_request", "SignedHeaders=host, "


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Basic dTpw"},
        {"Authorization": "AWS4-HMAC-SHA256"},
        {"Authorization": f"AWS4-HMAC-SHA256 Credential=a/b/c/d/e, {SIGNED}Signature=x"},
        {"Authorization": f"AWS4-HMAC-SHA256 Credential={SCOPE}, {SIGNED}Signature={'0' * 64}"},
        {"Authorization": "\xff" * 100, "X-Amz-Date": "20231114T221320Z"},
    ],
)
async def test_a_signature_that_is_none(
    world: World, client: Client, untouched: Queue, headers: dict[str, str]
) -> None:
    given = {"Host": HOST, "X-Amz-Date": "20231114T221320Z"} | headers
    if client.protocol == "json":
        given |= {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.PurgeQueue"}
        body = b'{"QueueUrl":"orders"}'
    else:
        given |= {"Content-Type": "application/x-www-form-urlencoded"}
        body = b"Action=PurgeQueue&QueueUrl=orders"
    reply = client.read("PurgeQueue", await world.http("POST", "/", given, body))
    assert reply.status in (400, 403)
