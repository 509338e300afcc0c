"""What is confirmed by likeness is what the verifier accepts, and nothing else."""

import pytest
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from penstock.aws.claim import iso, read
from penstock.aws.familiar import SKEW_SECONDS, Familiar
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.core.errors import ServiceError
from sts.world import At, Who

from .signing import HOST, KEY, SECRET, SQS, check, presigned, sent, with_header

NOW = 1_700_000_000_000
OWNER = Who(KEY, SECRET)
HEADERS = {
    "X-Amz-Target": "AmazonSQS.SendMessage",
    "Content-Type": "application/x-amz-json-1.0  ; a=100%",
    "amz-sdk-invocation-id": "0f1e2d3c-4b5a-4697-8877-665544332211",
}
DIGITS = st.text("0123456789abcdefTZ-", min_size=16, max_size=16)


def request(body: bytes = b"first", who: Who = OWNER, **more: str) -> HttpRequest:
    made = AWSRequest("POST", f"http://{HOST}/a%20b/%25?c=d%2F&%28=%25", HEADERS | more, body)
    At(NOW // 1000).sign(made, who, "sqs", "eu-central-1")
    return sent(made.prepare())


def familiar_with(first: HttpRequest, verifier: Verifier = SQS) -> Familiar | None:
    claim = read(first)
    assert claim is not None
    return verifier.familiar(claim, first, SECRET, NOW)


def confirmed(later: HttpRequest, at: int = NOW, secret: str = SECRET) -> bool:
    """Whether one that knows `request()` confirms it."""
    familiar = familiar_with(request())
    assert familiar is not None
    return familiar.confirms(later, secret, at)


def accepted(later: HttpRequest, at: int) -> bool:
    try:
        check(later, at, SQS)
    except ServiceError:
        return False
    return True


def test_a_request_with_another_body_date_and_id_is_confirmed() -> None:
    later = request(b"second", **{"amz-sdk-invocation-id": "ffffffff-4b5a-4697-8877-665544332211"})
    assert confirmed(later)
    assert accepted(later, NOW)


@pytest.mark.parametrize("spoil", [b"x-amz-date", b"amz-sdk-invocation-id", b"authorization"])
def test_a_value_that_was_changed_is_not_confirmed(spoil: bytes) -> None:
    later = request(b"second")
    value = later.headers[spoil]
    assert not confirmed(with_header(later, spoil, value[:-1] + (b"0" if value[-1:] != b"0" else b"1")))


def test_another_body_is_not_confirmed() -> None:
    later = request(b"second")
    later.body = b"third"
    assert not confirmed(later)


def test_a_declared_hash_must_be_that_of_the_body() -> None:
    first = request(**{"X-Amz-Content-Sha256": "a" * 64})
    assert familiar_with(first) is None


@given(DIGITS, st.integers(-2, 2))
def test_what_is_confirmed_is_accepted_whatever_date_it_bears(date: str, off: int) -> None:
    later = with_header(request(b"second"), b"x-amz-date", date.encode())
    assert not confirmed(later)
    assert not accepted(later, NOW + off)


@pytest.mark.parametrize("off", [-SKEW_SECONDS - 1, -SKEW_SECONDS, 0, SKEW_SECONDS, SKEW_SECONDS + 1])
def test_it_is_confirmed_within_the_window_of_the_verifier(off: int) -> None:
    later = request(b"second")
    at = NOW + off * 1000
    assert confirmed(later, at) == accepted(later, at) == (abs(off) <= SKEW_SECONDS)


def test_a_date_of_another_day_than_the_credential_s_is_not_confirmed() -> None:
    later = request(b"second")
    assert not confirmed(with_header(later, b"x-amz-date", iso(NOW // 1000 + 86_400).encode()), NOW + 86_400_000)


def test_a_rotated_secret_is_out_at_once_and_a_date_that_was_refused_spoils_nothing() -> None:
    first = request()
    familiar = familiar_with(first)
    assert familiar is not None
    bad = with_header(first, b"x-amz-date", b"20261332T000000Z")
    outcomes = [
        familiar.confirms(one, secret, NOW)
        for one, secret in ((first, SECRET), (first, "another"), (bad, SECRET), (first, SECRET))
    ]
    assert outcomes == [True, False, False, True]


def test_a_presigned_request_and_one_under_an_alias_are_left_to_the_verifier() -> None:
    assert familiar_with(presigned()) is None
    elsewhere = with_header(request(), b"host", b"rewritten.example")
    behind_a_proxy = Verifier(frozenset({"sqs"}), None, aliases=(b"sqs.example:9324",))
    check(elsewhere, NOW, behind_a_proxy)
    assert familiar_with(elsewhere, behind_a_proxy) is None


def test_a_token_stays_with_the_claim() -> None:
    familiar = familiar_with(request(who=Who("ASIA" + KEY, SECRET, "a/b+c=")))
    assert familiar is not None
    assert familiar.claim.token == "a/b+c="


def test_a_request_that_has_expired_is_not_made_good_by_one_with_a_date_of_today() -> None:
    first, day_ms = request(), 86_400_000
    familiar = familiar_with(first)
    assert familiar is not None
    tomorrow = with_header(first, b"x-amz-date", iso((NOW + day_ms) // 1000).encode())
    assert not familiar.confirms(tomorrow, SECRET, NOW + day_ms)
    assert not familiar.confirms(first, SECRET, NOW + day_ms)
    assert familiar.confirms(first, SECRET, NOW)
