"""Rows 139–144: forms of replies, addresses, types, throttling."""

import json
from ipaddress import ip_network
from typing import Any

import pytest

from penstock.api.addresses import Addresses
from penstock.core.limits import Limits

from .clients import AS_JSON, Client, check_request_id
from .harness import ACCOUNT, HOST, ROOT, STRANGER, World, done, make, refused, row


@row(139, 143)
async def test_a_client_may_ask_for_json(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    if client.protocol == "json":
        done(await queue.call("SendMessage", MessageBody="m", headers=AS_JSON))
        message = done(await queue.call("ReceiveMessage", headers=AS_JSON))["Messages"][0]
        done(await queue.call("DeleteMessage", ReceiptHandle=message["ReceiptHandle"], headers=AS_JSON))
        return
    await queue.send("m")
    query = world.query()

    async def ask(path: str, **params: str) -> tuple[int, Any]:
        answer = await query.get(path, params, AS_JSON)
        check_request_id(answer)
        assert answer.headers["content-type"] == "application/json"
        return answer.status, json.loads(answer.body)

    status, listed = await ask("/", Action="ListQueues")
    assert (status, list(listed)) == (200, ["ListQueuesResponse"])
    status, received = await ask(queue.path, Action="ReceiveMessage")
    assert received["ReceiveMessageResponse"]["ResponseMetadata"].keys() == {"RequestId"}
    (message,) = received["ReceiveMessageResponse"]["ReceiveMessageResult"]["messages"]
    assert (status, message["Body"]) == (200, "m")
    status, told = await ask(queue.path, **{"Action": "GetQueueAttributes", "AttributeName.1": "All"})
    attributes = told["GetQueueAttributesResponse"]["GetQueueAttributesResult"]["Attributes"]
    assert {"Name": "VisibilityTimeout", "Value": "30"} in attributes
    status, refused_ = await ask(queue.path, Action="ListQueues")
    assert status == 400
    assert refused_["Error"]["Code"] == "InvalidAction"
    assert refused_["Error"]["Message"] == "The action ListQueues is not valid for this endpoint."
    status, deleted = await ask(queue.path, Action="DeleteMessage", ReceiptHandle=message["ReceiptHandle"])
    assert (status, list(deleted)) == (200, ["DeleteMessageResponse"])


@row(140)
async def test_queue_urls_name_the_host_that_the_client_named(client: Client) -> None:
    queue = await make(client, "orders")
    assert queue.url == f"http://{HOST}/{ACCOUNT}/orders"
    forged = {"X-Forwarded-Host": "evil.test", "X-Forwarded-Proto": "https"}
    for action, params in (("GetQueueUrl", {"QueueName": "orders"}), ("CreateQueue", {"QueueName": "orders"})):
        assert done(await client.call(action, headers=forged, **params)) == {"QueueUrl": queue.url}
    assert done(await client.call("ListQueues", headers=forged)) == {"QueueUrls": [queue.url]}


PROXIED = Addresses(trusted_proxies=(ip_network("192.0.2.0/24"),))


@row(140)
@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({"addresses": Addresses("https://queues.example")}, f"https://queues.example/{ACCOUNT}/orders"),
        ({"addresses": PROXIED}, f"https://front.test/{ACCOUNT}/orders"),
    ],
)
async def test_queue_urls_name_what_the_operator_says_or_a_trusted_proxy(client: Client, url: str) -> None:
    headers = {"X-Forwarded-Host": "front.test", "X-Forwarded-Proto": "https"}
    created = done(await client.call("CreateQueue", QueueName="orders", headers=headers))
    assert created == {"QueueUrl": url}
    done(await client.call("SendMessage", QueueUrl=url, MessageBody="m"))


@row(141)
async def test_every_reply_has_a_request_id_of_its_own(world: World, client: Client) -> None:
    queue, query = await make(client, "orders"), world.query()
    answers = [
        await queue.call("ReceiveMessage"),
        await queue.call("DeleteMessage", ReceiptHandle="garbage"),
        await queue.call("FooBar"),
        await world.client(client.protocol, secret="wrong").call("ListQueues"),
        await query.get("/", {"Action": "ListQueues"}, AS_JSON),
        await query.get(queue.path, ""),
    ]
    for answer in answers:
        check_request_id(answer)
    assert len({answer.headers["x-amzn-requestid"] for answer in answers}) == len(answers)


NUMBERS = {
    "ReceiveMessage": ("MaxNumberOfMessages", "WaitTimeSeconds", "VisibilityTimeout"),
    "SendMessage": ("DelaySeconds",),
    "ChangeMessageVisibility": ("VisibilityTimeout",),
    "ListDeadLetterSourceQueues": ("MaxResults",),
}


@row(142)
@pytest.mark.parametrize("action", NUMBERS)
async def test_a_number_is_a_number(client: Client, action: str) -> None:
    queue = await make(client, "orders")
    rest = {"MessageBody": "m"} if action == "SendMessage" else {}
    rest |= {"ReceiptHandle": "h"} if action == "ChangeMessageVisibility" else {}
    wrong = (
        ["1", True, 1.0, 1.5, [1], {"a": 1}]
        if client.protocol == "json"
        else ["", "x", "1.5", "1.0", "1e0", "true", "null", "٣"]
    )
    for member in NUMBERS[action]:
        for value in wrong:
            await queue.refuses("MalformedInput", None, action, **rest | {member: value})
    assert await queue.counts() == (0, 0, 0)


@row(142)
async def test_what_is_of_the_wrong_type_is_named_as_amazon_names_it(client: Client) -> None:
    queue = await make(client, "orders")
    if client.protocol == "json":
        text = "STRING_VALUE can not be converted to an Integer"
        await queue.refuses("MalformedInput", text, "ReceiveMessage", VisibilityTimeout="30")
        text = "Start of list found where not expected"
        await queue.refuses("MalformedInput", text, "SendMessage", MessageBody=["m"])
        text = "Start of structure or map found where not expected."
        await queue.refuses("MalformedInput", text, "SendMessage", MessageBody={"m": 1})
        for value in (5, True, 1.5):
            await queue.refuses("MalformedInput", None, "SendMessage", MessageBody=value)
            await queue.refuses("MalformedInput", None, "SetQueueAttributes", Attributes={"DelaySeconds": value})
    else:
        await queue.set(DelaySeconds="5")
    assert await queue.counts() == (0, 0, 0)


@row(143)
async def test_what_has_no_output_says_nothing_and_says_it_with_200(client: Client) -> None:
    queue = await make(client, "orders")
    await queue.send()
    handle = (await queue.take())["ReceiptHandle"]
    permission = {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["SendMessage"]}
    for action, params in (
        ("ChangeMessageVisibility", {"ReceiptHandle": handle, "VisibilityTimeout": 9}),
        ("DeleteMessage", {"ReceiptHandle": handle}),
        ("SetQueueAttributes", {"Attributes": {"DelaySeconds": "0"}}),
        ("TagQueue", {"Tags": {"k": "v"}}),
        ("UntagQueue", {"TagKeys": ["k"]}),
        ("AddPermission", permission),
        ("RemovePermission", {"Label": "l"}),
        ("PurgeQueue", {}),
        ("DeleteQueue", {}),
    ):
        reply = await queue.call(action, **params)
        assert (reply.status, reply.result) == (200, {})
        if client.protocol == "query":
            request_id = reply.headers["x-amzn-requestid"]
            assert reply.body.decode() == (
                f'<?xml version="1.0"?><{action}Response xmlns="http://queue.amazonaws.com/doc/2012-11-05/">'
                f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{action}Response>"
            )


@row(144, differs=True)
async def test_who_guesses_too_fast_is_throttled(world: World, client: Client) -> None:
    await make(client, "orders")
    guesser = world.client(client.protocol, ROOT, secret="wrong")
    codes = [(await guesser.call("ListQueues")).error_code for _ in range(25)]
    assert codes[0] == "SignatureDoesNotMatch"
    assert codes[-1] == "RequestThrottled"
    await refused(client, "RequestThrottled", "Request is throttled.", "ListQueues")
    world.advance(2)
    done(await client.call("ListQueues"))


@row(144, differs=True)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_requests_per_second_per_queue=3)}])
async def test_a_queue_that_is_asked_too_often_is_throttled_alone(world: World, client: Client) -> None:
    queue, other = await make(client, "orders"), await make(client, "other")
    for _ in range(2):
        await queue.send()
    await queue.refuses("RequestThrottled", "Request is throttled.", "SendMessage", MessageBody="m")
    await other.send()
    world.advance(1)
    assert await queue.counts() == (2, 0, 0)


@row(144, differs=True)
@pytest.mark.parametrize("settings", [{"limits": Limits(max_requests_per_second_per_account=3)}])
async def test_an_account_that_asks_too_often_is_throttled_alone(world: World, client: Client) -> None:
    for _ in range(3):
        done(await client.call("ListQueues"))
    await refused(client, "RequestThrottled", "Request is throttled.", "ListQueues")
    done(await world.client(client.protocol, STRANGER).call("ListQueues"))
    world.advance(1)
    done(await client.call("ListQueues"))
