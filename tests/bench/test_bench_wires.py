"""Both protocols, as our server and as others answer them."""

import pytest

from penstock.bench.wire_json import JsonWire
from penstock.bench.wire_query import QueryWire

URL = "http://127.0.0.1:9324/000000000000/q"


def test_spaces_and_fields_that_nobody_asked_for_do_not_matter_in_json() -> None:
    reply = b'{"Messages": [{"Attributes": {"a": "b"}, "ReceiptHandle": "h", "Body": "b", "MessageId": "m"}], "New": 1}'
    (message,) = JsonWire().received(reply)
    assert (message.handle, message.body, message.message_id) == ("h", "b", "m")


@pytest.mark.parametrize("reply", [b"{}", b"", b'{"Messages":[]}', b'{"Messages": null}'])
def test_nothing_received_is_nothing_in_json(reply: bytes) -> None:
    assert list(JsonWire().received(reply)) == []


def test_nothing_received_is_nothing_in_query() -> None:
    assert list(QueryWire().received(b"<ReceiveMessageResponse><ReceiveMessageResult/></ReceiveMessageResponse>")) == []


def test_a_batch_that_failed_in_part_is_a_fault() -> None:
    with pytest.raises(ValueError, match="too long"):
        JsonWire().acknowledged_batch(b'{"Successful":[],"Failed":[{"Id":"1","Message":"too long"}]}')
    with pytest.raises(ValueError, match="too long"):
        QueryWire().acknowledged_batch(b"<BatchResultErrorEntry><Message>too long</Message></BatchResultErrorEntry>")


def test_handles_are_carried_as_each_protocol_needs_it() -> None:
    assert JsonWire().handle('a"b\\c+/=') == rb"a\"b\\c+/="
    assert QueryWire().handle("a+/=&b") == b"a%2B%2F%3D%26b"


def test_entities_of_xml_are_read() -> None:
    text = b"<Message><MessageId>m</MessageId><ReceiptHandle>a&amp;b</ReceiptHandle><Body>&lt;&quot;</Body></Message>"
    (message,) = QueryWire().received(text)
    assert (message.handle, message.body) == ("a&b", '<"')


def test_parameters_of_query_have_the_names_of_sqs() -> None:
    form = QueryWire().plain("CreateQueue", {"QueueName": "q", "Attributes": {"VisibilityTimeout": "5"}})
    assert form.endswith(b"&QueueName=q&Attribute.1.Name=VisibilityTimeout&Attribute.1.Value=5")
    form = QueryWire().plain("GetQueueAttributes", {"QueueUrl": URL, "AttributeNames": ["All"]})
    assert form.endswith(b"&AttributeName.1=All")


def test_a_refusal_is_read_from_both() -> None:
    said = JsonWire().refusal(b'{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no such queue"}')
    assert said == "QueueDoesNotExist: no such queue"
    said = QueryWire().refusal(b"<Error><Code>AccessDenied</Code><Message>you may not</Message></Error>")
    assert said == "AccessDenied: you may not"
