"""Signature Version 4, rules 6 to 13 of the specification (security, §1): what is signed, how it is compared, and what
an error tells."""

import hmac
from hashlib import sha256

import pytest
from msgspec.structs import replace

from penstock.aws.canonical import canonical_path, canonical_query
from penstock.aws.signature import Verifier, read
from penstock.core.errors import ServiceError

from .signing import (
    AT_2015,
    EMPTY_HASH,
    HOST,
    KEY,
    PLAIN,
    PRESIGNED,
    SECRET,
    SQS,
    VANILLA,
    VERIFIER,
    check,
    now,
    presigned,
    refusal,
    replaced,
    signed,
    signed_by_hand,
    with_header,
    without_header,
)

# 6 The path


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        (b"", b"/"),
        (b"/", b"/"),
        (b"/000000000000/orders.fifo", b"/000000000000/orders.fifo"),
        (b"//a//b//", b"/a/b/"),
        (b"/a/./b/../c", b"/a/c"),
        (b"/../../a", b"/a"),
        (b"/..", b"/"),
        (b"/a/b/..", b"/a"),
        (b"/...", b"/..."),
        (b"/.a/..b", b"/.a/..b"),
        (b"/a%20b", b"/a%2520b"),
        (b"/%2e%2e/a", b"/%252e%252e/a"),
        (b"/a%2Fb", b"/a%252Fb"),
        (b"/a+b~c=d", b"/a%2Bb~c%3Dd"),
        (b"/\xff", b"/%FF"),
    ],
)
def test_a_path_is_normalised_and_what_was_encoded_is_encoded_again(path, canonical):
    assert canonical_path(path) == canonical


def test_the_host_is_verified_as_sent_with_its_port():
    request = signed()
    assert request.headers[b"host"] == HOST.encode()
    check(request, now(), SQS)
    assert refusal(with_header(request, b"host", b"sqs.example"), now(), SQS).shape == "SignatureDoesNotMatch"


def test_a_host_that_a_proxy_rewrote_is_accepted_only_under_a_configured_alias():
    rewritten = with_header(signed(), b"host", b"127.0.0.1:9324")
    aliased = Verifier(frozenset({"sqs"}), None, aliases=(b"queues.example", HOST.encode()))
    check(rewritten, now(), aliased)
    check(signed(), now(), aliased)
    refused = refusal(with_header(rewritten, b"x-forwarded-host", HOST.encode()), now(), SQS)
    assert refused.shape == "SignatureDoesNotMatch"
    assert refusal(replace(rewritten, body=b"x"), now(), aliased).shape == "SignatureDoesNotMatch"


# 7 The query


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        (b"", b""),
        (b"a", b"a="),
        (b"a=", b"a="),
        (b"=a", b"=a"),
        (b"b=2&a=1", b"a=1&b=2"),
        (b"a=2&a=1&a=2", b"a=1&a=2&a=2"),
        (b"A=1&a=1&B=1", b"A=1&B=1&a=1"),
        (b"ab=1&a=2&a-=3", b"a=2&a-=3&ab=1"),
        (b"a=b=c", b"a=b%3Dc"),
        (b"a=b+c", b"a=b%2Bc"),
        (b"a=b%20c", b"a=b%20c"),
        (b"a=%7e%2d%5f%2E", b"a=~-_."),
        (b"a=%e1%88%b4", b"a=%E1%88%B4"),
        (b"a=\xe1\x88\xb4", b"a=%E1%88%B4"),
        (b"a=%zz%", b"a=%25zz%25"),
        (b"a=1&&b=2", b"=&a=1&b=2"),
        (b"a=1?b#c", b"a=1%3Fb%23c"),
        (b"a=1&X-Amz-Signature=x", b"a=1"),
    ],
)
def test_a_query_is_decoded_encoded_and_sorted(query, canonical):
    assert canonical_query(query) == canonical


# 8 The headers


def test_the_host_must_be_signed():
    refused = refusal(signed_by_hand(PLAIN, "x-amz-date"), AT_2015)
    assert refused.shape == "SignatureDoesNotMatch"
    assert refused.message == "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."


@pytest.mark.parametrize("name", ["x-amz-target", "x-amz-anything", "x-amz-content-sha256"])
def test_every_amazon_header_of_a_request_must_be_signed(name):
    refused = refusal(with_header(VANILLA, name.encode(), EMPTY_HASH.encode()), AT_2015)
    assert refused.shape == "AccessDenied"
    assert refused.message == f"There were headers present in the request which were not signed: {name}"


def test_other_headers_may_stay_unsigned():
    for name in (b"content-type", b"user-agent", b"x-amzn-trace-id", b"x-amz", b"x-forwarded-for"):
        check(with_header(VANILLA, name, b"x"), AT_2015)


def test_a_signed_header_must_be_in_the_request():
    request = signed_by_hand(with_header(PLAIN, b"x-extra", b""), "host;x-amz-date;x-extra")
    check(request, AT_2015)
    refused = refusal(without_header(request, b"x-extra"), AT_2015)
    assert refused.shape == "SignatureDoesNotMatch"
    assert refused.message == "The signed header 'x-extra' is not in the request."


def test_the_spaces_of_a_header_are_trimmed_and_collapsed():
    request = signed_by_hand(with_header(PLAIN, b"a", b"x y z"), "a;host;x-amz-date")
    check(with_header(request, b"a", b"  x   y \t z "), AT_2015)
    assert refusal(with_header(request, b"a", b"xyz"), AT_2015).shape == "SignatureDoesNotMatch"


def test_a_line_break_in_a_header_cannot_stand_for_another_header():
    request = signed_by_hand(with_header(with_header(PLAIN, b"a", b"x"), b"b", b"y"), "a;b;host;x-amz-date")
    smuggled = without_header(with_header(request, b"a", b"x\nb:y"), b"b")
    assert refusal(smuggled, AT_2015).shape == "SignatureDoesNotMatch"
    renamed = replaced(smuggled, b"a;b;host", b"a;host")
    assert refusal(renamed, AT_2015).shape == "SignatureDoesNotMatch"


@pytest.mark.parametrize("name", [b"host", b"authorization", b"x-amz-date"])
def test_a_header_that_must_come_once_is_refused_when_it_comes_twice(name):
    value = VANILLA.headers[name]
    assert refusal(with_header(VANILLA, name, value + b"," + value), AT_2015).shape == "IncompleteSignature"


# 9 The payload


def test_a_declared_payload_hash_must_be_that_of_the_body():
    body = b'{"QueueName":"orders"}'
    request = replace(PLAIN, method="POST", body=body)
    request = with_header(request, b"x-amz-content-sha256", sha256(body).hexdigest().encode())
    names = "host;x-amz-content-sha256;x-amz-date"
    check(signed_by_hand(request, names, sha256(body).hexdigest()), AT_2015)
    other = signed_by_hand(replace(request, body=body + b" "), names, sha256(body).hexdigest())
    refused = refusal(other, AT_2015)
    assert refused.shape == "SignatureDoesNotMatch"
    assert refused.message == "The provided 'x-amz-content-sha256' header does not match what was computed."


@pytest.mark.parametrize(
    "declared",
    [
        "UNSIGNED-PAYLOAD",
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "",
        EMPTY_HASH.upper(),
        f"{EMPTY_HASH},{EMPTY_HASH}",
    ],
)
def test_a_payload_outside_the_signature_is_never_accepted(declared):
    request = with_header(PLAIN, b"x-amz-content-sha256", declared.encode())
    request = signed_by_hand(request, "host;x-amz-content-sha256;x-amz-date", declared)
    assert refusal(request, AT_2015).shape == "SignatureDoesNotMatch"


def test_an_unsigned_payload_is_refused_also_where_nobody_declares_it():
    request = signed_by_hand(PLAIN, "host;x-amz-date", "UNSIGNED-PAYLOAD")
    assert refusal(request, AT_2015).shape == "SignatureDoesNotMatch"


# 10 The comparison


def test_a_wrong_signature_is_refused_with_amazons_words():
    refused = refusal(replace(VANILLA, body=b"x"), AT_2015)
    assert refused.shape == "SignatureDoesNotMatch"
    assert refused.message == (
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access "
        "Key and signing method. Consult the service documentation for details."
    )


def test_signatures_are_compared_in_constant_time_as_bytes(monkeypatch):
    compared = []
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
    check(VANILLA, AT_2015)
    ((ours, theirs),) = compared
    assert type(ours) is type(theirs) is bytes
    assert len(ours) == len(theirs) == 64


@pytest.mark.parametrize(
    "spoil",
    [bytes.upper, lambda digits: digits[:-2], lambda digits: digits[:-1] + b" ", lambda digits: digits[:-1] + b"g"],
)
def test_a_signature_is_sixty_four_digits_in_lower_case(spoil):
    for request in (VANILLA, PRESIGNED):
        digits = read(request).signature
        assert refusal(replaced(request, digits, spoil(digits)), AT_2015).shape == "IncompleteSignature"


def test_a_rotated_secret_is_out_at_once():
    signature = read(VANILLA)
    VERIFIER.verify(signature, VANILLA, SECRET, AT_2015)
    with pytest.raises(ServiceError):
        VERIFIER.verify(signature, VANILLA, "another", AT_2015)
    VERIFIER.verify(signature, VANILLA, SECRET, AT_2015)


# 11 Session tokens


def test_a_permanent_key_with_a_token_is_an_unknown_key():
    assert refusal(signed(token="token"), now(), SQS).shape == "InvalidClientTokenId"
    assert refusal(presigned(token="token"), now(), SQS).shape == "InvalidClientTokenId"


def test_a_temporary_key_without_a_token_is_an_unknown_key():
    assert refusal(signed(key="ASIA" + KEY), now(), SQS).shape == "InvalidClientTokenId"


def test_a_temporary_key_comes_with_its_token():
    for request in (signed(key="ASIA" + KEY, token="a/b+c="), presigned(key="ASIA" + KEY, token="a/b+c=")):
        assert read(request).token == "a/b+c="
        check(request, now(), SQS)


def test_a_token_in_a_header_beside_a_presigned_query_counts_as_a_token():
    assert read(with_header(PRESIGNED, b"x-amz-security-token", b"t")).token == "t"


# 13 What an error tells


def test_what_should_have_been_signed_is_shown_only_in_debug():
    spoilt = replace(VANILLA, body=b"x")
    assert "Canonical String" not in refusal(spoilt, AT_2015).message
    message = refusal(spoilt, AT_2015, Verifier(frozenset({"service"}), None, debug=True)).message
    assert "should have been\n'GET\n/\n\nhost:example.amazonaws.com\n" in message
    assert "The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n20150830T123600Z\n" in message
    assert SECRET not in message


def test_an_unknown_key_is_shown_nothing_even_in_debug():
    unknown = replaced(VANILLA, KEY.encode(), b"AKIDNOBODY")
    assert "Canonical" not in refusal(unknown, AT_2015, Verifier(frozenset({"service"}), None, debug=True)).message
