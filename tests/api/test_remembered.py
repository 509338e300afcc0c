"""What was allowed is remembered for as long as everything that the policies asked for is the same: the time, too."""

import json

import pytest

from penstock.core.directory import AccessKey, User
from penstock.core.queue import QueueKey
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, REGION, World, done

ANN = "AKIAANNANNANNANNANNA"


@pytest.mark.parametrize(
    ("operator", "key"),
    [("DateLessThan", "aws:CurrentTime"), ("DateLessThan", "aws:EpochTime"), ("NumericLessThan", "aws:EpochTime")],
)
async def test_what_was_allowed_until_a_time_is_not_after_it(operator: str, key: str) -> None:
    world = World(MemoryStore(), root_account=ACCOUNT)
    await world.store.create_queue(QueueKey(REGION, ACCOUNT, "orders"), {}, {}, 1)
    until = {operator: {key: str(world.clock.now() // 1000 + 10)}}
    statement = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*", "Condition": until}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    async with world.identities.changing():
        await world.identities.save(
            User(account=ACCOUNT, name="ann", id="AIDAANN", inline={"p": policy}),
            AccessKey(account=ACCOUNT, name=ANN, user="ann", secret=world.identities.sealed(ANN, "secret")),
        )
    ann = world.client("json", ANN, secret="secret")
    asked = {"QueueUrl": f"http://localhost/{ACCOUNT}/orders"}
    for _ in range(20):
        done(await ann.call("ReceiveMessage", **asked))
        world.advance(0.5)
    assert world.identities.allowed, "it is remembered"
    for _ in range(2):
        assert (await ann.call("ReceiveMessage", **asked)).error_code == "AccessDenied"
