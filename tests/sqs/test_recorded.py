"""What the real service was recorded to answer, where no numbered row says it: the form of replies, queue attributes,
tags, permissions, batches. Each case names the recording in a word: LocalStack's validated suite (LS), raw captures
(WIRE, CAP), a connector's live suite (BAL), replies quoted in public issues (ISS) or in an emulator's probes (INQ).
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from .clients import Client, QueryClient
from .golden import GREETING, string
from .harness import ACCOUNT, HOST, OTHER_ACCOUNT, REGION, ROOT, Queue, World, done, make, refused

# The form of replies


async def test_members_of_a_json_reply_are_in_alphabetical_order(world: World, client: Client) -> None:  # WIRE
    queue = await make(client, "orders.fifo")
    trace = {"AWSTraceHeader": string("some-value")}
    sent = await queue.send("msg", MessageAttributes=GREETING, MessageSystemAttributes=trace)
    message = await queue.take(AttributeNames=["All"], MessageAttributeNames=["All"])
    if client.protocol == "json":
        assert list(sent) == sorted(sent)
        assert list(message) == sorted(message)
        assert all(list(value) == sorted(value) for value in message["MessageAttributes"].values())
    first = [
        name for name in message["Attributes"] if "Timestamp" in name or name in ("SenderId", "ApproximateReceiveCount")
    ]
    assert first == ["SenderId", "ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SentTimestamp"]


async def test_the_parts_of_a_message_in_xml_are_in_their_order(
    world: World, client: Client
) -> None:  # ISS aws-sdk-ruby#1870
    queue = await make(client, "orders")
    await queue.send("msg", MessageAttributes=GREETING)
    reply = await queue.call("ReceiveMessage", AttributeNames=["SenderId"], MessageAttributeNames=["Hello"])
    if isinstance(client, QueryClient):
        text = reply.body.decode()
        names = [
            "MessageId",
            "ReceiptHandle",
            "MD5OfBody",
            "MD5OfMessageAttributes",
            "Body",
            "Attribute",
            "MessageAttribute",
        ]
        places = [text.index(f"<{name}>") for name in names]
        assert places == sorted(places)


async def test_a_reply_says_what_it_is_and_who_asked_and_no_more(client: Client) -> None:  # WIRE
    reply = await client.call("ListQueues")
    assert reply.headers.keys() == {"content-type", "x-amzn-requestid"}
    if client.protocol == "json":
        assert reply.body == b"{}"


async def test_query_lists_are_flat(world: World, client: Client) -> None:  # ISS rusoto#586
    queue = await make(client, "orders")
    query = world.client("query")
    form = {"Action": "ReceiveMessage", "QueueUrl": queue.url, "MessageAttributeNames.member.1": "All"}
    reply = query.read("ReceiveMessage", await query.raw("ReceiveMessage", urlencode(form).encode()))
    assert (reply.status, reply.error_code, reply.message) == (
        400, "MalformedInput", "Start of list found where not expected",
    )  # fmt: skip


async def test_tags_may_be_spelled_in_the_plural_as_java_does(
    world: World, client: Client
) -> None:  # ISS localstack#4391
    queue = await make(client, "orders")
    query = world.client("query")
    form = {"Action": "TagQueue", "QueueUrl": queue.url, "Tags.1.Key": "k", "Tags.1.Value": "v"}
    done(query.read("TagQueue", await query.raw("TagQueue", urlencode(form).encode())))
    assert await queue.do("ListQueueTags") == {"Tags": {"k": "v"}}


async def test_a_get_without_a_body_is_told_so(world: World, client: Client) -> None:  # LS
    queue, query = await make(client, "orders"), world.client("query")
    assert isinstance(query, QueryClient)
    reply = query.read("SendMessage", await query.get(f"/{ACCOUNT}/orders", {"Action": "SendMessage"}))
    assert (reply.error_code, reply.message) == (
        "MissingParameter", "The request must contain the parameter MessageBody.",
    )  # fmt: skip
    assert await queue.counts() == (0, 0, 0)


async def test_an_action_that_nobody_knows_is_not_for_a_queue_either(world: World, client: Client) -> None:  # LS
    await make(client, "orders")
    query = world.client("query")
    assert isinstance(query, QueryClient)
    reply = query.read("FooBar", await query.get(f"/{ACCOUNT}/orders", {"Action": "FooBar"}))
    assert (reply.status, reply.error_code) == (400, "InvalidAction")
    assert reply.message == "The action FooBar is not valid for this endpoint."


async def test_a_request_may_be_signed_in_its_query(world: World, client: Client) -> None:  # LS
    queue = await make(client, "orders")
    target = world.presigned("/", {"Action": "ListQueues", "Version": "2012-11-05"})
    answer = await world.http("GET", target, {"Host": HOST})
    assert f"<QueueUrl>{queue.url}</QueueUrl>".encode() in answer.body
    as_json = await world.http("GET", target, {"Host": HOST, "Accept": "application/json"})
    assert list(json.loads(as_json.body)) == ["ListQueuesResponse"]
    forged = await world.http("GET", target.replace("ListQueues", "CreateQueue"), {"Host": HOST})
    assert (forged.status, b"SignatureDoesNotMatch" in forged.body) == (403, True)
    world.advance(3601)
    late = await world.http("GET", target, {"Host": HOST})
    assert (late.status, b"RequestExpired" in late.body) == (400, True)


# Who is calling


@pytest.mark.parametrize(
    ("key", "error", "json_name"),
    [
        (ROOT, "SignatureDoesNotMatch", "InvalidSignatureException"),
        ("AKIANOBODY", "InvalidClientTokenId", "UnrecognizedClientException"),
    ],
)
async def test_a_stranger_is_turned_away_under_other_names_in_json(  # CAP
    world: World, client: Client, key: str, error: str, json_name: str
) -> None:
    stranger = world.client(client.protocol, key, secret="wrong")
    reply = await refused(stranger, error, None, "ListQueues")
    assert reply.error_type in ("", f"com.amazon.coral.service#{json_name}")


async def test_another_accounts_queue_is_not_for_us_whether_it_exists_or_not(
    world: World, client: Client
) -> None:  # ISS
    message = (
        f"User: arn:aws:iam::{ACCOUNT}:root is not authorized to perform: sqs:sendmessage on resource: arn:aws:sqs:"
        f"{REGION}:{OTHER_ACCOUNT}:theirs because no resource-based policy allows the sqs:sendmessage action"
    )
    url = f"http://queue.test/{OTHER_ACCOUNT}/theirs"
    await refused(client, "AccessDenied", message, "SendMessage", QueueUrl=url, MessageBody="m")


# Batches


async def failure(queue: Queue, **entry: Any) -> tuple[str, str]:
    """How an entry fails beside one that does not."""
    result = await queue.send_batch({"Id": "good", "MessageBody": "m"}, {"Id": "bad"} | entry)
    assert [done_["Id"] for done_ in result["Successful"]] == ["good"]
    (failed,) = result["Failed"]
    assert (failed["Id"], failed["SenderFault"]) == ("bad", True)
    return failed["Code"], failed["Message"]


async def test_an_entry_without_a_body_has_an_empty_value(client: Client) -> None:  # BAL
    code, _ = await failure(await make(client, "orders"), MessageBody="")
    assert code == "EmptyValue"


async def test_an_entry_with_a_deduplication_id_is_for_another_type_of_queue(
    client: Client,
) -> None:  # ISS aws-sdk-js#3187
    found = await failure(await make(client, "orders"), MessageBody="m", MessageDeduplicationId="d")
    assert found == ("InvalidParameterValue", "The request include parameter that is not valid for this queue type")


async def test_an_entry_without_an_id_is_named_by_its_number(client: Client) -> None:  # INQ
    queue = await make(client, "orders")
    message = "The request must contain the parameter SendMessageBatchRequestEntry.2.Id."
    entries = [{"Id": "1", "MessageBody": "m"}, {"MessageBody": "m"}]
    await queue.refuses("MissingParameter", message, "SendMessageBatch", Entries=entries)


async def test_a_blank_handle_in_a_batch_is_a_missing_one(client: Client) -> None:  # INQ
    queue = await make(client, "orders")
    result = await queue.do("DeleteMessageBatch", Entries=[{"Id": "1", "ReceiptHandle": ""}])
    message = "The request must contain the parameter ReceiptHandle."
    assert result == {"Failed": [{"Id": "1", "Code": "MissingParameter", "Message": message, "SenderFault": True}]}


async def test_only_the_trace_header_is_a_system_attribute(client: Client) -> None:  # INQ
    queue = await make(client, "orders")
    message, attributes = "Message system attribute name 'Hello' is invalid.", {"Hello": string("v")}
    given = {"MessageBody": "m", "MessageSystemAttributes": attributes}
    await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)
