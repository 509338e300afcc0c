"""Who is calling, and for what their signature is good."""

from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from penstock.api.access import FAILURES_PER_SECOND, FAILURES_PER_SECOND_WITH_A_KEY, Access, Caller
from penstock.api.addresses import Addresses
from penstock.api.identities import Key
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.core.errors import ServiceError
from penstock.core.identity import NOBODY, Kind, Principal, root_of
from penstock.core.pace import KEYS_REMEMBERED

ROOT = "000000000000"
CREDENTIAL = (
    b"AWS4-HMAC-SHA256 Credential=%b/20261115/eu-west-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, "
    b"Signature=" + b"0" * 64
)


KNOWN = "AKIAKNOWNKNOWNKNOWN0"


def access(enforced: bool, *proxies: str) -> Access:
    keys = {KNOWN: Key("secret", root_of("111111111111"))}
    addresses = Addresses(trusted_proxies=tuple(map(ip_network, proxies)))
    return Access(keys, Verifier(frozenset({"sqs"}), None), "us-east-1", ROOT, enforced, addresses)


def request(
    authorization: bytes | None = None, host: bytes = b"localhost", peer: str = "192.0.2.1", **headers: bytes
) -> HttpRequest:
    given = {b"host": host, b"x-amz-date": b"20261115T000000Z"}
    if authorization is not None:
        given[b"authorization"] = authorization
    given |= {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return HttpRequest("POST", b"/", given, b"", peer)


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


def outcomes(gate: Access, requests: list[HttpRequest]) -> Iterator[str]:
    """As the gateway asks: what nobody signed is refused afterwards, since nobody may do it unsigned."""
    for each in requests:
        try:
            gate.authenticate(each, 0)
            yield gate.unsigned(each, 0).shape
        except ServiceError as refusal:
            yield refusal.shape


def guess(key: bytes = KNOWN.encode(), peer: str = "192.0.2.1") -> HttpRequest:
    """A wrong signature."""
    return request(CREDENTIAL % key, peer=peer)


def test_an_address_that_guesses_at_one_key_is_slowed_down_for_that_key_first() -> None:
    gate, few = access(enforced=True), FAILURES_PER_SECOND_WITH_A_KEY
    assert list(outcomes(gate, [guess()] * (few + 1))) == ["SignatureDoesNotMatch"] * few + ["RequestThrottled"]
    assert list(outcomes(gate, [guess(b"AKIAANOTHERKEY000000")])) == ["InvalidClientTokenId"]


@pytest.mark.parametrize(
    "attackers", [["192.0.2.1"], ["2001:db8::1", "2001:db8::2"], [f"198.51.100.{n}" for n in range(200)]]
)
def test_whoever_fails_locks_out_no_other_address(attackers: list[str]) -> None:
    gate = access(enforced=True)
    for peer in attackers:
        list(outcomes(gate, [guess(peer=peer)] * 3 * FAILURES_PER_SECOND))
        list(outcomes(gate, [request(peer=peer)] * 3 * FAILURES_PER_SECOND))
    for peer in ("192.0.2.2", "2001:db8:0:1::1"):
        assert list(outcomes(gate, [guess(peer=peer)])) == ["SignatureDoesNotMatch"]


def test_an_ipv6_network_of_one_customer_counts_as_one_address() -> None:
    gate = access(enforced=True)
    list(outcomes(gate, [request(peer=f"2001:db8::{n:x}") for n in range(FAILURES_PER_SECOND)]))
    assert list(outcomes(gate, [request(peer="2001:db8::ffff:1")])) == ["RequestThrottled"]


def test_behind_a_proxy_the_callers_own_address_counts_and_what_it_made_up_does_not() -> None:
    gate = access(True, "10.0.0.0/8")

    def through(forwarded: bytes) -> HttpRequest:
        return request(peer="10.0.0.1", x_forwarded_for=forwarded)

    made_up = [through(b"203.0.113.%d, 198.51.100.7" % n) for n in range(FAILURES_PER_SECOND + 1)]
    assert list(outcomes(gate, made_up))[-1] == "RequestThrottled"
    assert list(outcomes(gate, [through(b"198.51.100.8")])) == ["MissingAuthenticationToken"]


def test_nobody_escapes_by_a_header_that_he_wrote_himself() -> None:
    gate = access(True, "10.0.0.0/8")
    requests = [request(x_forwarded_for=b"203.0.113.%d" % n) for n in range(FAILURES_PER_SECOND + 1)]
    assert list(outcomes(gate, requests))[-1] == "RequestThrottled"


def test_what_is_remembered_of_failures_is_bounded() -> None:
    gate = access(enforced=True)
    for number in range(2000):
        list(outcomes(gate, [guess(b"K%d" % number + b"x" * 5000, f"198.51.{number % 250}.{number // 250}")]))
    names = [*gate._failures._levels, *gate._failures_with_keys._levels]
    assert len(names) <= 2 * KEYS_REMEMBERED
    assert max(map(len, names)) < 100


def test_a_signature_is_good_for_its_own_service_alone() -> None:
    caller = Caller(root_of(ROOT), "us-east-1", "sts")
    access(enforced=True).check_service(caller, "sts")
    access(enforced=False).check_service(caller, "sqs")
    with pytest.raises(ServiceError) as refused:
        access(enforced=True).check_service(caller, "sqs")
    assert refused.value.shape == "SignatureDoesNotMatch"
