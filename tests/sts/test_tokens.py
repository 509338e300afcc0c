"""GetSessionToken and GetFederationToken, and the questions of STS."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.core.directory import AccessKey, User
from sqs.harness import ACCOUNT, OTHER_ACCOUNT, STRANGER, World

from .conftest import ANNA
from .world import ROOT, Who, ask, caller, give_key, got, save, temporary

SENDS = json.dumps({"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"}]})
ROOT_ARN = f"arn:aws:iam::{ACCOUNT}:root"


async def session(world: World, who: Who, **params: Any) -> Who:
    return temporary((await got(world, who, "GetSessionToken", **params))["Credentials"])


async def lasts(world: World, who: Who) -> int:
    """For how many seconds temporary credentials are good."""
    key = world.identities.temporary(who.key, who.token or "")
    found = key.principal.session
    return (found.expires - found.issued) // 1000


async def test_a_session_is_of_whoever_asked_for_it(world: World, anna: Who) -> None:
    assert await caller(world, await session(world, anna)) == ANNA.arn
    assert await caller(world, await session(world, ROOT)) == ROOT_ARN


async def test_the_expiration_is_told_as_a_time(world: World, anna: Who) -> None:
    made = (await got(world, anna, "GetSessionToken", DurationSeconds=900))["Credentials"]
    assert made["Expiration"] == "2023-11-14T22:28:20Z"


@pytest.mark.parametrize(
    ("asked", "of_user", "of_root"),
    [(None, 43_200, 3600), (900, 900, 900), (3600, 3600, 3600), (129_600, 129_600, 3600)],
)
@pytest.mark.parametrize("action", ["GetSessionToken", "GetFederationToken"])
async def test_how_long_it_lasts(
    world: World, anna: Who, action: str, asked: int | None, of_user: int, of_root: int
) -> None:
    params = ({"DurationSeconds": asked} if asked else {}) | ({"Name": "bob"} if "Fed" in action else {})
    for who, seconds in ((anna, of_user), (ROOT, of_root)):
        made = temporary((await got(world, who, action, **params))["Credentials"])
        assert await lasts(world, made) == seconds


@pytest.mark.parametrize("seconds", [0, -1, 899, 129_601, 2**31 - 1])
async def test_durations_that_cannot_be(world: World, anna: Who, seconds: int) -> None:
    reply = await ask(world, anna, "GetSessionToken", DurationSeconds=seconds)
    assert (reply.code, reply.status) == ("ValidationError", 400)
    assert "at 'durationSeconds' failed to satisfy constraint" in reply.message


@pytest.mark.parametrize("action", ["GetSessionToken", "GetFederationToken"])
async def test_a_session_does_not_give_itself_another(world: World, anna: Who, action: str) -> None:
    who = await session(world, anna)
    reply = await ask(world, who, action, **({"Name": "bob"} if "Fed" in action else {}))
    assert (reply.code, reply.status) == ("AccessDenied", 403)
    assert reply.message == f"Cannot call {action} with session credentials"


async def test_a_federated_user_has_a_name_of_its_own(world: World, anna: Who) -> None:
    result = await got(world, anna, "GetFederationToken", Name="bob", Policy=SENDS)
    arn = f"arn:aws:sts::{ACCOUNT}:federated-user/bob"
    assert result["FederatedUser"] == {"FederatedUserId": f"{ACCOUNT}:bob", "Arn": arn}
    assert int(result["PackedPolicySize"]) > 0
    who = temporary(result["Credentials"])
    assert await got(world, who, "GetCallerIdentity") == {"UserId": f"{ACCOUNT}:bob", "Account": ACCOUNT, "Arn": arn}
    assert world.identities.temporary(who.key, who.token or "").principal.session.policies == (SENDS,)


async def test_a_federated_user_without_a_policy_may_nothing(world: World, anna: Who) -> None:
    who = temporary((await got(world, anna, "GetFederationToken", Name="bob"))["Credentials"])
    assert world.identities.temporary(who.key, who.token or "").principal.session.policies == ()


@pytest.mark.parametrize("name", ["x", "x" * 33, "a b", "a/b", "é!"])
async def test_names_that_cannot_be(world: World, anna: Who, name: str) -> None:
    assert (await ask(world, anna, "GetFederationToken", Name=name)).code == "ValidationError"


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("{}", "MalformedPolicyDocument"),
        ("nonsense", "MalformedPolicyDocument"),
        ("x" * 2049, "ValidationError"),
        ("", "ValidationError"),
        ("{\u1234}", "ValidationError"),
    ],
)
async def test_policies_that_cannot_be(world: World, anna: Who, policy: str, code: str) -> None:
    reply = await ask(world, anna, "GetFederationToken", Name="bob", Policy=policy)
    assert (reply.code, reply.status) == (code, 400)


async def test_sessions_of_a_deleted_key_of_the_account_itself_end(world: World) -> None:
    root = await give_key(world, ACCOUNT, "")
    for action, params in (("GetSessionToken", {}), ("GetFederationToken", {"Name": "bob"})):
        who = temporary((await got(world, root, action, **params))["Credentials"])
        key: AccessKey = world.identities.directory.keys[root.key]
        await save(world, removed=(key,))
        assert (await ask(world, who, "GetCallerIdentity")).code == "InvalidClientTokenId"
        await save(world, key)


async def test_receivers_see_whose_session_a_message_came_from(world: World, anna: Who) -> None:
    url = (await got(world, ROOT, "CreateQueue", "sqs", QueueName="orders"))["QueueUrl"]
    who = await session(world, ROOT)
    await got(world, who, "SendMessage", "sqs", QueueUrl=url, MessageBody="m")
    names = {"AttributeName.1": "SenderId"}
    message = (await got(world, ROOT, "ReceiveMessage", "sqs", QueueUrl=url, **names))["Message"]
    assert message["Attribute"] == {"Name": "SenderId", "Value": ACCOUNT}


async def test_whose_a_key_is(world: World, anna: Who) -> None:
    temporary_key = (await session(world, anna)).key
    for key, account in (
        (anna.key, ACCOUNT),
        (temporary_key, ACCOUNT),
        ("AKIASTRANGER0000", None),
        ("AKIA9999999999999999", None),
        ("ASIA7777777777777777", None),
    ):
        reply = await ask(world, anna, "GetAccessKeyInfo", AccessKeyId=key)
        assert reply.result == ({"Account": account} if account else {})
        assert reply.code == ("" if account else "ValidationError")
    assert (await ask(world, anna, "GetAccessKeyInfo", AccessKeyId="short")).code == "ValidationError"


async def test_a_message_to_be_decoded_is_refused_with_a_reason(world: World, anna: Who) -> None:
    reply = await ask(world, anna, "DecodeAuthorizationMessage", EncodedMessage="abc")
    assert (reply.code, reply.status) == ("InvalidAuthorizationMessageException", 400)


async def test_who_i_am_whoever_i_am(world: World, anna: Who) -> None:
    stranger = Who(STRANGER, "stranger's secret")
    assert await caller(world, stranger) == f"arn:aws:iam::{OTHER_ACCOUNT}:root"
    assert await caller(world, ROOT) == ROOT_ARN
    assert await caller(world, anna) == ANNA.arn
    await save(world, User(account=OTHER_ACCOUNT, name="anna", id="AIDAOTHER"))
    other = await give_key(world, OTHER_ACCOUNT, "anna", "AKIA0000000000000009")
    assert await got(world, other, "GetCallerIdentity") == {
        "UserId": "AIDAOTHER", "Account": OTHER_ACCOUNT, "Arn": f"arn:aws:iam::{OTHER_ACCOUNT}:user/anna",
    }  # fmt: skip


@pytest.mark.parametrize(("action", "given"), [("GetSessionToken", {}), ("GetFederationToken", {"Name": "guest"})])
async def test_nobody_makes_himself_a_key_that_outlives_the_session(
    world: World, anna: Who, action: str, given: dict[str, str]
) -> None:
    everything = json.dumps({"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})
    await save(world, replace(ANNA, inline={"everything": everything}))
    given = given | ({"Policy": everything} if given else {})
    for who in (anna, ROOT):
        made = temporary((await got(world, who, action, **given))["Credentials"])
        for asked in ({"action": "CreateAccessKey", "UserName": "anna"}, {"action": "ListUsers"}):
            reply = await ask(world, made, service="iam", **asked)
            assert (reply.code, reply.status) == ("InvalidClientTokenId", 403)
        assert (await ask(world, who, "ListUsers", "iam")).status == 200
