"""Attacks on signatures, through the whole pipeline, with a permanent and with a temporary key: replays, expired ones,
confusions of algorithm and scope, and what an error tells of keys."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from penstock.aws.http import HttpRequest
from penstock.core.directory import User
from penstock.core.identity import Kind
from penstock.core.session import Ticket
from sqs.harness import ACCOUNT, REGION, World
from sts.world import ROOT, Reply, Who, answered, ask, give_key, save, signed, temporary

DAY_MS = 86_400_000
MISMATCH, INCOMPLETE, INVALID = "SignatureDoesNotMatch", "IncompleteSignature", "InvalidClientTokenId"


@pytest.fixture(params=["permanent", "temporary"])
def who(request: pytest.FixtureRequest, world: World) -> Who:
    if request.param == "permanent":
        return ROOT
    now = world.clock.now()
    return temporary(world.identities.issue(Ticket(ACCOUNT, Kind.ROOT, "", ROOT.key, now, now + 7 * DAY_MS)))


def listing(world: World, who: Who, query: bool = False, region: str = REGION) -> HttpRequest:
    return signed(world, who, "sqs", "ListQueues", region, query)


def changed(request: HttpRequest, old: bytes, new: bytes) -> HttpRequest:
    """With its Authorization header rewritten."""
    authorization = request.headers[b"authorization"]
    assert old in authorization
    return replace(request, headers={**request.headers, b"authorization": authorization.replace(old, new)})


async def code(world: World, request: HttpRequest) -> str:
    return (await answered(world, request)).code


@pytest.mark.parametrize("query", [False, True])
async def test_a_replay_is_good_for_its_window_and_no_longer(world: World, who: Who, query: bool) -> None:
    """Within it, TLS is the answer to replays: SDKs themselves repeat a request under one signature."""
    request, window = listing(world, who, query), 3600 if query else 900
    assert await code(world, replace(request)) == ""
    world.advance(window)
    assert await code(world, replace(request)) == ""
    world.advance(1)
    assert await code(world, replace(request)) == ("RequestExpired" if query else MISMATCH)


async def test_a_signature_from_the_future_is_refused(world: World, who: Who) -> None:
    request = listing(world, who)
    world.clock.advance(-901)
    assert await code(world, request) == MISMATCH


@pytest.mark.parametrize(
    ("algorithm", "error"),
    [
        (b"AWS4-HMAC-SHA1", INCOMPLETE),
        (b"AWS4-HMAC-SHA512", INCOMPLETE),
        (b"AWS4-HMAC-SHA256-PAYLOAD", INCOMPLETE),
        (b"AWS4-ECDSA-P256-SHA256", INCOMPLETE),
        (b"AWS4-hmac-sha256", INCOMPLETE),
        (b"AWS3-HMAC-SHA256", INCOMPLETE),
        (b"AWS", INCOMPLETE),
        (b"aws4-hmac-sha256", "MissingAuthenticationToken"),
        (b"none", "MissingAuthenticationToken"),
        (b"Bearer", "MissingAuthenticationToken"),
    ],
)
async def test_another_algorithm_is_not_taken_for_ours(world: World, who: Who, algorithm: bytes, error: str) -> None:
    assert await code(world, changed(listing(world, who), b"AWS4-HMAC-SHA256", algorithm)) == error


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (b"/aws4_request", b"/aws4_requesT", MISMATCH),
        (b"/aws4_request", b"/", INCOMPLETE),
        (b"/aws4_request", b"", INCOMPLETE),
        (b"/aws4_request", b"/aws4_request/aws4_request", INCOMPLETE),
        (b"/sqs/", b"/sts/", MISMATCH),
        (b"/sqs/", b"/SQS/", MISMATCH),
        (b"/sqs/", b"/s3/", MISMATCH),
        (b"/us-east-1/", b"/eu-west-1/", MISMATCH),
        (b"/us-east-1/", b"/us-east-2/", MISMATCH),
        (b"/us-east-1/", b"/US-EAST-1/", MISMATCH),
        (b"/us-east-1/", b"/*/", MISMATCH),
        (b"/20231114/", b"/20231113/", MISMATCH),
        (b"/20231114/", b"/20231115/", MISMATCH),
        (b"/20231114/", b"/2023111/", MISMATCH),
    ],
)
async def test_a_scope_that_was_changed_does_not_fit_the_signature(
    world: World, who: Who, old: bytes, new: bytes, error: str
) -> None:
    assert await code(world, changed(listing(world, who), old, new)) == error


async def test_a_signature_for_one_service_does_nothing_at_another(world: World, who: Who) -> None:
    for_sts = signed(world, who, "sts", "GetCallerIdentity")
    assert await code(world, for_sts) == ""
    as_sqs = signed(world, who, "sts", "GetCallerIdentity")
    body = b"Action=ListQueues&Version=2012-11-05"
    assert await code(world, replace(as_sqs, body=body)) == MISMATCH
    target = {**listing(world, who).headers, b"x-amz-target": b"AmazonSQS.ListQueues"}
    assert (await world.gateway.answer(replace(for_sts, headers=target, prepared=None))).status == 403


async def test_a_day_s_key_is_good_for_that_day_alone(world: World, who: Who) -> None:
    """The scope says yesterday, and the request says now: a signing key that leaked is not good for ever."""
    yesterday = listing(world, who)
    world.clock.advance(86_400)
    today = listing(world, who)
    mixed = {**yesterday.headers, b"x-amz-date": today.headers[b"x-amz-date"]}
    assert await code(world, replace(yesterday, headers=mixed)) == MISMATCH


@pytest.mark.parametrize("name", [b"x-amz-target", b"x-amz-security-token", b"x-amz-meta-anything"])
async def test_an_amazon_header_that_was_added_on_the_way_is_refused(world: World, name: bytes) -> None:
    request = listing(world, ROOT)
    reply = await world.gateway.answer(replace(request, headers={**request.headers, name: b"AmazonSQS.ListQueues"}))
    assert reply.status == 403


Spoil = Callable[[HttpRequest], HttpRequest]


def without(name: bytes) -> Spoil:
    return lambda request: replace(request, headers={k: v for k, v in request.headers.items() if k != name})


def twice(name: bytes) -> Spoil:
    """As the listener joins a header that came twice."""
    return lambda request: replace(
        request, headers={**request.headers, name: b"%b,%b" % (request.headers[name], request.headers[name])}
    )


@pytest.mark.parametrize(
    "spoil",
    [
        without(b"host"), without(b"x-amz-date"), without(b"content-type"),
        twice(b"host"), twice(b"x-amz-date"), twice(b"authorization"), twice(b"content-type"),
    ],
    ids=[
        "no host", "no date", "no content type", "two hosts", "two dates", "two authorizations", "two content types",
    ],
)  # fmt: skip
async def test_a_signed_header_that_is_missing_or_there_twice_is_refused(world: World, who: Who, spoil: Spoil) -> None:
    assert await code(world, spoil(listing(world, who))) in (MISMATCH, INCOMPLETE)


async def test_an_error_tells_a_wrong_secret_from_an_unknown_key_as_amazons_does_and_nothing_more(world: World) -> None:
    """Keys that nobody has, that are switched off, whose user is gone, that are temporary, and that are garbage."""
    anna = User(account=ACCOUNT, name="anna", id="AIDAANNA")
    await save(world, anna)
    off = await give_key(world, ACCOUNT, "anna", "AKIA0000000000000001")
    await save(world, replace(world.identities.directory.keys[off.key], active=False))
    orphan = await give_key(world, ACCOUNT, "gone", "AKIA0000000000000002")
    nobody = Who("AKIA0000000000000003", "x")
    replies: set[Reply] = set()
    for who in (off, orphan, nobody, Who("ASIA0000000000000003", "x"), Who("ASIA0000000000000003", "x", "token")):
        reply = await ask(world, who, "GetCallerIdentity")
        replies.add(reply._replace(result=()))
    (only,) = replies
    assert (only.status, only.code) == (403, INVALID)
    assert (await ask(world, ROOT._replace(secret="x"), "GetCallerIdentity")).code == MISMATCH
