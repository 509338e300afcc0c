"""RPC v2 with CBOR below what an SDK shows of it: how requests are told, headers, errors, and requests gone bad."""

import random
from collections.abc import Iterator

import pytest
from botocore.awsrequest import AWSRequest

from penstock.aws import cbor
from penstock.stores.memory import MemoryStore
from sqs.clients import Answer
from sqs.harness import HOST, KEYS, REGION, ROOT, Signer

from .watching import NOON, Watch, sent, watches

LIST_METRICS = "/service/GraniteServiceVersion20100801/operation/ListMetrics"
HEADERS = {"smithy-protocol": "rpc-v2-cbor", "content-type": "application/cbor"}
NAMESPACE = bytes.fromhex("a1694e616d657370616365674157532f535153")
"""{"Namespace": "AWS/SQS"}"""


@pytest.fixture
def spoken() -> Iterator[Watch]:
    yield from watches(MemoryStore(), "smithy-rpc-v2-cbor")


def post(watch: Watch, body: bytes, target: str = LIST_METRICS, method: str = "POST") -> Answer:
    request = AWSRequest(method, f"http://{HOST}{target}", {"Host": HOST} | HEADERS, body)
    Signer(ROOT, KEYS[ROOT].secret, REGION, watch.world.clock, "monitoring").add_auth(request)
    return watch.run(watch.world.http(method, target, dict(request.headers.items()), body))


def test_a_reply_says_which_protocol_it_is_in(spoken: Watch) -> None:
    answer = post(spoken, NAMESPACE)
    assert answer.status == 200
    assert (answer.headers["smithy-protocol"], answer.headers["content-type"]) == ("rpc-v2-cbor", "application/cbor")
    assert cbor.decode(answer.body) == {"Metrics": []}


@pytest.mark.parametrize(
    "body",
    [b"", b"\xa0", b"\xbf\xff", b"\xbf\x7f\x64Name\x65space\xff\x7f\x63AWS\x64/SQS\xff\xff", b"\xa1\x69Namespace\xf6"],
)
def test_a_request_may_be_empty_in_pieces_or_have_nulls(spoken: Watch, body: bytes) -> None:
    spoken.put(60, NOON, sent(1))
    assert len(cbor.decode(post(spoken, body).body)["Metrics"]) == 9


def test_an_error_has_its_names_in_the_body_and_in_a_header(spoken: Watch) -> None:
    answer = post(spoken, b"\xa1\x69Namespace\x01")
    told = cbor.decode(answer.body)
    assert (answer.status, told["__type"]) == (400, "com.amazon.coral.service#SerializationException")
    assert told["message"] == "NUMBER_VALUE can not be converted to a String"
    assert answer.headers["x-amzn-query-error"] == "MalformedInput;Sender"


@pytest.mark.parametrize("body", [b"\x80", b"\xf6", b"\xa1\x01\x01", b"\xa0\xa0", b"{}", b"\x9b" + b"\xff" * 8])
def test_what_is_no_request_is_refused(spoken: Watch, body: bytes) -> None:
    answer = post(spoken, body)
    assert (answer.status, answer.headers["x-amzn-query-error"]) == (400, "MalformedInput;Sender")


@pytest.mark.parametrize(
    ("target", "method"),
    [
        ("/service/GraniteServiceVersion20100801/operation/PutMetricData", "POST"),
        ("/service/AmazonSQS/operation/ListQueues", "POST"),
        ("/service/Other/operation/ListMetrics", "POST"),
        (f"{LIST_METRICS}?a=b", "POST"),
        (f"{LIST_METRICS}/", "POST"),
        (LIST_METRICS, "GET"),
        ("/", "POST"),
    ],
)
def test_only_what_a_model_offers_is_served_and_only_where_it_is(spoken: Watch, target: str, method: str) -> None:
    answer = post(spoken, NAMESPACE, target, method)
    assert (answer.status, answer.headers["x-amzn-query-error"]) == (400, "InvalidAction;Sender")


def test_who_did_not_sign_is_refused_in_the_same_protocol(spoken: Watch) -> None:
    answer = spoken.run(spoken.world.http("POST", LIST_METRICS, HEADERS | {"host": HOST}, NAMESPACE))
    assert answer.status == 403
    assert cbor.decode(answer.body)["__type"].endswith("#MissingAuthenticationTokenException")


def test_spoiled_requests_are_answered_or_refused_and_never_a_fault_of_ours(spoken: Watch) -> None:
    rng, statuses = random.Random(20_100_801), set()
    for _ in range(500):
        body = bytearray(NAMESPACE + b"\xf6" * rng.randint(0, 1))
        for _ in range(rng.randint(0, 2)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        statuses.add(post(spoken, bytes(body)).status)
    assert statuses == {200, 400}
