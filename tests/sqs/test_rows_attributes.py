"""Rows 51 and 54–62: the attributes of a message, and their digests."""

from typing import Any
from urllib.parse import urlencode

import pytest

from .clients import Client
from .golden import ILLEGAL, MD5_OF_ATTRIBUTES, MD5_OF_TRACE, binary, string, system
from .harness import make, row

RESERVED = (
    "You can't use message attribute names beginning with 'AWS.' or 'Amazon'. "
    "These strings are reserved for internal use."
)


async def refuses_attributes(client: Client, attributes: dict[str, Any], message: str | None) -> None:
    """A single message is refused, and an entry of a batch fails alone; nothing is stored."""
    queue = await make(client, "orders")
    given = {"MessageBody": "m", "MessageAttributes": attributes}
    await queue.refuses("InvalidParameterValue", message, "SendMessage", **given)
    result = await queue.send_batch({"Id": "1"} | given)
    assert [(entry["Id"], entry["Code"]) for entry in result["Failed"]] == [("1", "InvalidParameterValue")]
    assert await queue.counts() == (0, 0, 0)


async def accepts_attributes(client: Client, attributes: dict[str, Any]) -> None:
    queue = await make(client, "accepted")
    await queue.send(MessageAttributes=attributes)
    assert (await queue.take(MessageAttributeNames=["All"]))["MessageAttributes"] == attributes


@row(51)
@pytest.mark.parametrize("character", ILLEGAL)
async def test_a_character_that_no_body_may_have_makes_an_attribute_invalid(client: Client, character: str) -> None:
    await refuses_attributes(client, {"k": string(f"a{character}")}, None)


@row(54)
@pytest.mark.parametrize(("attributes", "digest"), MD5_OF_ATTRIBUTES)
async def test_the_digest_of_attributes(client: Client, attributes: dict[str, Any], digest: str) -> None:
    queue = await make(client, "orders")
    for given in (attributes, dict(reversed(attributes.items()))):
        assert (await queue.send(MessageAttributes=given))["MD5OfMessageAttributes"] == digest
    batch = await queue.send_batch({"Id": "1", "MessageBody": "m", "MessageAttributes": attributes})
    assert batch["Successful"][0]["MD5OfMessageAttributes"] == digest
    message = await queue.take(MessageAttributeNames=["All"])
    assert (message["MD5OfMessageAttributes"], message["MessageAttributes"]) == (digest, attributes)


@row(55)
@pytest.mark.parametrize(("trace", "digest"), MD5_OF_TRACE.items())
async def test_the_digest_of_system_attributes_is_apart(client: Client, trace: str, digest: str) -> None:
    queue = await make(client, "orders")
    sent = await queue.send(MessageSystemAttributes=system(trace))
    assert sent.keys() == {"MD5OfMessageBody", "MD5OfMessageSystemAttributes", "MessageId"}
    assert sent["MD5OfMessageSystemAttributes"] == digest
    attributes, attributes_digest = MD5_OF_ATTRIBUTES[0]
    both = await queue.send(MessageSystemAttributes=system(trace), MessageAttributes=attributes)
    assert (both["MD5OfMessageSystemAttributes"], both["MD5OfMessageAttributes"]) == (digest, attributes_digest)
    assert "MD5OfMessageSystemAttributes" not in await queue.send(MessageAttributes=attributes)
    assert (await queue.take(AttributeNames=["AWSTraceHeader"]))["Attributes"] == {"AWSTraceHeader": trace}


@row(56)
async def test_a_message_has_ten_attributes_at_most(client: Client) -> None:
    attributes = {f"k{number}": string("v") for number in range(10)}
    await accepts_attributes(client, attributes)
    message = "Number of message attributes [11] exceeds the allowed maximum [10]."
    await refuses_attributes(client, attributes | {"one more": string("v")}, message)


@row(57)
@pytest.mark.parametrize("name", ["a", "A_b-c.d", "attr.1øßä", "a" * 256, "0", "awsome", "x.AWS.y", "_", "-"])
async def test_names_that_attributes_may_have(client: Client, name: str) -> None:
    await accepts_attributes(client, {name: string("v")})


@row(57)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("AWS.x", RESERVED),
        ("aWs.x", RESERVED),
        ("Amazon.x", RESERVED),
        ("AMAZON.x", RESERVED),
        (".x", "Message (user) attribute name must not begin with character '.'."),
        ("x.", "Message (user) attribute name must not end with character '.'."),
        ("a..b", "Message (user) attribute name must not have successive '.' characters."),
        ("", "The request must contain non-empty message (user) attribute names."),
        ("a" * 257, "Message (user) attribute name must be shorter than 256 bytes."),
        *((f"a{character}b", None) for character in ' !"§(?/:\\\n\x00'),
    ],
)
async def test_names_that_no_attribute_may_have(client: Client, name: str, message: str | None) -> None:
    await refuses_attributes(client, {name: string("v")}, message)


@row(57)
async def test_names_are_case_sensitive_and_come_once(client: Client) -> None:
    await accepts_attributes(client, {"key": string("1"), "Key": string("2")})
    queue = await make(client, "orders")
    if client.protocol == "json":
        one = '"k":{"DataType":"String","StringValue":"v"}'
        body = f'{{"QueueUrl":"{queue.url}","MessageBody":"m","MessageAttributes":{{{one},{one}}}}}'
    else:
        one = {f"MessageAttribute.{n}.{part}": "String" for n in (1, 2) for part in ("Name", "Value.DataType")}
        values = {f"MessageAttribute.{n}.Value.StringValue": "v" for n in (1, 2)}
        body = urlencode({"Action": "SendMessage", "QueueUrl": queue.url, "MessageBody": "m"} | one | values)
    reply = client.read("SendMessage", await client.raw("SendMessage", body.encode()))
    assert reply.status == 400
    assert await queue.counts() == (0, 0, 0)


@row(58)
@pytest.mark.parametrize(
    "value",
    [
        string("v"), string("v", "String.custom"), string("1", "Number.int"), binary(b"v", "Binary.gif.x"),
        string("v", "String." + "x" * 249), string("v", "String.ä ö"),
    ],
)  # fmt: skip
async def test_types_that_attributes_may_have(client: Client, value: dict[str, Any]) -> None:
    await accepts_attributes(client, {"k": value})


@row(58)
@pytest.mark.parametrize("data_type", ["InvalidType", "string", "Stringy", ".String", "Text.String", "Boolean", " "])
async def test_types_that_no_attribute_may_have(client: Client, data_type: str) -> None:
    message = (
        "The type of message (user) attribute 'k' is invalid. "
        "You must use only the following supported type prefixes: Binary, Number, String."
    )
    await refuses_attributes(client, {"k": string("v", data_type)}, message)


@row(58)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"StringValue": "v"}, "The message (user) attribute 'k' must contain a non-empty message attribute type."),
        (string("v", ""), "The message (user) attribute 'k' must contain a non-empty message attribute type."),
        (string("v", "String." + "x" * 250), "Message (user) attribute type must be shorter than 256 bytes."),
        (string("1", "Number." + "L" * 256), "Message (user) attribute type must be shorter than 256 bytes."),
        (binary(b"v", "String"), "Message (user) attribute 'k' with type 'String' must use field 'String'."),
        (string("v", "Binary"), "Message (user) attribute 'k' with type 'Binary' must use field 'Binary'."),
    ],
)
async def test_a_type_must_be_there_be_short_and_fit_its_value(
    client: Client, value: dict[str, Any], message: str
) -> None:
    await refuses_attributes(client, {"k": value}, message)


@row(59)
@pytest.mark.parametrize("kind", ["String", "Number", "Binary"])
async def test_an_attribute_has_a_value(client: Client, kind: str) -> None:
    message = f"Message (user) attribute 'ErrorDetails' must contain a non-empty value of type '{kind}'."
    empty = binary(b"") if kind == "Binary" else string("", kind)
    await refuses_attributes(client, {"ErrorDetails": empty}, message)
    await refuses_attributes(client, {"ErrorDetails": {"DataType": kind}}, message)


@row(60)
@pytest.mark.parametrize(
    "number",
    [
        "0",
        "007",
        "-1",
        "+1",
        "1.50",
        ".5",
        "1e10",
        "-1.5E-7",
        "1e126",
        "1e-128",
        "9" * 38,
        "1" + "0" * 100,
        "0.10",
        "0e999",
    ],
)
async def test_numbers_come_back_as_they_were_written(client: Client, number: str) -> None:
    await accepts_attributes(client, {"n": string(number, "Number")})


@row(60)
@pytest.mark.parametrize(
    "number",
    [
        "Hello",
        "1,5",
        "0x10",
        "NaN",
        "Infinity",
        "1_000",
        "١",
        "1e",
        "--1",
        "1.2.3",
        "9" * 39,
        "1e127",
        "1e-129",
        "1e99999",
        ".",
    ],
)
async def test_what_is_no_number_is_refused(client: Client, number: str) -> None:
    message = "Can't cast the value of message (user) attribute 'Age' to a number."
    await refuses_attributes(client, {"Age": string(number, "Number")}, message)


@row(61)
@pytest.mark.parametrize("value", [bytes(range(256)), b"\x00", b"\xff\xfe\xfd" * 100, b">>>???", b"\x9e\xe9e"])
async def test_binary_values_are_any_bytes(client: Client, value: bytes) -> None:
    await accepts_attributes(client, {"b": binary(value), "c": binary(value[::-1], "Binary.gif")})


@row(62)
@pytest.mark.parametrize(
    "value",
    [
        {"DataType": "String", "StringListValues": ["a", "b"]},
        {"DataType": "Binary", "BinaryListValues": [b"a", b"b"]},
        {"DataType": "String", "StringValue": "a", "StringListValues": ["b"]},
    ],
)
async def test_lists_of_values_are_not_supported(client: Client, value: dict[str, Any]) -> None:
    queue = await make(client, "orders")
    message = "Message attribute list values in SendMessage operation are not supported."
    given = {"MessageBody": "m", "MessageAttributes": {"k": value}}
    await queue.refuses("UnsupportedOperation", message, "SendMessage", **given)
    assert await queue.counts() == (0, 0, 0)
