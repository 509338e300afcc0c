"""Who is calling, and for what their signature is good."""

import pytest

from penstock.api.access import FAILURES_PER_SECOND, Access, Caller
from penstock.api.identities import Key
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.core.errors import ServiceError
from penstock.core.identity import NOBODY, Kind, Principal, root_of

ROOT = "000000000000"
CREDENTIAL = (
    b"AWS4-HMAC-SHA256 Credential=%b/20261115/eu-west-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, "
    b"Signature=" + b"0" * 64
)


def access(enforced: bool) -> Access:
    keys = {"AKIAKNOWNKNOWNKNOWN0": Key("secret", root_of("111111111111"))}
    return Access(keys, Verifier(frozenset({"sqs"}), None), "us-east-1", ROOT, enforced)


def request(authorization: bytes | None = None, host: bytes = b"localhost") -> HttpRequest:
    headers = {b"host": host, b"x-amz-date": b"20261115T000000Z"}
    if authorization is not None:
        headers[b"authorization"] = authorization
    return HttpRequest("POST", b"/", headers, b"", "192.0.2.1")


@pytest.mark.parametrize(
    ("key", "account"),
    [
        (b"222222222222", "222222222222"),
        (b"test", ROOT),
        (b"1234567890123", ROOT),
        (b"AKIAKNOWNKNOWNKNOWN0", "111111111111"),
    ],
)
def test_without_authentication_a_key_is_taken_at_its_word(key: bytes, account: str) -> None:
    caller = access(enforced=False).authenticate(request(CREDENTIAL % key), 0)
    assert (caller.principal.account, caller.region) == (account, "eu-west-1")


@pytest.mark.parametrize("authorization", [None, b"Basic dXNlcjpwYXNz", b"AWS4-HMAC-SHA256 nonsense"])
def test_without_authentication_no_signature_is_the_root_account(authorization: bytes | None) -> None:
    caller = access(enforced=False).authenticate(request(authorization), 0)
    assert (caller.principal.account, caller.region) == (ROOT, "us-east-1")


@pytest.mark.parametrize(
    ("host", "region"),
    [
        (b"sqs.ap-south-1.amazonaws.com", "ap-south-1"),
        (b"ap-south-1.queue.amazonaws.com:443", "ap-south-1"),
        (b"queue.amazonaws.com", "us-east-1"),
        (b"example.org", "us-east-1"),
    ],
)
def test_without_a_signature_the_host_may_name_the_region(host: bytes, region: str) -> None:
    assert access(enforced=False).authenticate(request(host=host), 0).region == region


def test_with_authentication_who_does_not_sign_is_nobody() -> None:
    assert access(enforced=True).authenticate(request(), 0) == Caller(NOBODY, "us-east-1")


def test_without_authentication_a_user_s_key_acts_as_its_account() -> None:
    gate = access(enforced=False)
    user = Principal("111111111111", "arn:aws:iam::111111111111:user/ann", "AIDAANN", Kind.USER, "ann")
    gate.keys = {"AKIAOFAUSEROFAUSER00": Key("secret", user)}
    caller = gate.authenticate(request(CREDENTIAL % b"AKIAOFAUSEROFAUSER00"), 0)
    assert caller.principal == root_of("111111111111")


def test_who_fails_too_often_is_slowed_down_and_then_let_try_again() -> None:
    gate = access(enforced=True)
    for _ in range(FAILURES_PER_SECOND):
        gate.authenticate(request(), 0)
        assert gate.unsigned(request(), 0).shape == "MissingAuthenticationToken"
    with pytest.raises(ServiceError) as refused:
        gate.authenticate(request(), 0)
    assert refused.value.shape == "RequestThrottled"
    assert gate.authenticate(request(), 1000).principal == NOBODY


def test_a_signature_is_good_for_its_own_service_alone() -> None:
    caller = Caller(root_of(ROOT), "us-east-1", "sts")
    access(enforced=True).check_service(caller, "sts")
    access(enforced=False).check_service(caller, "sqs")
    with pytest.raises(ServiceError) as refused:
        access(enforced=True).check_service(caller, "sqs")
    assert refused.value.shape == "SignatureDoesNotMatch"
