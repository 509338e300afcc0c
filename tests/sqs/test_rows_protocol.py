"""Rows 130–138: the two protocols themselves."""

import json
from urllib.parse import urlencode

import pytest

from penstock.aws.errors import ERRORS

from .clients import AS_JSON, Client
from .harness import ACCOUNT, HOST, OTHER_ACCOUNT, REGION, World, check_refusal, done, make, refused, row
from .refusals import REFUSALS


@row(130)
async def test_a_call_is_a_post_to_the_root_or_to_the_queue(client: Client) -> None:
    queue, other = await make(client, "orders"), await make(client, "other")
    for path in ("/", queue.path, other.path):
        done(await client.call("SendMessage", path=path, QueueUrl=queue.url, MessageBody="m"))
    assert await queue.counts() == (3, 0, 0)


@row(130, 140, differs=True)
@pytest.mark.parametrize(
    "url",
    [
        f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/orders",
        f"https://{REGION}.queue.amazonaws.com/{ACCOUNT}/orders",
        f"https://queue.amazonaws.com/{ACCOUNT}/orders",
        f"https://sqs.eu-fake-99.amazonaws.com/{ACCOUNT}/orders",
        f"http://localhost:4566/{ACCOUNT}/orders",
        f"ftp://user@[::1]:1/{ACCOUNT}/orders/",
        f"/{ACCOUNT}/orders",
        f"{ACCOUNT}/orders",
        "orders",
    ],
)
async def test_of_a_queue_url_only_the_path_counts(client: Client, url: str) -> None:
    queue = await make(client, "orders")
    assert done(await client.call("SendMessage", QueueUrl=url, MessageBody="Using name instead of URL")) == {
        "MD5OfMessageBody": "86a83f96652a1bfad3891e7d523750cb",
        "MessageId": (await queue.take())["MessageId"],
    }


@row(131)
async def test_the_form_of_an_error_byte_by_byte(client: Client) -> None:
    reply = await client.call("GetQueueUrl", QueueName="nowhere")
    request_id = reply.headers["x-amzn-requestid"]
    if client.protocol == "json":
        assert reply.body == (
            b'{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."}'
        )
        assert reply.headers == {
            "content-type": "application/x-amz-json-1.0",
            "x-amzn-requestid": request_id,
            "x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender",
        }
    else:
        assert reply.body.decode() == (
            '<?xml version="1.0"?><ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><Error>'
            "<Type>Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code>"
            "<Message>The specified queue does not exist for this wsdl version.</Message><Detail/></Error>"
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
        assert reply.headers == {"content-type": "text/xml", "x-amzn-requestid": request_id}


@row(131)
async def test_common_errors_belong_to_the_framework(client: Client) -> None:
    reply = await client.call("ReceiveMessage")
    check_refusal(client, reply, "MissingParameter", "The request must contain the parameter QueueUrl.")
    assert reply.error_type in ("", "com.amazon.coral.service#MissingRequiredParameterException")


@row(132)
async def test_every_error_has_the_name_that_each_protocol_gives_it(client: Client) -> None:
    for shape, expected in REFUSALS.items():
        ours = ERRORS[shape]
        assert (ours.json_type, ours.query_code, ours.status) == (expected.json_type, expected.code, expected.status)
    queue = await make(client, "orders")
    entries = [{"Id": "a", "MessageBody": "m"}] * 2
    await queue.refuses("BatchEntryIdsNotDistinct", None, "SendMessageBatch", Entries=entries)
    await refused(client, "QueueNameExists", None, "CreateQueue", QueueName="orders", Attributes={"DelaySeconds": "9"})
    await queue.refuses("InvalidParameterValue", None, "ReceiveMessage", MaxNumberOfMessages=11)
    await queue.refuses("MissingParameter", None, "SendMessage", MessageBody="")
    stranger = f"http://{HOST}/{OTHER_ACCOUNT}/orders"
    await refused(client, "AccessDenied", None, "SendMessage", QueueUrl=stranger, MessageBody="m")


@row(133)
@pytest.mark.parametrize("mode", ["true", "false", None])
async def test_the_statuses_of_query_are_for_clients_that_ask(client: Client, mode: str | None) -> None:
    queue = await make(client, "orders")
    await queue.do("PurgeQueue")
    headers = {"x-amzn-query-mode": mode or ""}
    wanted = mode == "true" or client.protocol == "query"
    for action, params, status in (
        ("PurgeQueue", {}, 403),
        ("DeleteMessage", {"ReceiptHandle": "garbage"}, 404),
        ("SendMessage", {"MessageBody": ""}, 400),
    ):
        reply = await queue.call(action, headers=headers, **params)
        assert reply.status == (status if wanted else 400)
    move = {"SourceArn": f"{queue.arn}-nowhere", "headers": headers}
    assert (await client.call("StartMessageMoveTask", **move)).status == (404 if wanted else 400)


@row(134)
async def test_the_spelling_of_a_request_and_its_reply(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    if client.protocol == "json":
        body = (
            f'{{"QueueUrl":"{queue.url}","Entries":[{{"Id":"one","MessageBody":"a b","DelaySeconds":0,'
            '"MessageAttributes":{"Foo":{"DataType":"String","StringValue":"Bar"},"B":{"DataType":"Binary",'
            '"BinaryValue":"AP8="}},"MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String",'
            '"StringValue":"some-value"}}}]}'
        )
    else:
        entry = "SendMessageBatchRequestEntry.1"
        body = (
            f"Action=SendMessageBatch&Version=2012-11-05&QueueUrl={queue.url}&{entry}.Id=one&{entry}.MessageBody=a+b"
            f"&{entry}.DelaySeconds=0&{entry}.MessageAttribute.1.Name=Foo"
            f"&{entry}.MessageAttribute.1.Value.DataType=String&{entry}.MessageAttribute.1.Value.StringValue=Bar"
            f"&{entry}.MessageAttribute.2.Name=B&{entry}.MessageAttribute.2.Value.DataType=Binary"
            f"&{entry}.MessageAttribute.2.Value.BinaryValue=AP8%3D&{entry}.MessageSystemAttribute.1.Name=AWSTraceHeader"
            f"&{entry}.MessageSystemAttribute.1.Value.DataType=String"
            f"&{entry}.MessageSystemAttribute.1.Value.StringValue=some-value"
        )
    reply = client.read("SendMessageBatch", await client.raw("SendMessageBatch", body.encode()))
    (sent,) = done(reply)["Successful"]
    assert sent["MD5OfMessageSystemAttributes"] == "a3263a0cbc09023ccd431feb61438309"
    ask = {"QueueUrl": queue.url, "AttributeNames": ["ApproximateReceiveCount"], "MessageAttributeNames": ["Foo"]}
    if client.protocol == "json":
        answer = await client.raw("ReceiveMessage", json.dumps(ask).encode())
    else:
        form = {"Action": "ReceiveMessage", "QueueUrl": queue.url, "MessageAttributeName.1": "Foo"}
        form |= {"AttributeName.1": "ApproximateReceiveCount"}
        answer = await client.raw("ReceiveMessage", urlencode(form).encode())
    message = client.read("ReceiveMessage", answer).result["Messages"][0]
    parts = {"handle": message["ReceiptHandle"], "id": sent["MessageId"], "md5": "ae7155c6026991b6d54b11589678bf9c"}
    if client.protocol == "json":
        expected = (
            '{{"Messages":[{{"Attributes":{{"ApproximateReceiveCount":"1"}},"Body":"a b",'
            '"MD5OfBody":"0cc2d3ca4fb2ec1f0c8b06df2b9f0bb0","MD5OfMessageAttributes":"{md5}",'
            '"MessageAttributes":{{"Foo":{{"DataType":"String","StringValue":"Bar"}}}},"MessageId":"{id}",'
            '"ReceiptHandle":"{handle}"}}]}}'
        ).format(**parts)
        assert answer.body.decode() == expected.replace("0cc2d3ca4fb2ec1f0c8b06df2b9f0bb0", message["MD5OfBody"])
    else:
        for part in (
            "<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute>",
            "<MessageAttribute><Name>Foo</Name><Value><StringValue>Bar</StringValue><DataType>String</DataType></Value>"
            "</MessageAttribute>",
            "<Body>a b</Body>",
        ):
            assert part in answer.body.decode()


@row(134, 135)
async def test_a_get_of_the_queues_url_is_a_call_too(world: World, client: Client) -> None:
    queue, other = await make(client, "orders"), await make(client, "other")
    query = world.query()
    sent = query.read("SendMessage", await query.get(queue.path, {"Action": "SendMessage", "MessageBody": "a+b c"}))
    assert done(sent).keys() == {"MD5OfMessageBody", "MessageId"}
    assert await queue.bodies() == ["a+b c"]
    asked = {"Action": "GetQueueAttributes", "AttributeName.1": "VisibilityTimeout", "Version": "2012-11-05"}
    answer = await query.get(other.path, asked)
    assert b"<Attribute><Name>VisibilityTimeout</Name><Value>30</Value></Attribute>" in answer.body


@row(135)
async def test_a_queue_url_in_the_request_overrides_the_path(world: World, client: Client) -> None:
    named, at = await make(client, "named"), await make(client, "at")
    done(await client.call("SendMessage", path=at.path, QueueUrl=named.url, MessageBody="m"))
    query = world.query()
    given = {"Action": "SendMessage", "MessageBody": "m", "QueueUrl": named.url}
    assert (await query.get(at.path, given)).status == 200
    assert (await named.counts(), await at.counts()) == ((2, 0, 0), (0, 0, 0))
    other = {"Action": "GetQueueUrl", "QueueName": "named", "QueueOwnerAWSAccountId": ACCOUNT}
    found = query.read("GetQueueUrl", await query.get(at.path, other))
    assert done(found) == {"QueueUrl": named.url}


@row(136)
@pytest.mark.parametrize(("action", "params"), [("CreateQueue", {"QueueName": "new"}), ("ListQueues", {})])
async def test_an_action_on_the_account_is_not_for_the_url_of_a_queue(
    world: World, client: Client, action: str, params: dict[str, str]
) -> None:
    queue = await make(client, "orders")
    message = f"The action {action} is not valid for this endpoint."
    query = world.query()
    got = query.read(action, await query.get(queue.path, {"Action": action} | params))
    check_refusal(query, got, "InvalidAction", message)
    posted = await client.call(action, path=queue.path, **params)
    if client.protocol == "query":
        check_refusal(client, posted, "InvalidAction", message)
    else:
        assert posted.ok, "the path of a JSON request says nothing"


@row(137)
async def test_a_get_without_an_action_is_an_unknown_operation(world: World, client: Client) -> None:
    queue = await make(client, "orders")
    headers = AS_JSON if client.protocol == "json" else {}
    answer = await world.query().get(queue.path, "", headers)
    assert answer.status == 404
    assert answer.headers["content-type"] == "text/xml"
    assert b"<UnknownOperationException" in answer.body


@row(138)
@pytest.mark.parametrize("action", ["FooBar", "sendmessage", "PeekMessages", "GetCallerIdentity"])
async def test_an_action_that_nobody_knows(client: Client, action: str) -> None:
    queue = await make(client, "orders")
    message = f"The action {action} is not valid for this endpoint."
    await queue.refuses("InvalidAction", message, action)
