"""What was allowed is remembered for as long as everything that the policies asked for is the same: the time, too.
What is long is not remembered at all: there is much of it, and callers write it."""

import json

import pytest

from penstock.api.resources import remembered_key
from penstock.core.directory import AccessKey, User
from penstock.core.queue import QueueKey
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, REGION, Client, World, done

ANN = "AKIAANNANNANNANNANNA"


async def ann_who_may(world: World, condition: dict[str, dict[str, str]]) -> Client:
    """Everything, on that condition."""
    statement = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*", "Condition": condition}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    async with world.identities.changing():
        await world.identities.save(
            User(account=ACCOUNT, name="ann", id="AIDAANN", inline={"p": policy}),
            AccessKey(account=ACCOUNT, name=ANN, user="ann", secret=world.identities.sealed(ANN, "secret")),
        )
    return world.client("json", ANN, secret="secret")


@pytest.mark.parametrize(
    ("operator", "key"),
    [("DateLessThan", "aws:CurrentTime"), ("DateLessThan", "aws:EpochTime"), ("NumericLessThan", "aws:EpochTime")],
)
async def test_what_was_allowed_until_a_time_is_not_after_it(operator: str, key: str) -> None:
    world = World(MemoryStore(), root_account=ACCOUNT)
    await world.store.create_queue(QueueKey(REGION, ACCOUNT, "orders"), {}, {}, 1)
    ann = await ann_who_may(world, {operator: {key: str(world.clock.now() // 1000 + 10)}})
    asked = {"QueueUrl": f"http://localhost/{ACCOUNT}/orders"}
    for _ in range(20):
        done(await ann.call("ReceiveMessage", **asked))
        world.advance(0.5)
    assert world.identities.allowed, "it is remembered"
    for _ in range(2):
        assert (await ann.call("ReceiveMessage", **asked)).error_code == "AccessDenied"


async def test_an_answer_that_depends_on_long_values_is_not_remembered() -> None:
    world = World(MemoryStore(), root_account=ACCOUNT)
    await world.store.create_queue(QueueKey(REGION, ACCOUNT, "orders"), {}, {}, 1)
    ann = await ann_who_may(world, {"ForAllValues:StringLike": {"aws:TagKeys": "*"}})
    asked = {"QueueUrl": f"http://localhost/{ACCOUNT}/orders"}
    done(await ann.call("TagQueue", **asked, Tags={f"{number}{'x' * 100}": "" for number in range(10)}))
    assert not world.identities.allowed
    done(await ann.call("TagQueue", **asked, Tags={"short": ""}))
    assert world.identities.allowed


async def test_a_url_as_long_as_a_request_is_not_remembered() -> None:
    world = World(MemoryStore(), root_account=ACCOUNT)
    anyone, looked_up = world.client("json"), remembered_key.cache_info
    before = looked_up().misses
    long = await anyone.call("GetQueueAttributes", QueueUrl=f"http://localhost/{ACCOUNT}/{'x' * 100_000}")
    assert (long.status, looked_up().misses) == (400, before)
    short = await anyone.call("GetQueueAttributes", QueueUrl=f"http://localhost/{ACCOUNT}/remembered-because-short")
    assert (short.status, looked_up().misses) == (400, before + 1)
