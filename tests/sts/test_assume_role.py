"""AssumeRole: whom a role trusts, for how long, with which tags, and what a refusal does not tell."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.core.directory import ManagedPolicy, User, Version
from penstock.core.identity import Kind
from penstock.core.session import Ticket
from sqs.harness import ACCOUNT, OTHER_ACCOUNT, World

from .conftest import ANNA, READER
from .world import ROOT, Reply, Who, ask, caller, give_key, got, save, temporary

ROLE_ARN = READER.arn
SESSION_ARN = f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/nightly"
MAY_ASSUME = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"}]}
)


def statement(principal: str, effect: str = "Allow", action: Any = "sts:AssumeRole", **more: Any) -> dict[str, Any]:
    return {"Effect": effect, "Principal": {"AWS": principal}, "Action": action, **more}


def trust(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


async def trusted(world: World, *statements: dict[str, Any], **changes: Any) -> None:
    await save(world, replace(READER, trust=trust(*statements), **changes))


async def assume(world: World, who: Who, **params: Any) -> Reply:
    return await ask(world, who, "AssumeRole", **{"RoleArn": ROLE_ARN, "RoleSessionName": "nightly"} | params)


async def assumed(world: World, who: Who, **params: Any) -> Who:
    reply = await assume(world, who, **params)
    assert reply.status == 200, f"{reply.code}: {reply.message}"
    return temporary(reply.result["Credentials"])


def refusal(who: str, action: str = "sts:AssumeRole", arn: str = ROLE_ARN) -> Reply:
    text = f"User: {who} is not authorized to perform: {action} on resource: {arn}"
    return Reply(403, {}, "AccessDenied", text)


async def test_whom_the_role_trusts_gets_credentials_of_the_role(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    reply = await assume(world, anna)
    assert reply.result["AssumedRoleUser"] == {"AssumedRoleId": "AROAREADER:nightly", "Arn": SESSION_ARN}
    assert reply.result["Credentials"]["Expiration"] == "2023-11-14T23:13:20Z", "an hour from now"
    assert "PackedPolicySize" not in reply.result
    who = temporary(reply.result["Credentials"])
    assert await got(world, who, "GetCallerIdentity") == {
        "UserId": "AROAREADER:nightly", "Account": ACCOUNT, "Arn": SESSION_ARN,
    }  # fmt: skip


ROOT_ARN = f"arn:aws:iam::{ACCOUNT}:root"


@pytest.mark.parametrize(
    ("statements", "identity", "allowed"),
    [
        ([statement(ANNA.arn)], None, True),
        ([statement(ROOT_ARN)], None, False),
        ([statement(ROOT_ARN)], MAY_ASSUME, True),
        ([statement(ACCOUNT)], MAY_ASSUME, True),
        ([statement(f"arn:aws:iam::{OTHER_ACCOUNT}:root")], MAY_ASSUME, False),
        ([statement(ANNA.arn), statement(ANNA.arn, "Deny")], MAY_ASSUME, False),
        ([statement(ANNA.arn)], MAY_ASSUME.replace("Allow", "Deny"), False),
    ],
)
async def test_within_an_account_being_named_is_enough_and_the_account_leaves_it_to_policies(
    world: World, anna: Who, statements: list[dict[str, Any]], identity: str | None, allowed: bool
) -> None:
    await save(world, replace(ANNA, inline={"p": identity} if identity else {}))
    await trusted(world, *statements)
    reply = await assume(world, anna)
    assert reply.status == 200 if allowed else reply == refusal(ANNA.arn)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("identity", [True, False])
async def test_from_another_account_both_must_allow_it(world: World, named: bool, identity: bool) -> None:
    bob = User(account=OTHER_ACCOUNT, name="bob", id="AIDABOB", inline={"p": MAY_ASSUME} if identity else {})
    await save(world, bob)
    who = await give_key(world, OTHER_ACCOUNT, "bob")
    await trusted(world, statement(bob.arn if named else ANNA.arn))
    reply = await assume(world, who)
    if named and identity:
        assert await caller(world, temporary(reply.result["Credentials"])) == SESSION_ARN
    else:
        assert reply == refusal(bob.arn)


async def test_a_role_that_is_not_there_is_refused_as_one_that_trusts_nobody(world: World, anna: Who) -> None:
    await trusted(world, statement(f"arn:aws:iam::{OTHER_ACCOUNT}:root"))
    await save(world, replace(ANNA, inline={"p": MAY_ASSUME}))
    for arn in (
        ROLE_ARN,
        f"arn:aws:iam::{ACCOUNT}:role/missing",
        f"arn:aws:iam::{ACCOUNT}:role/path/reader",
        f"arn:aws:iam::{ACCOUNT}:role/READER",
        "arn:aws:iam::999999999999:role/reader",
    ):
        assert await assume(world, anna, RoleArn=arn) == refusal(ANNA.arn, arn=arn)


async def test_a_trust_policy_that_cannot_be_read_trusts_nobody(world: World, anna: Who) -> None:
    await save(world, replace(ANNA, inline={"p": MAY_ASSUME}))
    assert await assume(world, anna) == refusal(ANNA.arn)


async def test_an_account_itself_cannot_assume_roles(world: World) -> None:
    await trusted(world, statement("*"))
    reply = await assume(world, ROOT)
    assert (reply.code, reply.status, reply.message) == (
        "AccessDenied", 403, "Roles may not be assumed by root accounts.",
    )  # fmt: skip


async def test_a_federated_user_cannot_assume_roles(world: World) -> None:
    await trusted(world, statement("*"))
    now = world.clock.now()
    bob = Ticket(ACCOUNT, Kind.FEDERATED, "anna", "AIDAANNA", now, now + 900_000, "bob", (MAY_ASSUME,))
    who = temporary(world.identities.issue(bob))
    assert await assume(world, who) == refusal(f"arn:aws:sts::{ACCOUNT}:federated-user/bob")


async def test_an_external_id_can_be_asked_for(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn, Condition={"StringEquals": {"sts:ExternalId": "shop/7"}}))
    assert await assume(world, anna) == refusal(ANNA.arn)
    assert await assume(world, anna, ExternalId="shop/8") == refusal(ANNA.arn)
    assert (await assume(world, anna, ExternalId="shop/7")).status == 200


async def test_the_name_of_the_session_can_be_asked_for(world: World, anna: Who) -> None:
    condition = {"StringEquals": {"sts:RoleSessionName": "${aws:username}"}}
    await trusted(world, statement(ANNA.arn, Condition=condition))
    assert await assume(world, anna) == refusal(ANNA.arn)
    assert (await assume(world, anna, RoleSessionName="anna")).status == 200


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"RoleSessionName": "x"}, "length greater than or equal to 2"),
        ({"RoleSessionName": "x" * 65}, "length less than or equal to 64"),
        ({"RoleSessionName": "a b"}, "regular expression pattern: [\\w+=,.@-]*"),
        ({"RoleSessionName": "a/b"}, "regular expression pattern: [\\w+=,.@-]*"),
        ({"RoleSessionName": "né"}, "regular expression pattern: [\\w+=,.@-]*"),
        ({"DurationSeconds": 899}, "value greater than or equal to 900"),
        ({"DurationSeconds": 43201}, "value less than or equal to 43200"),
        ({"DurationSeconds": 3601}, "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."),
        ({"ExternalId": "x"}, "length greater than or equal to 2"),
        ({"ExternalId": "a b"}, "regular expression pattern"),
        ({"SourceIdentity": "a:b"}, "regular expression pattern"),
        ({"RoleArn": "arn:aws:iam::1:role/reader"}, "arn:aws:iam::1:role/reader is invalid"),
        ({"RoleArn": f"arn:aws:iam::{ACCOUNT}:user/reader"}, f"arn:aws:iam::{ACCOUNT}:user/reader is invalid"),
        ({"RoleArn": "short"}, "length greater than or equal to 20"),
        ({"Tags.member.1.Key": "k" * 129, "Tags.member.1.Value": ""}, "length less than or equal to 128"),
        ({"Tags.member.1.Key": "k", "Tags.member.1.Value": "v" * 257}, "length less than or equal to 256"),
    ],
)
async def test_what_is_not_as_it_should_be_is_a_validation_error(
    world: World, anna: Who, params: dict[str, Any], message: str
) -> None:
    await trusted(world, statement(ANNA.arn, action=["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"]))
    reply = await assume(world, anna, **params)
    assert (reply.code, reply.status) == ("ValidationError", 400)
    assert message in reply.message


async def test_a_role_says_how_long_its_sessions_may_be(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn), most_session_seconds=7200)
    who = await assumed(world, anna, DurationSeconds=7200)
    world.advance(7199)
    assert await caller(world, who) == SESSION_ARN
    world.advance(1)
    assert (await ask(world, who, "GetCallerIdentity")).code == "ExpiredToken"


async def test_a_role_that_assumes_a_role_has_an_hour(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn), statement(ROLE_ARN), most_session_seconds=7200)
    who = await assumed(world, anna)
    reply = await assume(world, who, DurationSeconds=3601)
    assert (reply.code, reply.message) == (
        "ValidationError",
        "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
    )
    chained = await assumed(world, who, RoleSessionName="second")
    assert await caller(world, chained) == f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/second"


def tags(**given: str) -> dict[str, str]:
    params = {}
    for number, (key, value) in enumerate(given.items(), 1):
        params |= {f"Tags.member.{number}.Key": key, f"Tags.member.{number}.Value": value}
    return params


def principal(world: World, who: Who) -> Any:
    return world.identities.temporary(who.key, who.token or "").principal


async def test_tags_need_a_right_of_their_own(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    assert await assume(world, anna, **tags(team="a")) == refusal(ANNA.arn, "sts:TagSession")
    await trusted(
        world, statement(ANNA.arn, action=["sts:AssumeRole", "sts:TagSession"]), tags={"team": "x", "cost": "1"}
    )
    reply = await assume(world, anna, **tags(team="a"))
    assert int(reply.result["PackedPolicySize"]) in range(1, 5)
    who = principal(world, temporary(reply.result["Credentials"]))
    assert who.tags == {"team": "a", "cost": "1"}


async def test_a_session_s_tag_is_in_place_of_its_role_s_in_whatever_letters(world: World, anna: Who) -> None:
    actions = ["sts:AssumeRole", "sts:TagSession"]
    for own, given in (("Team", "team"), ("team", "TEAM")):
        await trusted(world, statement(ANNA.arn, action=actions), tags={own: "red"})
        assert principal(world, await assumed(world, anna, **tags(**{given: "blue"}))).tags == {given: "blue"}


async def test_transitive_tags_go_down_the_chain_and_cannot_be_changed_there(world: World, anna: Who) -> None:
    actions = ["sts:AssumeRole", "sts:TagSession"]
    await trusted(world, statement(ANNA.arn, action=actions), statement(ROLE_ARN, action=actions))
    transitive = {"TransitiveTagKeys.member.1": "team"}
    first = await assumed(world, anna, **tags(team="a", cost="1"), **transitive)
    second = await assumed(world, first)
    assert principal(world, second).tags == {"team": "a"}
    third = await assumed(world, second, **tags(cost="2"))
    assert principal(world, third).tags == {"team": "a", "cost": "2"}
    reply = await assume(world, second, **tags(Team="b"))
    assert (reply.code, "conflicts with a transitive tag" in reply.message) == ("InvalidParameterValue", True)
    reply = await assume(world, anna, **tags(cost="1"), **transitive)
    assert reply.message == "The specified transitive tag key must be included in the requested tags."


@pytest.mark.parametrize("given", [{"team": "a", "TEAM": "b"}, {"aws:x": "y"}])
async def test_tags_that_cannot_be(world: World, anna: Who, given: dict[str, str]) -> None:
    await trusted(world, statement(ANNA.arn, action="sts:*"))
    assert (await assume(world, anna, **tags(**given))).code == "InvalidParameterValue"


async def test_a_source_identity_stays_with_whatever_is_assumed_from_there(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    assert await assume(world, anna, SourceIdentity="anna") == refusal(ANNA.arn, "sts:SetSourceIdentity")
    await trusted(world, statement(ANNA.arn, action="sts:*"), statement(ROLE_ARN, action="sts:*"))
    reply = await assume(world, anna, SourceIdentity="anna")
    assert reply.result["SourceIdentity"] == "anna"
    first = temporary(reply.result["Credentials"])
    assert (await assume(world, first)).result["SourceIdentity"] == "anna"
    assert await assume(world, first, SourceIdentity="bob") == refusal(SESSION_ARN, "sts:SetSourceIdentity")


async def test_a_session_may_be_narrowed_by_a_document_and_by_managed_policies(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    managed = ManagedPolicy(account=ACCOUNT, name="p", id="ANPA", versions={"v1": Version(MAY_ASSUME, 0)}, default="v1")
    await save(world, managed)
    reply = await assume(world, anna, Policy=MAY_ASSUME, **{"PolicyArns.member.1.arn": managed.arn})
    assert 1 <= int(reply.result["PackedPolicySize"]) < 10
    assert principal(world, temporary(reply.result["Credentials"])).session.policies == (MAY_ASSUME, MAY_ASSUME)
    alone = await assumed(world, anna, **{"PolicyArns.member.1.arn": managed.arn})
    assert principal(world, alone).session.policies == (MAY_ASSUME,)
    assert principal(world, await assumed(world, anna)).session.policies is None


async def test_session_policies_that_cannot_be_are_refused_with_the_reason(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    reply = await assume(world, anna, Policy='{"Statement":[{"Effect":"Maybe","Action":"sqs:*","Resource":"*"}]}')
    assert (reply.code, reply.status) == ("MalformedPolicyDocument", 400)
    assert "Statement[0].Effect" in reply.message
    large = MAY_ASSUME.replace('"*"', json.dumps([f"arn:aws:sqs:us-east-1:{ACCOUNT}:queue-{n}" for n in range(200)]))
    reply = await assume(world, anna, Policy=large)
    assert (reply.code, reply.status) == ("PackedPolicyTooLarge", 400)
    assert "% of allotted space" in reply.message
    reply = await assume(world, anna, **{"PolicyArns.member.1.arn": f"arn:aws:iam::{OTHER_ACCOUNT}:policy/p"})
    assert reply.code == "InvalidParameterValue"


async def test_the_largest_token_still_fits_into_the_headers_of_a_request(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn, action="sts:*"))
    given = tags(**{f"tag-{number}": "v" * 200 for number in range(19)})
    reply = await assume(world, anna, **given)
    assert 95 <= int(reply.result["PackedPolicySize"]) <= 100
    who = temporary(reply.result["Credentials"])
    assert len(who.token or "") < 6000
    assert await caller(world, who) == SESSION_ARN


async def test_nobody_has_a_device_for_one_time_codes(world: World, anna: Who) -> None:
    await trusted(world, statement(ANNA.arn))
    reply = await assume(world, anna, SerialNumber=f"arn:aws:iam::{ACCOUNT}:mfa/anna", TokenCode="123456")
    assert (reply.code, reply.status) == ("AccessDenied", 403)
