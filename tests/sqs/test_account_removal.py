"""DeleteAccount: what it refuses, what it tells, and that nothing of the account is left."""

import asyncio
from typing import Any

import pytest

from penstock.core.directory import AccessKey, Group, User

from .clients import Client
from .harness import ACCOUNT, OTHER_ACCOUNT, REGION, World, done, make, soon
from .operators import Operator

SHOP = "777788889999"
QUEUES = 230
SENT = {"NumberOfMessagesSent": {"SampleCount": 1, "Sum": 1, "Minimum": 1, "Maximum": 1}}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"root_account": ACCOUNT, "declared_accounts": {OTHER_ACCOUNT: "bank"}}


@pytest.fixture
def operator(world: World) -> Operator:
    return Operator(world.client("json"))


@pytest.fixture
async def shop(world: World, operator: Operator) -> Client:
    """The root of an account that has two queues with three messages, and a user with a key."""
    _, shop = await operator.account(world, AccountId=SHOP)
    orders, jobs = await make(shop, "orders"), await make(shop, "jobs.fifo")
    await orders.send("four")
    await orders.send("late", DelaySeconds=60)
    await jobs.send("job")
    async with world.identities.changing():
        await world.identities.save(
            User(account=SHOP, name="anna", id="AIDA", groups=("senders",)),
            Group(account=SHOP, name="senders", id="AGPA"),
            AccessKey(account=SHOP, name="AKIAANNA", user="anna", secret=world.identities.sealed("AKIAANNA", "s" * 20)),
        )
    return shop


HELD = {"Queues": 2, "Messages": 3, "Bytes": 11, "Users": 1, "Groups": 1, "Roles": 0, "Policies": 0, "Keys": 2}


async def test_an_account_with_anything_in_it_is_not_deleted(world: World, operator: Operator, shop: Client) -> None:
    before = await world.store.records_version()
    said = await operator.refused("DeleteConflict", "DeleteAccount", AccountId=SHOP)
    assert "2 queues, 1 users, 1 groups, 1 keys of users" in said
    assert await world.store.records_version() == before
    assert len(await operator.queues(Account=SHOP)) == 2


async def test_a_dry_run_tells_what_would_go_and_nothing_goes(operator: Operator, shop: Client) -> None:
    for force in (True, False):
        told = await operator.do("DeleteAccount", AccountId=SHOP, Force=force, DryRun=True)
        assert (told["Deleted"], told["Contents"]) == (False, HELD)
    assert len(await operator.queues(Account=SHOP)) == 2
    assert (await shop.call("ListQueues")).status == 200


async def test_by_force_all_of_it_goes_and_nothing_else(world: World, operator: Operator, shop: Client) -> None:
    mine = await make(operator.client, "orders")
    told = await operator.do("DeleteAccount", AccountId=SHOP, Force=True)
    assert (told["Deleted"], told["Contents"], told["Account"]["AccountId"]) == (True, HELD, SHOP)
    assert SHOP not in await operator.accounts()
    assert await operator.queues() == [mine.arn]
    assert (await shop.call("ListQueues")).error_code == "InvalidClientTokenId"
    anna = world.client("json", "AKIAANNA", secret="s" * 20)
    assert (await anna.call("ListQueues")).error_code == "InvalidClientTokenId"
    assert (await world.store.records())[1] == []
    await operator.refused("NoSuchEntity", "DeleteAccount", AccountId=SHOP, Force=True)


async def test_an_empty_account_goes_without_force(world: World, operator: Operator) -> None:
    await operator.account(world, AccountId=SHOP)
    assert (await operator.do("DeleteAccount", AccountId=SHOP))["Deleted"] is True
    assert SHOP not in await operator.accounts()


async def test_an_account_made_again_has_nothing_of_the_first(world: World, operator: Operator, shop: Client) -> None:
    await operator.do("DeleteAccount", AccountId=SHOP, Force=True)
    _, again = await operator.account(world, AccountId=SHOP)
    assert done(await again.call("ListQueues")) == {}
    world.advance(61)
    assert await (await make(again, "orders")).counts() == (0, 0, 0)


async def put(operator: Operator, name: str) -> None:
    window = {"Account": SHOP, "QueueName": name, "Period": 60, "StartTime": 0, "Metrics": SENT}
    await operator.do("PutQueueMetrics", Windows=[window])


@pytest.mark.parametrize("force", [False, True])
async def test_the_metrics_of_its_queues_go_with_an_account(world: World, operator: Operator, force: bool) -> None:
    _, shop = await operator.account(world, AccountId=SHOP)
    queue = await make(shop, "orders")
    await queue.send("counted")
    if not force:
        await shop.call("DeleteQueue", QueueUrl="orders")
    await put(operator, "orders")
    await operator.do("DeleteAccount", AccountId=SHOP, Force=force, DryRun=True)
    assert await world.store.queues_with_windows(REGION, SHOP, 0) == ["orders"]
    await operator.do("DeleteAccount", AccountId=SHOP, Force=force)
    assert await world.store.queues_with_windows(REGION, SHOP, 0) == []
    assert [key for key in world.store.traffic.queues() if key.account == SHOP] == []


async def test_metrics_that_were_put_late_are_not_those_of_a_later_account(world: World, operator: Operator) -> None:
    await operator.account(world, AccountId=SHOP)
    await operator.do("DeleteAccount", AccountId=SHOP)
    await put(operator, "orders")
    await operator.account(world, AccountId=SHOP)
    assert await world.store.queues_with_windows(REGION, SHOP, 0) == []


@pytest.mark.parametrize("account", [ACCOUNT, OTHER_ACCOUNT])
async def test_what_the_settings_name_is_not_deleted(operator: Operator, account: str) -> None:
    await make(operator.client, "orders")
    unsupported = "AWS.SimpleQueueService.UnsupportedOperation"
    said = await operator.refused(unsupported, "DeleteAccount", AccountId=account, Force=True)
    assert said.startswith(f"Account {account} cannot be deleted: ")
    assert len(await operator.queues()) == 1


async def test_queues_that_an_account_left_are_deleted_by_its_id(world: World, operator: Operator) -> None:
    queue = await make(operator.client, "orders")
    (mine,) = await world.store.all_queues()
    await world.store.create_queue(mine.key._replace(account=SHOP), {}, {}, world.clock.now())
    await operator.refused("DeleteConflict", "DeleteAccount", AccountId=SHOP)
    await operator.do("DeleteAccount", AccountId=SHOP, Force=True)
    assert await operator.queues() == [queue.arn]


async def test_whoever_waits_for_messages_is_told(world: World, operator: Operator, shop: Client) -> None:
    await make(shop, "empty")
    waiting = await world.park(shop.call("ReceiveMessage", QueueUrl="empty", WaitTimeSeconds=20))
    await operator.do("DeleteAccount", AccountId=SHOP, Force=True)
    assert (await soon(waiting)).error_code == "InvalidClientTokenId"


async def test_more_queues_than_are_deleted_at_once(world: World, operator: Operator) -> None:
    _, shop = await operator.account(world, AccountId=SHOP)
    await asyncio.gather(*(shop.call("CreateQueue", QueueName=f"q{number}") for number in range(QUEUES)))
    told = await operator.do("DeleteAccount", AccountId=SHOP, Force=True)
    assert told["Contents"]["Queues"] == QUEUES
    assert await world.store.all_queues() == []
