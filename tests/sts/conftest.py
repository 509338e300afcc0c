"""An account with a user who has a key, and a role."""

import json
from collections.abc import AsyncIterator

import pytest

from penstock.core.directory import Role, User
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, World

from .world import Who, give_key, save

ASKING = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["sts:GetFederationToken", "sts:GetAccessKeyInfo", "sts:DecodeAuthorizationMessage"],
                "Resource": "*",
            }
        ],
    }
)
ANNA = User(account=ACCOUNT, name="anna", id="AIDAANNA", path="/staff/", inline={"asking": ASKING})
READER = Role(account=ACCOUNT, name="reader", id="AROAREADER", trust="{}")


@pytest.fixture
async def world() -> AsyncIterator[World]:
    store = MemoryStore()
    await store.open()
    world = World(store)
    await save(world, ANNA, READER)
    yield world
    await store.close()


@pytest.fixture
async def anna(world: World) -> Who:
    return await give_key(world, ACCOUNT, "anna")
