"""Signature Version 4 against others: Amazon's own test vectors, each spoilt in every field, and botocore as the signer
of random requests."""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from urllib.parse import quote

import boto3
import pytest
from botocore.config import Config
from botocore.utils import percent_encode_sequence
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from penstock.aws.canonical import canonical_path, canonical_request
from penstock.aws.http import HttpRequest
from penstock.aws.signature import read
from penstock.core.errors import ServiceError

from .signing import (
    ACCEPTED,
    AT_2015,
    HOST,
    KEY,
    REFUSED,
    SECRET,
    SQS,
    VANILLA,
    VECTORS,
    check,
    moment_of,
    now,
    presigned,
    reference_signature,
    refusal,
    replaced,
    request_of,
    sent,
    signed,
    with_header,
    without_header,
)

# Amazon's vectors


def canonical(name: str) -> str:
    request = request_of(VECTORS[name])
    signed_headers = read(request).signed_headers
    payload_hash = sha256(request.body).hexdigest()
    return canonical_request(request.method, request.target, request.headers, signed_headers, payload_hash).decode()


@pytest.mark.parametrize("name", [name for name, vector in VECTORS.items() if "canonical" in vector])
def test_the_canonical_request_is_that_of_amazons_vector(name):
    assert canonical(name) == VECTORS[name]["canonical"]


@pytest.mark.parametrize("name", [n for n, v in VECTORS.items() if v.get("refusal") != "SignatureDoesNotMatch"])
def test_the_signature_over_our_canonical_request_is_that_of_amazons_vector(name):
    signature = read(request_of(VECTORS[name]))
    scope = f"{signature.date}/{signature.region}/{signature.service}/aws4_request"
    assert reference_signature(canonical(name), signature.timestamp, scope) == signature.signature.decode()


@pytest.mark.parametrize("name", ACCEPTED)
def test_amazons_vector_is_accepted(name):
    check(request_of(VECTORS[name]), moment_of(VECTORS[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_a_vector_that_breaks_a_rule_of_ours_is_refused_for_that_rule(name):
    assert refusal(request_of(VECTORS[name]), moment_of(VECTORS[name])).shape == VECTORS[name]["refusal"]


@pytest.mark.parametrize("name", [name for name in REFUSED if name.startswith(("get-", "post-"))])
def test_a_vector_with_a_session_token_is_accepted_for_a_temporary_key_if_the_token_is_signed(name):
    # The access key is no part of what a header signs, so the vector's signature stays good.
    request = replaced(request_of(VECTORS[name]), KEY.encode(), b"ASIA" + KEY.encode())
    if "refusal_of_temporary_key" in VECTORS[name]:
        assert refusal(request, AT_2015).shape == VECTORS[name]["refusal_of_temporary_key"]
    else:
        check(request, AT_2015)


def mutations(request: HttpRequest) -> Iterator[tuple[str, HttpRequest]]:
    signature = read(request)
    path, mark, query = request.target.partition(b"?")
    yield "method", replace(request, method="DELETE")
    yield "path", replace(request, target=path + b"x" + mark + query)
    yield "query added to", replace(request, target=path + b"?x=1" + (b"&" + query if query else b""))
    for pair in query.split(b"&") if query else ():
        yield f"query value {pair!r}", replace(request, target=request.target.replace(pair, pair + b"x", 1))
        yield f"query name {pair!r}", replace(request, target=request.target.replace(pair, b"x" + pair, 1))
        rest = b"&".join(other for other in query.split(b"&") if other != pair)
        yield f"query without {pair!r}", replace(request, target=path + b"?" + rest)
    for name in signature.signed_headers:
        value = request.headers[name]
        yield f"header {name!r}", with_header(request, name, value + b"x")
        yield f"case of header {name!r}", with_header(request, name, value.swapcase() + b".")
        yield f"without header {name!r}", without_header(request, name)
        yield f"unsigned {name!r}", replaced(request, name, b"x" + name)
    yield "body", replace(request, body=request.body + b" ")
    for place, digit in enumerate(signature.signature.decode()):
        digits = signature.signature.decode()
        spoilt = digits[:place] + ("0" if digit != "0" else "1") + digits[place + 1 :]
        yield f"digit {place}", replaced(request, digits.encode(), spoilt.encode())
    slash = b"%2F" if signature.presigned else b"/"
    for old, new in (
        (KEY, "AKIDEXAMPLF"),
        (signature.date, str(int(signature.date) + 1)),
        (signature.date, str(int(signature.date) - 1)),
        (signature.region, "us-east-2"),
        (signature.service, "sqs"),
        ("aws4_request", "aws4_requesu"),
    ):
        end = slash if old != "aws4_request" else b""
        yield f"scope {old}", replaced(request, old.encode() + end, new.encode() + end)
    yield "an added header", with_header(request, b"x-amz-target", b"AmazonSQS.DeleteQueue")


@pytest.mark.parametrize("name", ACCEPTED)
def test_amazons_vector_is_refused_once_any_field_of_it_is_spoilt(name):
    request = request_of(VECTORS[name])
    for label, mutation in mutations(request):
        assert mutation != request, label
        try:
            check(mutation, moment_of(VECTORS[name]))
        except ServiceError:
            continue
        pytest.fail(f"accepted with another {label}")


TEMPORARY = [
    name for name in REFUSED if name.startswith(("get-", "post-")) and "refusal_of_temporary_key" not in VECTORS[name]
]


@pytest.mark.parametrize("name", TEMPORARY)
def test_amazons_vector_with_a_token_is_refused_once_any_field_of_it_is_spoilt(name):
    request = replaced(request_of(VECTORS[name]), KEY.encode(), b"ASIA" + KEY.encode())
    token = request.headers[b"x-amz-security-token"]
    spoilt = [
        *mutations(request),
        ("token cut short", with_header(request, b"x-amz-security-token", token[:-1])),
        ("token doubled", with_header(request, b"x-amz-security-token", token + b"," + token)),
        ("token taken away", without_header(request, b"x-amz-security-token")),
        ("key made permanent", replaced(request, b"ASIA", b"")),
    ]
    for label, mutation in spoilt:
        with suppress(ServiceError):
            check(mutation, AT_2015)
            pytest.fail(f"accepted with another {label}")


def test_there_are_vectors_with_tokens():
    assert TEMPORARY


# Requests signed by botocore


words = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20)
names_of_others = words.filter(lambda name: name and not name.startswith(("X-Amz-", "AWSAccessKeyId", "Signature")))
parameters = st.dictionaries(names_of_others, words, max_size=5)
paths = st.lists(st.one_of(words, st.sampled_from([".", "..", "", "%", "~", "a+b"])), max_size=5).map(
    lambda segments: "/" + "/".join(quote(segment, safe="!$&'()*+,;=:@") for segment in segments)
)
header_values = st.text(st.sampled_from("abcXYZ019 \t,;=\"'/éሴ"), min_size=1, max_size=30)
header_names = st.from_regex(r"\A(x-amz-|my-|zz)[a-z0-9-]{1,10}\Z").filter(
    lambda name: name not in ("x-amz-date", "x-amz-content-sha256", "x-amz-security-token")
)
random_requests = settings(max_examples=150, deadline=None, database=None)


@random_requests
@given(
    method=st.sampled_from(["GET", "POST", "PUT"]),
    path=paths,
    params=parameters,
    headers=st.dictionaries(header_names, header_values, max_size=5),
    body=st.binary(max_size=300),
)
def test_whatever_botocore_signs_in_a_header_is_accepted(method, path, params, headers, body):
    check(signed(method, f"{path}?{percent_encode_sequence(params)}", headers, body), now(), SQS)


@random_requests
@given(path=paths, params=parameters, expires=st.integers(1, 604800))
def test_whatever_botocore_presigns_is_accepted(path, params, expires):
    check(presigned(f"{path}?{percent_encode_sequence(params)}", expires), now(), SQS)


@random_requests
@given(body=st.binary(max_size=300), other=st.binary(max_size=300), path=paths, other_path=paths)
def test_a_signature_of_botocore_is_good_for_no_other_body_or_path(body, other, path, other_path):
    request = signed(path=path, body=body)
    if other != body:
        assert refusal(replace(request, body=other), now(), SQS).shape == "SignatureDoesNotMatch"
    if canonical_path(other_path.encode()) != canonical_path(path.encode()):
        assert refusal(replace(request, target=other_path.encode()), now(), SQS).shape == "SignatureDoesNotMatch"


@random_requests
@given(
    authorization=st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                [*"=,/; ", "AWS4-HMAC-SHA256 ", "Credential=", "SignedHeaders=", "Signature=", "0" * 64, "é"]
            )
        ).map(lambda pieces: "".join(pieces).encode()),
    ),
    date=st.binary(max_size=40),
    query=st.binary(max_size=60),
)
def test_nothing_a_stranger_writes_makes_read_fail_but_with_a_refusal(authorization, date, query):
    for headers in (
        {b"authorization": authorization, b"date": date},
        {b"authorization": VANILLA.headers[b"authorization"], b"date": b"Mon, " + date},
        {b"authorization": VANILLA.headers[b"authorization"], b"x-amz-date": date},
        {},
    ):
        for target in (b"/?" + query, b"/?X-Amz-Credential=" + query):
            with suppress(ServiceError):
                read(HttpRequest("GET", target, headers))


def test_the_requests_of_boto3_are_accepted():
    class Captured(Exception):
        pass

    def capture(request, **_):
        raise Captured(sent(request))

    client = boto3.client(
        "sqs",
        endpoint_url=f"http://{HOST}",
        region_name="eu-central-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        config=Config(retries={"max_attempts": 0}),
    )
    client.meta.events.register("before-send.sqs", capture)
    queue = f"http://{HOST}/000000000000/orders"
    for call in (
        client.list_queues,
        lambda: client.create_queue(QueueName="orders", tags={"a": "é ሴ"}),
        lambda: client.send_message(QueueUrl=queue, MessageBody="é ሴ  +%"),
        lambda: client.receive_message(QueueUrl=queue, WaitTimeSeconds=20),
    ):
        with pytest.raises(Captured) as captured:
            call()
        (request,) = captured.value.args
        assert b"x-amz-target" in read(request).signed_headers
        check(request, now(), SQS)
