"""Temporary keys at the door: whose token goes with which key, until when, and what ends it sooner."""

import base64

import pytest
from msgspec.structs import replace

from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.core.identity import Kind
from penstock.core.session import Ticket
from sqs.harness import ACCOUNT, OTHER_REGION, World

from .conftest import ANNA, READER
from .world import ROOT, Reply, Who, answered, ask, caller, give_key, save, signed, temporary

HOUR_MS = 3_600_000
INVALID = ("InvalidClientTokenId", 403, "The security token included in the request is invalid.")
MISMATCH = "SignatureDoesNotMatch"


def ticket(world: World, kind: Kind = Kind.USER, **changes: object) -> Ticket:
    owner = {
        Kind.USER: ("anna", "AIDAANNA"),
        Kind.ROLE: ("reader", "AROAREADER"),
        Kind.FEDERATED: ("anna", "AIDAANNA"),
        Kind.ROOT: ("", "AKIA0000000000000001"),
    }
    now = world.clock.now()
    policies = () if kind is Kind.FEDERATED else None
    return replace(Ticket(ACCOUNT, kind, *owner[kind], now, now + HOUR_MS, "bob", policies), **changes)


def issued(world: World, kind: Kind = Kind.USER, **changes: object) -> Who:
    return temporary(world.identities.issue(ticket(world, kind, **changes)))


def told(reply: Reply) -> tuple[str, int, str]:
    return reply.code, reply.status, reply.message


async def refused(world: World, who: Who) -> tuple[str, int, str]:
    return told(await ask(world, who, "GetCallerIdentity"))


@pytest.mark.parametrize(
    ("kind", "arn"),
    [
        (Kind.USER, ANNA.arn),
        (Kind.ROLE, f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/bob"),
        (Kind.FEDERATED, f"arn:aws:sts::{ACCOUNT}:federated-user/bob"),
    ],
)
async def test_who_signs_with_a_temporary_key_and_sends_its_token_is_known(world: World, kind: Kind, arn: str) -> None:
    who = issued(world, kind)
    assert await caller(world, who) == arn
    assert await caller(world, who) == arn


async def test_a_presigned_request_may_carry_its_token(world: World) -> None:
    request = signed(world, issued(world), "sts", "GetCallerIdentity", query=True)
    assert b"X-Amz-Security-Token=" in request.target
    assert (await answered(world, request)).result["Arn"] == ANNA.arn


async def test_a_temporary_key_is_good_up_to_its_end_and_not_at_it(world: World) -> None:
    who = issued(world)
    world.advance(3599)
    assert await caller(world, who) == ANNA.arn
    world.advance(1)
    assert await refused(world, who) == ("ExpiredToken", 403, "The security token included in the request is expired")


async def test_that_a_token_has_expired_is_told_only_to_who_has_the_secret(world: World) -> None:
    who = issued(world)
    world.advance(7200)
    assert (await refused(world, who._replace(secret="a guess")))[0] == MISMATCH


async def test_a_temporary_key_without_its_token_is_nobodys(world: World) -> None:
    assert await refused(world, issued(world)._replace(token=None)) == INVALID


async def test_a_permanent_key_with_a_token_is_nobodys(world: World, anna: Who) -> None:
    token = issued(world).token
    assert await refused(world, anna._replace(token=token)) == INVALID
    assert await refused(world, ROOT._replace(token=token)) == INVALID
    assert await refused(world, ROOT._replace(token="x")) == INVALID


async def test_the_token_of_another_key_is_no_good(world: World) -> None:
    mine, other = issued(world), issued(world, Kind.ROLE)
    assert await refused(world, mine._replace(token=other.token)) == INVALID
    assert await refused(world, other._replace(token=mine.token)) == INVALID
    assert await refused(world, mine._replace(key=other.key)) == INVALID


@pytest.mark.parametrize(
    "token",
    ["x", "", "AAAA", "=" * 40, base64.b64encode(b"\0" * 200).decode(), "A" * 6000, "../../etc/passwd", "{}"],
)
async def test_a_made_up_token_is_no_good(world: World, token: str) -> None:
    assert await refused(world, issued(world)._replace(token=token)) == INVALID


async def test_a_token_with_a_bit_flipped_or_cut_short_is_no_good(world: World) -> None:
    who = issued(world)
    sealed = base64.b64decode(who.token or "")
    for place in range(0, len(sealed), 7):
        flipped = bytearray(sealed)
        flipped[place] ^= 1
        world.advance(1)  # so that nobody is slowed down
        assert await refused(world, who._replace(token=base64.b64encode(flipped).decode())) == INVALID
        assert await refused(world, who._replace(token=base64.b64encode(sealed[:place]).decode())) == INVALID
    assert await caller(world, who) == ANNA.arn


def without(request: HttpRequest, header: bytes) -> HttpRequest:
    return replace(request, headers={name: value for name, value in request.headers.items() if name != header})


async def test_a_token_outside_the_signature_is_refused(world: World) -> None:
    """Signed without it, and put beside the signature on the way."""
    who = issued(world)
    bare = signed(world, who._replace(token=None), "sts", "GetCallerIdentity")
    beside = replace(bare, headers={**bare.headers, b"x-amz-security-token": (who.token or "").encode()})
    reply = await answered(world, beside)
    assert reply.status == 403
    assert "x-amz-security-token" in reply.message


async def test_a_token_that_was_changed_on_the_way_is_refused(world: World) -> None:
    """Another good token of the same key would carry other rights, so it must not fit under the signature either."""
    who = issued(world)
    request = signed(world, who, "sts", "GetCallerIdentity")
    taken = await answered(world, without(request, b"x-amz-security-token"))
    assert told(taken) == INVALID
    other = issued(world, Kind.ROLE).token or ""
    swapped = replace(request, headers={**request.headers, b"x-amz-security-token": other.encode()})
    assert told(await answered(world, swapped)) == INVALID


async def test_a_token_in_the_query_cannot_be_taken_out_or_doubled(world: World) -> None:
    who = issued(world)
    request = signed(world, who, "sts", "GetCallerIdentity", query=True)
    parts = request.target.split(b"&")
    token = next(part for part in parts if part.startswith(b"X-Amz-Security-Token="))
    cut = replace(request, target=b"&".join(part for part in parts if part != token))
    assert told(await answered(world, cut)) == INVALID
    assert (await answered(world, replace(request, target=request.target + b"&" + token))).code == "IncompleteSignature"


@pytest.mark.parametrize("kind", [Kind.USER, Kind.FEDERATED])
async def test_the_sessions_of_a_user_end_with_the_user_and_a_namesake_has_none_of_them(
    world: World, kind: Kind
) -> None:
    who = issued(world, kind)
    assert await caller(world, who)
    await save(world, removed=(ANNA,))
    assert await refused(world, who) == INVALID
    await save(world, replace(ANNA, id="AIDAANOTHER"))
    assert await refused(world, who) == INVALID


async def test_the_sessions_of_a_role_end_with_the_role(world: World) -> None:
    who = issued(world, Kind.ROLE)
    assert await caller(world, who)
    await save(world, removed=(READER,))
    assert await refused(world, who) == INVALID


async def test_the_sessions_of_an_account_itself_end_with_the_key_that_asked_for_them(world: World) -> None:
    root = await give_key(world, ACCOUNT, "")
    who = issued(world, Kind.ROOT, owner_id=root.key)
    assert await caller(world, who) == f"arn:aws:iam::{ACCOUNT}:root"
    key = world.identities.directory.keys[root.key]
    await save(world, replace(key, active=False))
    assert await refused(world, who) == INVALID


async def test_opened_tokens_are_remembered_and_made_up_ones_are_not(world: World) -> None:
    good = [issued(world) for _ in range(3)]
    for who in good * 2:
        await caller(world, who)
    for number in range(20):
        await refused(world, good[0]._replace(token=f"forged-{number}"))
        world.advance(0.1)
    assert world.identities._session.cache_info().currsize == 3
    assert world.identities._session.cache_info().hits >= 3


@pytest.mark.parametrize(
    ("service", "region", "accepted"),
    [
        ("sts", "us-east-1", True),
        ("sts", "eu-west-1", True),
        ("sts", "us-east-2", False),
        ("sqs", "eu-west-1", True),
        ("sqs", "us-east-1", False),
    ],
)
async def test_sts_may_be_signed_for_us_east_1_wherever_the_server_is(
    world: World, service: str, region: str, accepted: bool
) -> None:
    world.gateway._access.verifier = Verifier(frozenset({"sqs", "sts"}), frozenset({OTHER_REGION}))
    action = {"sts": "GetCallerIdentity", "sqs": "ListQueues"}[service]
    reply = await ask(world, ROOT, action, service, region)
    assert reply.code == ("" if accepted else MISMATCH)


@pytest.mark.parametrize("token", ["junk", None])
async def test_with_authentication_off_a_token_that_is_none_is_the_root_account(
    world: World, token: str | None
) -> None:
    world.gateway._access.enforced = False
    assert await caller(world, Who("ASIA0000000000000000", "x", token)) == f"arn:aws:iam::{ACCOUNT}:root"
