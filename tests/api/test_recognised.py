"""A caller known by an earlier request gets what one who is looked at closely gets, whatever has happened since."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from penstock.api.access import FAILURES_PER_SECOND_WITH_A_KEY
from penstock.aws.familiar import Familiar
from penstock.aws.http import HttpRequest
from penstock.core.directory import AccessKey, User
from penstock.core.identity import Kind
from penstock.core.session import Ticket
from sqs.harness import ACCOUNT, World
from sts.world import ROOT, Who, answered, give_key, save, signed, temporary

HOUR_MS = 3_600_000
ANN = User(account=ACCOUNT, name="ann", id="AIDAANN")


@pytest.fixture
async def who(world: World) -> Who:
    await save(world, ANN)
    return await give_key(world, ACCOUNT, "ann")


def asking(world: World, who: Who) -> HttpRequest:
    return signed(world, who, "sts", "GetCallerIdentity")


async def learnt_of(world: World, request: HttpRequest) -> list[Familiar]:
    """What the handler wants to remember of it."""
    lessons: list[Familiar] = []
    await answered(world, replace(request, remember=lambda request, lesson: lessons.append(lesson)))
    return lessons


async def both_ways(world: World, request: HttpRequest, familiar: Familiar) -> str:
    """The error, or the caller's ARN: the same whether or not the request is known by its likeness."""
    plain, known = await answered(world, replace(request)), await answered(world, replace(request, lesson=familiar))
    assert plain == known
    return known.code or str(known.result["Arn"])


async def test_one_who_is_recognised_is_who_he_was(world: World, who: Who) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    world.advance(60)
    assert await both_ways(world, asking(world, who), familiar) == f"arn:aws:iam::{ACCOUNT}:user/ann"


async def test_a_recognised_request_is_not_read_again(world: World, who: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    monkeypatch.setattr("penstock.api.access.read", lambda request: pytest.fail("it was read"))
    assert (await answered(world, replace(asking(world, who), lesson=familiar))).status == 200


@pytest.mark.parametrize("change", ["inactive", "deleted", "another secret", "without its user"])
async def test_a_key_that_is_no_longer_good_is_refused_at_once(world: World, who: Who, change: str) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    key = world.identities.directory.keys[who.key]
    if change == "inactive":
        await save(world, replace(key, active=False))
    elif change == "another secret":
        await save(world, replace(key, secret=world.identities.sealed(who.key, "another")))
    else:
        await save(world, removed=(key, ANN) if change == "without its user" else (key,))
    error = "SignatureDoesNotMatch" if change == "another secret" else "InvalidClientTokenId"
    assert await both_ways(world, asking(world, who), familiar) == error


async def test_a_user_who_is_another_now_is_not_who_he_was(world: World, who: Who) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    await save(world, replace(ANN, path="/people/"))
    assert await both_ways(world, asking(world, who), familiar) == f"arn:aws:iam::{ACCOUNT}:user/people/ann"


async def test_a_session_ends_when_its_time_is_over(world: World) -> None:
    now = world.clock.now()
    who = temporary(world.identities.issue(Ticket(ACCOUNT, Kind.ROOT, "", ROOT.key, now, now + HOUR_MS)))
    (familiar,) = await learnt_of(world, asking(world, who))
    world.advance(3599)
    assert await both_ways(world, asking(world, who), familiar) == f"arn:aws:iam::{ACCOUNT}:root"
    world.advance(1)
    assert await both_ways(world, asking(world, who), familiar) == "ExpiredToken"


def tampered(request: HttpRequest) -> HttpRequest:
    return replace(request, body=request.body + b"&A=B")


def of_another(request: HttpRequest) -> HttpRequest:
    authorization = request.headers[b"authorization"]
    return replace(request, headers={**request.headers, b"authorization": authorization[:-64] + b"0" * 64})


@pytest.mark.parametrize("spoil", [tampered, of_another])
async def test_a_wrong_signature_is_refused(
    world: World, who: Who, spoil: Callable[[HttpRequest], HttpRequest]
) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    assert await both_ways(world, spoil(asking(world, who)), familiar) == "SignatureDoesNotMatch"


async def test_nobody_is_remembered_by_a_wrong_signature(world: World, who: Who) -> None:
    assert await learnt_of(world, tampered(asking(world, who))) == []


async def test_who_failed_too_often_with_a_key_is_not_recognised_by_it(world: World, who: Who) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    for _ in range(FAILURES_PER_SECOND_WITH_A_KEY):
        await answered(world, replace(tampered(asking(world, who)), lesson=familiar))
    assert await both_ways(world, asking(world, who), familiar) == "RequestThrottled"
    world.advance(1)
    assert await both_ways(world, asking(world, who), familiar) == f"arn:aws:iam::{ACCOUNT}:user/ann"


async def test_its_use_is_noted(world: World, who: Who) -> None:
    (familiar,) = await learnt_of(world, asking(world, who))
    world.advance(60)
    await answered(world, replace(asking(world, who), lesson=familiar))
    await world.gateway._access.used.write(world.identities)
    key = world.identities.directory.keys[who.key]
    assert isinstance(key, AccessKey)
    assert key.used == world.clock.wall()
