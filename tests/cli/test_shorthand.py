"""Structures as words of the command line, read by the shapes of SQS."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.aws.contract import load
from penstock.cli.shorthand import read

SQS = load("sqs")
ENTRY = "SendMessageBatchRequestEntry"
ATTRIBUTES = "QueueAttributeMap"
POLICY = '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"5"}'


@pytest.mark.parametrize(
    ("shape", "text", "value"),
    [
        (ATTRIBUTES, "DelaySeconds=5,VisibilityTimeout=60", {"DelaySeconds": "5", "VisibilityTimeout": "60"}),
        (ATTRIBUTES, '{"DelaySeconds":"5"}', {"DelaySeconds": "5"}),
        (ATTRIBUTES, "KmsMasterKeyId=", {"KmsMasterKeyId": ""}),
        (ATTRIBUTES, f"RedrivePolicy={POLICY},DelaySeconds=5", {"RedrivePolicy": POLICY, "DelaySeconds": "5"}),
        (ATTRIBUTES, f"RedrivePolicy='{POLICY}'", {"RedrivePolicy": POLICY}),
        ("TagMap", "team=shop,stage=a=b", {"team": "shop", "stage": "a=b"}),
        ("TagMap", 'team="shop, and more",stage=test', {"team": "shop, and more", "stage": "test"}),
        (ENTRY, "Id=1,MessageBody=x,DelaySeconds=5", {"Id": "1", "MessageBody": "x", "DelaySeconds": 5}),
        (ENTRY, "Id=1,MessageBody=one,two", {"Id": "1", "MessageBody": "one,two"}),
        (ENTRY, "MessageBody=it's {here}", {"MessageBody": "it's {here}"}),
        (ENTRY, r"MessageBody='it\'s, x=1',Id=1", {"MessageBody": "it's, x=1", "Id": "1"}),
        (ENTRY, "Id=1, MessageBody=x", {"Id": "1", "MessageBody": "x"}),
        (
            ENTRY,
            "Id=1,MessageAttributes={n={DataType=Number,StringValue=5},b={DataType=Binary,BinaryValue=aGk=}}",
            {
                "Id": "1",
                "MessageAttributes": {
                    "n": {"DataType": "Number", "StringValue": "5"},
                    "b": {"DataType": "Binary", "BinaryValue": b"hi"},
                },
            },
        ),
        ("MessageAttributeValue", "StringListValues=a,b,DataType=x", {"StringListValues": ["a", "b"], "DataType": "x"}),
        ("MessageAttributeValue", "StringListValues=[a,b]", {"StringListValues": ["a", "b"]}),
        ("MessageAttributeValue", '{"BinaryValue":"aGk="}', {"BinaryValue": b"hi"}),
        ("NullableInteger", "-5", -5),
        ("Boolean", "True", True),
    ],
)
def test_a_word_becomes_the_value_that_its_shape_asks_for(shape: str, text: str, value: Any) -> None:
    assert read(SQS, shape, text) == value


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (ENTRY, "hello"),
        (ENTRY, "Id='1"),
        (ENTRY, "MessageAttributes={n={DataType=Number}"),
        (ENTRY, "DelaySeconds=soon"),
        ("NullableInteger", "1.5"),
        ("Boolean", "yes"),
        ("Binary", "not base64!"),
    ],
)
def test_a_word_that_cannot_be_read_is_refused(shape: str, text: str) -> None:
    with pytest.raises(ValueError):
        read(SQS, shape, text)


def test_a_name_that_the_shape_does_not_have_is_kept_for_the_client_to_refuse() -> None:
    assert read(SQS, ENTRY, "Id=1,DelaySecond=5") == {"Id": "1", "DelaySecond": "5"}


def test_bytes_can_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\x00\xff")
    assert read(SQS, "MessageAttributeValue", f"BinaryValue=fileb://{tmp_path / 'bytes'}") == {
        "BinaryValue": b"\x00\xff"
    }
    document = json.dumps({"BinaryValue": f"fileb://{tmp_path / 'bytes'}"})
    assert read(SQS, "MessageAttributeValue", document) == {"BinaryValue": b"\x00\xff"}
