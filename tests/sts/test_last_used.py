"""When a key was last used: noted on every request, written once a minute."""

import pytest

from penstock.core.directory import AccessKey
from penstock.core.errors import Unavailable
from penstock.loops.last_used import EVERY_MS, UseWriter
from sqs.harness import ACCOUNT, OTHER_REGION, World

from .world import ROOT, Who, ask, caller, give_key, save


def key_of(world: World, who: Who) -> AccessKey:
    return world.identities.directory.keys[who.key]


@pytest.fixture
def writer(world: World) -> UseWriter:
    return UseWriter(world.gateway._access.used, world.identities)


async def test_it_is_written_by_the_loop_and_not_by_the_request(world: World, anna: Who, writer: UseWriter) -> None:
    before = world.identities.version
    for _ in range(3):
        await ask(world, anna, "ListQueues", "sqs", OTHER_REGION)
        world.advance(1)
    assert (key_of(world, anna).used, world.identities.version) == (None, before)
    assert await writer.run_once(world.clock.now()) == world.clock.now() + EVERY_MS
    key = key_of(world, anna)
    assert (key.used, key.used_region, key.used_service) == (world.clock.now() - 1000, OTHER_REGION, "sqs")
    assert world.identities.version == before + 1


async def test_what_was_not_used_since_is_not_written_again(world: World, anna: Who, writer: UseWriter) -> None:
    await caller(world, anna)
    await writer.run_once(0)
    before = world.identities.version
    await writer.run_once(EVERY_MS)
    assert world.identities.version == before


async def test_a_failed_signature_is_no_use_of_the_key(world: World, anna: Who, writer: UseWriter) -> None:
    await ask(world, anna._replace(secret="a guess"), "GetCallerIdentity")
    await writer.run_once(0)
    assert key_of(world, anna).used is None


async def test_keys_of_the_settings_and_keys_deleted_meanwhile_are_left_out(
    world: World, anna: Who, writer: UseWriter
) -> None:
    await caller(world, ROOT)
    before = world.identities.version
    await writer.run_once(0)
    assert world.identities.version == before
    other = await give_key(world, ACCOUNT, "anna", "AKIA0000000000000002")
    await caller(world, anna)
    await caller(world, other)
    await save(world, removed=(key_of(world, anna),))
    await writer.run_once(0)
    assert anna.key not in world.identities.directory.keys
    assert key_of(world, other).used is not None


async def test_a_key_that_is_used_while_it_is_written_keeps_its_secret_and_status(
    world: World, anna: Who, writer: UseWriter
) -> None:
    await caller(world, anna)
    await writer.run_once(0)
    assert await caller(world, anna)


async def test_what_a_store_cannot_take_now_is_written_later(
    world: World, anna: Who, writer: UseWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await caller(world, anna)

    async def full(*_: object) -> int:
        raise Unavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(world.store, "change_records", full)
        with pytest.raises(Unavailable):
            await writer.run_once(0)
    await writer.run_once(0)
    assert key_of(world, anna).used == world.clock.now()
