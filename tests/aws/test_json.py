"""Keys that stand more than once: found whatever blanks are around them, and never where there are none."""

import msgspec
import pytest

from penstock.aws import json, sqs
from penstock.core.errors import ServiceError

OPERATION = sqs.SERVICE.operations["SendMessage"]
BLANKS = [b"", b" ", b"\t", b"\n", b"\r", b"\r\n\t "]


@pytest.mark.parametrize("after", BLANKS)
@pytest.mark.parametrize("before", BLANKS)
def test_a_key_that_stands_twice_is_refused_whatever_blanks_are_around_its_colon(before: bytes, after: bytes) -> None:
    colon = before + b":" + after
    members = [b'"QueueUrl"%b"/1/q"' % colon, b'"MessageBody"%b"one"' % colon, b'"MessageBody"%b"two"' % colon]
    with pytest.raises(ServiceError, match="A key stands more than once"):
        json.decode(sqs.SERVICE, OPERATION, b"{%b}" % b",".join(members))


def test_a_key_that_stands_twice_within_an_unknown_member_is_refused() -> None:
    body = b'{"QueueUrl":"/1/q","MessageBody":"one","Other":{"a":1,"a":2}}'
    with pytest.raises(ServiceError, match="A key stands more than once"):
        json.decode(sqs.SERVICE, OPERATION, body)


@pytest.mark.parametrize("text", ["a:b", "a :b", ": : :", '"QueueUrl":"/1/other"', "http://[::1]:9324/", "\n:\t:"])
def test_what_looks_like_keys_within_a_text_is_text(text: str) -> None:
    body = msgspec.json.encode({"QueueUrl": "/1/q", "MessageBody": text})
    assert json.decode(sqs.SERVICE, OPERATION, body).MessageBody == text
