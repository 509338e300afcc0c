"""Accounts: made, listed, bounded in their queues, given another root key."""

import asyncio
from typing import Any

import pytest

from penstock.core.directory import AccessKey, User
from penstock.core.limits import Limits

from .clients import Client
from .harness import ACCOUNT, OTHER_ACCOUNT, OTHER_REGION, SOON, STRANGER, World, done, make, refused
from .operators import Operator, keyed

SHOP, SPARE = "777788889999", "222233334444"
BOUNDED = {"root_account": ACCOUNT, "limits": Limits(max_queues_per_account=2)}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"root_account": ACCOUNT, "declared_accounts": {OTHER_ACCOUNT: "bank", SPARE: ""}}


@pytest.fixture
def operator(world: World) -> Operator:
    return Operator(world.client("json"))


async def lists_queues(client: Client) -> bool:
    return (await client.call("ListQueues")).status == 200


async def test_a_new_account_has_a_key_that_works_and_nothing_else(world: World, operator: Operator) -> None:
    made = await operator.do("CreateAccount", AccountId=SHOP, Title="Shop & Co.", MaxQueues=5)
    assert made["Account"] == {
        "AccountId": SHOP,
        "Title": "Shop & Co.",
        "Origin": "made",
        "CreatedTimestamp": world.clock.now(),
        "Queues": 0,
        "Users": 0,
        "Keys": 1,
        "MaxQueues": 5,
        "OwnQuota": True,
    }
    queue = await make(keyed(world, made["RootKey"]), "orders")
    assert queue.url.endswith(f"/{SHOP}/orders")
    assert (await operator.accounts())[SHOP] == made["Account"] | {"Queues": 1}


async def test_an_id_is_made_up_if_none_is_given(world: World, operator: Operator) -> None:
    ids = [(await operator.account(world))[0] for _ in range(3)]
    assert len(set(ids)) == 3
    assert all(len(one) == 12 and one.isdigit() and one[0] != "0" for one in ids)


@pytest.mark.parametrize("taken", [ACCOUNT, OTHER_ACCOUNT, SPARE, SHOP])
async def test_an_id_that_is_taken_is_refused(operator: Operator, taken: str) -> None:
    await operator.do("CreateAccount", AccountId=SHOP)
    before = await operator.accounts()
    assert taken in await operator.refused("EntityAlreadyExists", "CreateAccount", AccountId=taken)
    assert await operator.accounts() == before


async def test_nobody_is_given_what_an_earlier_account_left(world: World, operator: Operator) -> None:
    await make(world.client("json", region=OTHER_REGION), "orders")
    (queue,) = await world.store.all_queues()
    await world.store.create_queue(queue.key._replace(account=SHOP), {}, {}, world.clock.now())
    await operator.refused("EntityAlreadyExists", "CreateAccount", AccountId=SHOP)
    assert (await operator.accounts())[SHOP]["Origin"] == "left"


@pytest.mark.parametrize(
    "wrong",
    [
        {"AccountId": "12345"},
        {"AccountId": ""},
        {"AccountId": "١٢٣٤٥٦٧٨٩٠١٢"},
        {"AccountId": f"{SHOP}\n"},
        {"Title": "x" * 129},
        {"Title": "two\nlines"},
        {"MaxQueues": -1},
    ],
)
async def test_bad_values_are_refused_and_nothing_is_made(operator: Operator, wrong: dict[str, Any]) -> None:
    said = await operator.refused("InvalidParameterValue", "CreateAccount", **wrong)
    assert next(iter(wrong)) in said
    assert (await operator.accounts()).keys() == {ACCOUNT, OTHER_ACCOUNT, SPARE}


async def test_of_two_who_make_the_same_account_at_once_one_does(world: World, operator: Operator) -> None:
    replies = await asyncio.gather(*(operator.call("CreateAccount", AccountId=SHOP) for _ in range(5)))
    assert sorted(reply.status for reply in replies) == [200, 409, 409, 409, 409]


async def test_accounts_are_listed_with_where_they_come_from(world: World, operator: Operator) -> None:
    await operator.do("CreateAccount", AccountId=SHOP)
    async with world.identities.changing():
        await world.identities.save(User(account=SHOP, name="anna", id="AIDA"))
    found = await operator.accounts()
    told = {name: (one["Origin"], one.get("Title"), one["Users"], one["Keys"]) for name, one in found.items()}
    assert told == {
        ACCOUNT: ("root", None, 0, 3),
        OTHER_ACCOUNT: ("settings", "bank", 0, 1),
        SPARE: ("settings", None, 0, 0),
        SHOP: ("made", None, 1, 1),
    }
    assert list(found) == sorted(found)


async def test_accounts_are_listed_in_pages(operator: Operator) -> None:
    await operator.do("CreateAccount", AccountId=SHOP)
    pages, token = [], None
    while token or not pages:
        reply = await operator.do("ListAccounts", MaxResults=3, **{"NextToken": token} if token else {})
        pages.append([one["AccountId"] for one in reply["Accounts"]])
        token = reply.get("NextToken")
    assert pages == [[ACCOUNT, SPARE, OTHER_ACCOUNT], [SHOP]]


@pytest.mark.parametrize("wrong", [{"MaxResults": 0}, {"MaxResults": 1001}, {"NextToken": "?"}, {"NextToken": "MQ=="}])
@pytest.mark.parametrize("action", ["ListAccounts", "ListAllQueues"])
async def test_a_page_that_cannot_be_is_refused(operator: Operator, action: str, wrong: dict[str, Any]) -> None:
    assert next(iter(wrong)) in await operator.refused("InvalidParameterValue", action, **wrong)


async def test_a_quota_bounds_the_queues_of_an_account_in_all_regions(world: World, operator: Operator) -> None:
    made = await operator.do("CreateAccount", AccountId=SHOP, MaxQueues=2)
    shop, key = keyed(world, made["RootKey"]), made["RootKey"]
    abroad = world.client("json", key["AccessKeyId"], OTHER_REGION, key["SecretAccessKey"])
    await make(shop, "one")
    two = await make(abroad, "two")
    for client in (shop, abroad):
        reply = await refused(client, "LimitExceeded", None, "CreateQueue", QueueName="three")
        assert reply.message.startswith(f"The account {SHOP} has 2 queues, as many as it may have.")
    assert (await make(shop, "one")).name == "one", "a queue that is there is no new one"
    await two.do("DeleteQueue")
    await make(shop, "three")


async def test_in_the_query_protocol_too(world: World, operator: Operator) -> None:
    await operator.do("SetAccountQuota", AccountId=ACCOUNT, MaxQueues=1)
    client = world.client("query")
    await make(client, "one")
    await refused(client, "LimitExceeded", None, "CreateQueue", QueueName="two")


async def test_many_at_once_do_not_pass_the_quota(world: World, operator: Operator) -> None:
    _, shop = await operator.account(world, MaxQueues=3)
    replies = await asyncio.gather(*(shop.call("CreateQueue", QueueName=f"q{number}") for number in range(20)))
    assert sorted(reply.status for reply in replies) == [200] * 3 + [403] * 17


@pytest.mark.parametrize("settings", [BOUNDED])
async def test_the_server_s_quota_holds_for_accounts_without_their_own(world: World, operator: Operator) -> None:
    account, shop = await operator.account(world)
    await make(shop, "one")
    await make(shop, "two")
    await refused(shop, "LimitExceeded", None, "CreateQueue", QueueName="three")
    for quota in (3, 0):
        told = await operator.do("SetAccountQuota", AccountId=account, MaxQueues=quota)
        assert (told["MaxQueues"], told["OwnQuota"]) == (quota, True)
        await make(shop, f"three-{quota}")
    told = await operator.do("SetAccountQuota", AccountId=account)
    assert (told["MaxQueues"], told["OwnQuota"], told["Queues"]) == (2, False, 4)
    await refused(shop, "LimitExceeded", None, "CreateQueue", QueueName="five")


async def test_a_declared_account_may_have_a_quota_and_stays_declared(world: World, operator: Operator) -> None:
    told = await operator.do("SetAccountQuota", AccountId=OTHER_ACCOUNT, MaxQueues=1)
    assert (told["Origin"], told["Title"], told["MaxQueues"]) == ("settings", "bank", 1)
    stranger = world.client("json", STRANGER)
    await make(stranger, "one")
    await refused(stranger, "LimitExceeded", None, "CreateQueue", QueueName="two")


async def test_a_new_root_key_takes_the_place_of_the_old_one(world: World, operator: Operator) -> None:
    made = await operator.do("CreateAccount", AccountId=SHOP)
    old = made["RootKey"]
    rotated = await operator.do("RotateRootKey", AccountId=SHOP)
    assert rotated["RemovedAccessKeyIds"] == [old["AccessKeyId"]]
    assert await lists_queues(keyed(world, rotated["RootKey"]))
    reply = await keyed(world, old).call("ListQueues")
    assert reply.error_code == "InvalidClientTokenId"


async def test_the_old_root_key_may_stay_beside_one_new_one(world: World, operator: Operator) -> None:
    old = (await operator.do("CreateAccount", AccountId=SHOP))["RootKey"]
    kept = await operator.do("RotateRootKey", AccountId=SHOP, KeepOld=True)
    assert kept["RemovedAccessKeyIds"] == []
    assert await lists_queues(keyed(world, old))
    assert await lists_queues(keyed(world, kept["RootKey"]))
    await operator.refused("LimitExceeded", "RotateRootKey", AccountId=SHOP, KeepOld=True)
    last = await operator.do("RotateRootKey", AccountId=SHOP)
    assert len(last["RemovedAccessKeyIds"]) == 2
    assert not await lists_queues(keyed(world, old))


@pytest.mark.parametrize("settings", [{"root_account": SHOP}])
async def test_a_rotation_goes_to_its_end_though_its_caller_left(world: World, settings: dict[str, Any]) -> None:
    changed: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
    object.__setattr__(world.site, "root_key_changed", lambda *key: changed.set_result(key))
    async with world.identities.changing():
        await world.identities.save(AccessKey(account=SHOP, name="A", secret=world.identities.sealed("A", "s")))
    operator = Operator(world.client("json", "A", secret="s"))
    async with world.identities.changing():  # so that it has to wait, and is left while it does
        leaving = asyncio.create_task(operator.call("RotateRootKey", AccountId=SHOP))
        await asyncio.sleep(0)
        leaving.cancel()
    name, secret = await asyncio.wait_for(changed, SOON)
    assert await lists_queues(keyed(world, {"AccessKeyId": name, "SecretAccessKey": secret}))


@pytest.mark.parametrize("account", [ACCOUNT, OTHER_ACCOUNT])
async def test_keys_of_the_settings_are_not_rotated_here(operator: Operator, account: str) -> None:
    said = await operator.refused("AWS.SimpleQueueService.UnsupportedOperation", "RotateRootKey", AccountId=account)
    assert "settings" in said


@pytest.mark.parametrize("action", ["SetAccountQuota", "RotateRootKey", "DeleteAccount"])
async def test_an_account_that_is_not_there_is_told(operator: Operator, action: str) -> None:
    assert await operator.refused("NoSuchEntity", action, AccountId=SHOP) == f"There is no account {SHOP}."
    await operator.refused("InvalidParameterValue", action, AccountId="all")
    assert SHOP not in await operator.accounts()


async def test_a_secret_is_nowhere_but_in_the_reply_that_made_it(world: World, operator: Operator) -> None:
    made = await operator.do("CreateAccount", AccountId=SHOP)
    secret = made["RootKey"]["SecretAccessKey"].encode()
    _, records = await world.store.records()
    assert all(secret not in record.value for record in records)
    assert secret not in (await operator.call("ListAccounts")).body
    assert done(await operator.call("ListAccounts"))["Accounts"]
