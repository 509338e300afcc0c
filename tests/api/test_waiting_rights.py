"""A long poll is let in anew when something comes: who may no longer receive gets nothing."""

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.core.directory import AccessKey, User
from penstock.core.queue import QueueKey
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, KEYS, OTHER_ACCOUNT, REGION, ROOT, STRANGER, Client, World, done

ANN = "AKIAANNANNANNANNANNA"
POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:*","Resource":"*"}]}'
URL = f"http://localhost/{ACCOUNT}/orders"


class Parked:
    """A queue, and Ann, who waits for its messages."""

    def __init__(self) -> None:
        self.world = World(MemoryStore(), root_account=ACCOUNT)
        self.root = self.world.client("json", ROOT)
        self.ann = self.world.client("json", ANN, secret="secret")
        self.user = User(account=ACCOUNT, name="ann", id="AIDAANN", inline={"p": POLICY})
        sealed = self.world.identities.sealed(ANN, "secret")
        self.key = AccessKey(account=ACCOUNT, name=ANN, user="ann", secret=sealed)

    async def save(self, *entities: Any, **removed: Any) -> None:
        async with self.world.identities.changing():
            await self.world.identities.save(*entities, **removed)

    async def park(self, client: Client) -> "asyncio.Task[Any]":
        return await self.world.park(client.call("ReceiveMessage", QueueUrl=URL, WaitTimeSeconds=20))

    async def send(self) -> None:
        done(await self.root.call("SendMessage", QueueUrl=URL, MessageBody="hello"))


@pytest.fixture
async def parked() -> Parked:
    made = Parked()
    await made.world.store.create_queue(QueueKey(REGION, ACCOUNT, "orders"), {}, {}, 1)
    await made.save(made.user, made.key)
    return made


async def test_who_still_may_gets_what_comes(parked: Parked) -> None:
    waiting = await parked.park(parked.ann)
    await parked.save(replace(parked.user, tags={"something": "else"}))
    await parked.send()
    assert len(done(await waiting)["Messages"]) == 1


async def test_who_lost_the_right_while_waiting_gets_nothing_and_another_does(parked: Parked) -> None:
    waiting, other = await parked.park(parked.ann), await parked.park(parked.root)
    await parked.save(replace(parked.user, inline={}))
    await parked.send()
    assert (await waiting).error_code == "AccessDenied"
    assert len(done(await other)["Messages"]) == 1


@pytest.mark.parametrize("way", ["inactive", "deleted"])
async def test_who_lost_its_key_while_waiting_gets_nothing(parked: Parked, way: str) -> None:
    waiting = await parked.park(parked.ann)
    if way == "deleted":
        await parked.save(removed=[parked.key])
    else:
        await parked.save(replace(parked.key, active=False))
    await parked.send()
    assert (await waiting).error_code == "InvalidClientTokenId"


async def test_a_queue_that_is_no_longer_shared_gives_nothing_to_who_waits(parked: Parked) -> None:
    shared = {"Effect": "Allow", "Principal": {"AWS": OTHER_ACCOUNT}, "Action": "sqs:ReceiveMessage", "Resource": "*"}
    policies = (json.dumps({"Statement": [shared]}), "")
    stranger = parked.world.client("json", STRANGER)
    assert KEYS[STRANGER].principal.account == OTHER_ACCOUNT
    waiting = None
    for policy in policies:
        done(await parked.root.call("SetQueueAttributes", QueueUrl=URL, Attributes={"Policy": policy}))
        waiting = waiting or await parked.park(stranger)
    await parked.send()
    assert waiting is not None
    assert (await waiting).error_code == "AccessDenied"
