"""A caller known by an earlier request gets what one who is looked at closely gets, whatever has happened since."""

from collections.abc import Callable

import pytest
from botocore.awsrequest import AWSRequest
from msgspec.structs import replace

from penstock.api.access import FAILURES_PER_SECOND_WITH_A_KEY
from penstock.api.acquaintance import Acquaintance
from penstock.aws.http import HttpRequest
from penstock.core.directory import AccessKey, User
from penstock.core.identity import Kind
from penstock.core.session import Ticket
from sqs.harness import ACCOUNT, REGION, Signer, World
from sts.world import HOST, ROOT, Who, answered, give_key, save, signed, temporary

HOUR_MS = 3_600_000
ANN = User(account=ACCOUNT, name="ann", id="AIDAANN")


@pytest.fixture
async def who(world: World) -> Who:
    await save(world, ANN)
    return await give_key(world, ACCOUNT, "ann")


def asking(world: World, who: Who) -> HttpRequest:
    return signed(world, who, "sts", "GetCallerIdentity")


async def learnt_of(world: World, request: HttpRequest) -> list[Acquaintance]:
    """What the handler wants to remember of it."""
    lessons: list[Acquaintance] = []
    await answered(world, replace(request, remember=lambda request, lesson: lessons.append(lesson)))
    return lessons


async def both_ways(world: World, request: HttpRequest, known: Acquaintance) -> str:
    """The error, or the caller's ARN: the same whether or not the request is known by its likeness."""
    plain, recognised = await answered(world, replace(request)), await answered(world, replace(request, lesson=known))
    assert plain == recognised
    return plain.code or str(plain.result["Arn"])


async def test_one_who_is_recognised_is_who_he_was(world: World, who: Who) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    world.advance(60)
    assert await both_ways(world, asking(world, who), known) == f"arn:aws:iam::{ACCOUNT}:user/ann"


async def test_a_recognised_request_is_not_read_again(world: World, who: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    monkeypatch.setattr("penstock.api.access.read", lambda request: pytest.fail("it was read"))
    assert (await answered(world, replace(asking(world, who), lesson=known))).status == 200


@pytest.mark.parametrize("change", ["inactive", "deleted", "another secret", "without its user"])
async def test_a_key_that_is_no_longer_good_is_refused_at_once(world: World, who: Who, change: str) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    key = world.identities.directory.keys[who.key]
    if change == "inactive":
        await save(world, replace(key, active=False))
    elif change == "another secret":
        await save(world, replace(key, secret=world.identities.sealed(who.key, "another")))
    else:
        await save(world, removed=(key, ANN) if change == "without its user" else (key,))
    error = "SignatureDoesNotMatch" if change == "another secret" else "InvalidClientTokenId"
    assert await both_ways(world, asking(world, who), known) == error


async def test_a_user_who_is_another_now_is_not_who_he_was(world: World, who: Who) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    await save(world, replace(ANN, path="/people/"))
    assert await both_ways(world, asking(world, who), known) == f"arn:aws:iam::{ACCOUNT}:user/people/ann"


async def test_a_session_ends_when_its_time_is_over(world: World) -> None:
    now = world.clock.now()
    who = temporary(world.identities.issue(Ticket(ACCOUNT, Kind.ROOT, "", ROOT.key, now, now + HOUR_MS)))
    (known,) = await learnt_of(world, asking(world, who))
    world.advance(3599)
    assert await both_ways(world, asking(world, who), known) == f"arn:aws:iam::{ACCOUNT}:root"
    world.advance(1)
    assert await both_ways(world, asking(world, who), known) == "ExpiredToken"


def tampered(request: HttpRequest) -> HttpRequest:
    return replace(request, body=request.body + b"&A=B")


def of_another(request: HttpRequest) -> HttpRequest:
    authorization = request.headers[b"authorization"]
    return replace(request, headers={**request.headers, b"authorization": authorization[:-64] + b"0" * 64})


@pytest.mark.parametrize("spoil", [tampered, of_another])
async def test_a_wrong_signature_is_refused(
    world: World, who: Who, spoil: Callable[[HttpRequest], HttpRequest]
) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    assert await both_ways(world, spoil(asking(world, who)), known) == "SignatureDoesNotMatch"


async def test_nobody_is_remembered_by_a_wrong_signature(world: World, who: Who) -> None:
    assert await learnt_of(world, tampered(asking(world, who))) == []


async def test_who_failed_too_often_with_a_key_is_not_recognised_by_it(world: World, who: Who) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    for _ in range(FAILURES_PER_SECOND_WITH_A_KEY):
        await answered(world, replace(tampered(asking(world, who)), lesson=known))
    assert await both_ways(world, asking(world, who), known) == "RequestThrottled"
    world.advance(1)
    assert await both_ways(world, asking(world, who), known) == f"arn:aws:iam::{ACCOUNT}:user/ann"


async def test_its_use_is_noted(world: World, who: Who) -> None:
    (known,) = await learnt_of(world, asking(world, who))
    world.advance(60)
    await answered(world, replace(asking(world, who), lesson=known))
    await world.gateway._access.used.write(world.identities)
    key = world.identities.directory.keys[who.key]
    assert isinstance(key, AccessKey)
    assert key.used == world.clock.wall()


async def test_in_the_query_protocol_the_body_says_what_is_asked_for(world: World) -> None:
    (known,) = await learnt_of(world, asking(world, ROOT))
    for _ in range(2):
        assert await both_ways(world, asking(world, ROOT), known) == f"arn:aws:iam::{ACCOUNT}:root"
        other = replace(signed(world, ROOT, "sts", "GetSessionToken"), lesson=known)
        assert (await answered(world, other)).result.keys() == {"Credentials"}


def in_json(world: World, action: str, service: str = "sqs") -> HttpRequest:
    headers = {"Host": HOST, "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{action}"}
    body = b"{}" if action == "ListQueues" else b'{"QueueName": "orders"}'
    request = AWSRequest("POST", f"http://{HOST}/", headers, body)
    Signer(ROOT.key, ROOT.secret, REGION, world.clock, service).add_auth(request)
    given = {name.lower().encode(): str(value).encode() for name, value in request.headers.items()}
    return HttpRequest("POST", b"/", given, body)


async def test_in_json_the_operation_is_found_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = in_json(world, "ListQueues")
    lessons: list[Acquaintance] = []
    first.remember = lambda request, lesson: lessons.append(lesson)
    assert (await world.gateway.answer(first)).status == 200
    for _ in range(3):
        assert (await world.gateway.answer(replace(in_json(world, "ListQueues"), lesson=lessons[0]))).status == 200
    _, operation, _, _ = lessons[0].asked
    assert operation.name == "ListQueues"
    monkeypatch.setattr("penstock.aws.wire.JsonWire.operation", lambda *args: pytest.fail("it was looked for"))
    assert (await world.gateway.answer(replace(in_json(world, "ListQueues"), lesson=lessons[0]))).status == 200


async def test_a_signature_for_another_service_is_never_good(world: World) -> None:
    request, lessons = in_json(world, "ListQueues", service="sts"), list[Acquaintance]()
    request.remember = lambda request, lesson: lessons.append(lesson)
    assert (await world.gateway.answer(request)).status == 403
    for lesson in (lessons * 3)[:3]:
        again = replace(in_json(world, "ListQueues", service="sts"), lesson=lesson)
        assert (await world.gateway.answer(again)).status == 403
