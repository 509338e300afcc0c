"""Rows 43–69 without those on attributes: what may be sent, how it is measured, and the digests in the reply."""

import json
from typing import Any

import pytest

from .clients import Client
from .golden import ILLEGAL, MD5_OF_ATTRIBUTES, MD5_OF_BODY, MD5_OF_TRACE, binary, string, system
from .harness import World, make, row

MIB = 1_048_576
ALLOWED = "#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]"
TRACE = next(iter(MD5_OF_TRACE))


def too_long(limit: int) -> str:
    return f"One or more parameters are invalid. Reason: Message must be shorter than {limit} bytes."


@row(43)
@pytest.mark.parametrize("params", [{"MessageBody": ""}, {}])
async def test_a_message_needs_a_body(client: Client, params: dict[str, str]) -> None:
    queue = await make(client, "orders")
    message = "The request must contain the parameter MessageBody."
    await queue.refuses("MissingParameter", message, "SendMessage", **params)
    assert await queue.counts() == (0, 0, 0)


@row(44, 45)
async def test_a_message_of_a_mebibyte_is_the_longest(client: Client) -> None:
    queue = await make(client, "orders")
    attributes = {"k": string("x")}  # 1 + 6 + 1 bytes
    await queue.send("a" * (MIB - 8), MessageAttributes=attributes)
    longer = {"MessageBody": "a" * (MIB - 7), "MessageAttributes": attributes}
    await queue.refuses("InvalidParameterValue", too_long(MIB), "SendMessage", **longer)
    assert await queue.counts() == (1, 0, 0)


@row(45)
async def test_the_limit_is_a_mebibyte_unless_the_queue_says_less(client: Client) -> None:
    queue = await make(client, "orders")
    assert await queue.attributes("MaximumMessageSize") == {"MaximumMessageSize": "1048576"}
    for size in (1024, 262144, MIB):
        await queue.set(MaximumMessageSize=size)
        assert await queue.attributes("MaximumMessageSize") == {"MaximumMessageSize": str(size)}
    for size in (1023, MIB + 1):
        message, wrong = "Invalid value for the parameter MaximumMessageSize.", {"MaximumMessageSize": str(size)}
        await queue.refuses("InvalidAttributeValue", message, "SetQueueAttributes", Attributes=wrong)


@row(46)
@pytest.mark.parametrize(
    ("start", "attributes"),
    [
        ("a", {}),
        ("é" * 512, {}),
        ("\U0001f600" * 6, {}),
        ("a", {"name": string("xyz", "String.abc")}),
        ("a", {"name": binary(b"\x00\x01\x02")}),
        ("a", {"é": string("ä"), "price": string("12", "Number")}),
    ],
)
async def test_bytes_of_body_names_types_and_values_count_and_system_attributes_do_not(
    client: Client, start: str, attributes: dict[str, Any]
) -> None:
    queue = await make(client, "orders", MaximumMessageSize=1024)
    used = len(start.encode())
    for name, value in attributes.items():
        content = value["BinaryValue"] if "BinaryValue" in value else value["StringValue"].encode()
        used += len(name.encode()) + len(value["DataType"]) + len(content)
    body = start + "a" * (1024 - used)
    more = {"MessageAttributes": attributes, "MessageSystemAttributes": system("x" * 200)}
    await queue.send(body, **more)
    await queue.refuses("InvalidParameterValue", too_long(1024), "SendMessage", MessageBody=body + "a", **more)


@row(47)
async def test_a_batch_of_over_a_mebibyte_is_refused_as_a_whole(client: Client) -> None:
    queue = await make(client, "orders")
    entries = [
        {"Id": "1", "MessageBody": "a" * (MIB - 9)},
        {"Id": "2", "MessageBody": "b", "MessageAttributes": {"k": string("x")}},
    ]
    assert len((await queue.send_batch(*entries))["Successful"]) == 2
    entries[0]["MessageBody"] = "a" * (MIB - 8)
    message = "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes."
    await queue.refuses("BatchRequestTooLong", message, "SendMessageBatch", Entries=entries)
    assert await queue.counts() == (2, 0, 0)


@row(48)
async def test_the_limit_of_a_queue_is_for_each_entry_of_a_batch(client: Client) -> None:
    queue = await make(client, "orders", MaximumMessageSize=2048)
    entries = [
        {"Id": "1", "MessageBody": "a" * 2040, "MessageAttributes": {"k": string("x")}},
        {"Id": "2", "MessageBody": "a"},
    ]
    result = await queue.send_batch(*entries)
    assert [entry["MD5OfMessageBody"] for entry in result["Successful"]] == [
        MD5_OF_BODY["a" * 2040], MD5_OF_BODY["a"],
    ]  # fmt: skip
    assert "Failed" not in result


@row(49)
async def test_an_entry_that_is_too_long_fails_alone(client: Client) -> None:
    queue = await make(client, "orders", MaximumMessageSize=1024)
    result = await queue.send_batch(
        {"Id": "fits", "MessageBody": "a" * 1024}, {"Id": "does-not", "MessageBody": "a" * 1025}
    )
    assert [(entry["Id"], entry["MD5OfMessageBody"]) for entry in result["Successful"]] == [
        ("fits", MD5_OF_BODY["a" * 1024])
    ]
    message = "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes."
    assert result["Failed"] == [
        {"Id": "does-not", "Code": "InvalidParameterValue", "Message": message, "SenderFault": True}
    ]
    assert await queue.counts() == (1, 0, 0)


@row(50)
@pytest.mark.parametrize("character", ILLEGAL)
async def test_a_body_with_a_character_that_xml_cannot_carry_is_refused(client: Client, character: str) -> None:
    queue = await make(client, "orders")
    message = (
        f"Invalid binary character '#x{ord(character):X}' was found in the message body, "
        f"the set of allowed characters is {ALLOWED}."
    )
    await queue.refuses("InvalidMessageContents", message, "SendMessage", MessageBody=f"before{character}after")
    good = [{"Id": str(number), "MessageBody": "fine"} for number in range(9)]
    result = await queue.send_batch(*good, {"Id": "9", "MessageBody": character})
    assert [entry["Id"] for entry in result["Successful"]] == [str(number) for number in range(9)]
    assert result["Failed"] == [{"Id": "9", "Code": "InvalidMessageContents", "Message": message, "SenderFault": True}]
    assert await queue.counts() == (9, 0, 0)


@row(52)
@pytest.mark.parametrize(
    "body",
    [
        '"&quot;&quot;\r', '{\r\n"machineID" : "d357006e26ff47439e1ef894225d4307"}', "\t\n\r", " ", "  a  \n",
        "<&>'\"]]>", "\u0020\ud7ff\ue000\ufffd\U00010000\U0010ffff", "\x7f\x80\x85\x9f\u2028", "+%2B&a=b;c",
        "&#13;&amp;",
    ],
)  # fmt: skip
async def test_every_other_character_comes_back_as_it_was(client: Client, body: str) -> None:
    queue = await make(client, "orders")
    await queue.send(body, MessageAttributes={"k": string(body)})
    reply = await queue.call("ReceiveMessage", MessageAttributeNames=["All"])
    message = reply.result["Messages"][0]
    assert message["Body"] == body
    assert message["MessageAttributes"]["k"]["StringValue"] == body
    if client.protocol == "query":
        assert b"\r" not in reply.body
        assert body.count("\r") * 2 == reply.body.count(b"&#xD;") + reply.body.count(b"&#13;")
        assert body.count('"') * 2 == reply.body.count(b"&quot;")


@row(53)
@pytest.mark.parametrize(("body", "digest"), MD5_OF_BODY.items())
async def test_the_digest_of_a_body(client: Client, body: str, digest: str) -> None:
    queue = await make(client, "orders")
    sent = await queue.send(body)
    assert sent.keys() == {"MD5OfMessageBody", "MessageId"}
    assert sent["MD5OfMessageBody"] == digest
    assert (await queue.take())["MD5OfBody"] == digest
    batch = await queue.send_batch({"Id": "1", "MessageBody": body})
    assert batch["Successful"][0].keys() == {"Id", "MD5OfMessageBody", "MessageId"}
    assert batch["Successful"][0]["MD5OfMessageBody"] == digest


@row(63)
async def test_a_message_without_delay_overrides_the_queues_delay(world: World, client: Client) -> None:
    queue = await make(client, "orders", DelaySeconds=60)
    await queue.send("now", DelaySeconds=0)
    await queue.send("in five", DelaySeconds=5)
    await queue.send("in a minute")
    assert await queue.counts() == (1, 0, 2)
    for seconds, body in ((0, "now"), (5, "in five"), (55, "in a minute")):
        world.advance(seconds)
        assert await queue.bodies(VisibilityTimeout=600) == [body]


@row(64)
@pytest.mark.parametrize("seconds", [-1, 901, 1000, 2**31 - 1])
async def test_a_delay_is_up_to_fifteen_minutes(client: Client, seconds: int) -> None:
    queue = await make(client, "orders")
    await queue.send(DelaySeconds=900)
    message = f"Value {seconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."
    await queue.refuses("InvalidParameterValue", message, "SendMessage", MessageBody="m", DelaySeconds=seconds)
    result = await queue.send_batch({"Id": "1", "MessageBody": "m", "DelaySeconds": seconds})
    assert [(entry["Id"], entry["Code"]) for entry in result["Failed"]] == [("1", "InvalidParameterValue")]
    assert await queue.counts() == (0, 0, 1)


@row(65)
@pytest.mark.parametrize(("name", "left"), [("orders", 1), ("orders.fifo", 0)])
async def test_a_new_delay_counts_for_waiting_messages_of_fifo_queues_only(
    client: Client, name: str, left: int
) -> None:
    queue = await make(client, name, DelaySeconds=60)
    await queue.send()
    await queue.set(DelaySeconds=0)
    assert await queue.counts() == (1 - left, 0, left)


@row(66)
async def test_a_standard_message_may_have_a_group(client: Client) -> None:
    queue = await make(client, "orders")
    sent = await queue.send(MessageGroupId="tenant-1!~")
    assert sent.keys() == {"MD5OfMessageBody", "MessageId"}, "no sequence number"
    everything = (await queue.take(AttributeNames=["All"]))["Attributes"]
    assert everything["MessageGroupId"] == "tenant-1!~"
    assert not everything.keys() & {"MessageDeduplicationId", "SequenceNumber"}


@row(66, 94)
@pytest.mark.parametrize("group", ["", "a" * 129, "group 123", "ä", "a\n"])
async def test_a_group_of_a_standard_message_has_the_name_of_a_group(client: Client, group: str) -> None:
    queue = await make(client, "orders")
    message = (
        f"Value {group} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include "
        "alphanumeric and punctuation characters. 1 to 128 in length."
    )
    await queue.refuses("InvalidParameterValue", message, "SendMessage", MessageBody="m", MessageGroupId=group)


@row(67)
async def test_a_standard_message_has_no_deduplication_id(client: Client) -> None:
    queue = await make(client, "orders")
    message = (
        "Value d for parameter MessageDeduplicationId is invalid. "
        "Reason: The request includes a parameter that is not valid for this queue type."
    )
    given = {"MessageBody": "m", "MessageDeduplicationId": "d"}
    await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)
    result = await queue.send_batch({"Id": "1"} | given, {"Id": "2", "MessageBody": "m"})
    assert [entry["Id"] for entry in result["Successful"]] == ["2"]
    assert [(entry["Id"], entry["Code"]) for entry in result["Failed"]] == [("1", "InvalidParameterValue")]


@row(68)
async def test_the_trace_header_of_a_request_goes_with_its_message(client: Client) -> None:
    queue = await make(client, "orders")
    attributes, digest = MD5_OF_ATTRIBUTES[0]
    sent = await queue.send(MessageAttributes=attributes, headers={"X-Amzn-Trace-Id": TRACE})
    assert sent["MD5OfMessageAttributes"] == digest
    message = await queue.take(AttributeNames=["AWSTraceHeader"])
    assert message["Attributes"] == {"AWSTraceHeader": TRACE}


@row(69)
async def test_sequence_numbers_of_fifo_messages_grow(world: World, client: Client) -> None:
    queue = await make(client, "orders.fifo")
    numbers = []
    for group in "abab":
        sent = await queue.send(MessageGroupId=group)
        numbers.append(sent["SequenceNumber"])
    batch = [
        {"Id": i, "MessageBody": i, "MessageGroupId": "c", "MessageDeduplicationId": f"d{i}"} for i in ("1", "2")
    ]  # fmt: skip
    numbers += [entry["SequenceNumber"] for entry in (await queue.send_batch(*batch))["Successful"]]
    assert all(len(number) == 20 and number.isdigit() for number in numbers)
    assert numbers == sorted(set(numbers))
    seen = [m["Attributes"]["SequenceNumber"] for m in await queue.receive(AttributeNames=["SequenceNumber"])]
    assert sorted(seen) == numbers
    assert "SequenceNumber" not in json.dumps(await (await make(client, "plain")).send())
