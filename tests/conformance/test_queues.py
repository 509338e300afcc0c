"""Queues as records: made, found, listed, altered; and the few things a store keeps for the server itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.core.store import Store, StoreError

from .world import ACCOUNT, REGION, World, depth_of, key, redrive_policy


async def names(queues) -> list[str]:
    return [queue.key.name for queue in await queues]


async def test_a_new_queue_is_as_it_was_asked_for(world: World) -> None:
    queue = await world.store.create_queue(key("orders"), {"DelaySeconds": "5"}, {"team": "blue"}, world.now)
    assert (queue.key, queue.attributes, queue.tags) == (key("orders"), {"DelaySeconds": "5"}, {"team": "blue"})
    assert (queue.created, queue.modified) == (world.now, world.now)
    assert await world.store.find_queue(key("orders")) == queue


async def test_making_a_queue_that_exists_returns_it_unchanged(world: World) -> None:
    first = await world.store.create_queue(key("orders"), {"DelaySeconds": "5"}, {"team": "blue"}, world.now)
    world.advance(10)
    second = await world.store.create_queue(key("orders"), {"DelaySeconds": "9"}, {"team": "red"}, world.now)
    assert second == first == await world.store.find_queue(key("orders"))


async def test_a_queue_that_was_never_made_is_not_found(world: World) -> None:
    assert await world.store.find_queue(key("orders")) is None


async def test_names_are_case_sensitive(world: World) -> None:
    await world.queue("Orders")
    assert await world.store.find_queue(key("orders")) is None


async def test_the_same_name_in_another_account_or_region_is_another_queue(world: World) -> None:
    keys = [key("orders"), key("orders", account="000000000002"), key("orders", region="us-east-1")]
    queues = [await world.store.create_queue(k, {}, {}, world.now) for k in keys]
    assert len({queue.id for queue in queues}) == 3
    assert [(await world.store.find_queue(k)).id for k in keys] == [queue.id for queue in queues]
    assert {queue.id for queue in await world.store.all_queues()} == {queue.id for queue in queues}


async def test_the_queues_of_an_account_are_counted_in_all_regions(world: World) -> None:
    keys = [key("a"), key("b"), key("a", region="us-east-1"), key("a", account="000000000002")]
    queues = [await world.store.create_queue(k, {}, {}, world.now) for k in (*keys, keys[0])]
    assert [await world.store.count_queues(account) for account in (ACCOUNT, "000000000002", "9")] == [3, 1, 0]
    await world.store.delete_queue(queues[1].id, world.now)
    assert await world.store.count_queues(ACCOUNT) == 2


async def test_queues_are_listed_by_name_within_one_account_and_region(world: World) -> None:
    for name in ("b", "a", "c"):
        await world.queue(name)
    await world.store.create_queue(key("d", account="000000000002"), {}, {}, world.now)
    await world.store.create_queue(key("e", region="us-east-1"), {}, {}, world.now)
    assert await names(world.store.list_queues(REGION, ACCOUNT)) == ["a", "b", "c"]
    assert await names(world.store.list_queues(REGION, "000000000002")) == ["d"]
    assert await names(world.store.list_queues("us-east-1", ACCOUNT)) == ["e"]
    assert await names(world.store.list_queues("us-east-1", "000000000002")) == []


async def test_queues_are_listed_by_prefix_which_is_taken_literally(world: World) -> None:
    for name in ("order_s", "orders", "order-s", "Orders", "order"):
        await world.queue(name)
    assert await names(world.store.list_queues(REGION, ACCOUNT, prefix="order")) == [
        "order",
        "order-s",
        "order_s",
        "orders",
    ]
    assert await names(world.store.list_queues(REGION, ACCOUNT, prefix="order_")) == ["order_s"]
    assert await names(world.store.list_queues(REGION, ACCOUNT, prefix="%")) == []


async def test_a_list_can_be_read_in_pages(world: World) -> None:
    for number in range(7):
        await world.queue(f"q{number}")
    await world.queue("p")
    seen, after = [], ""
    while page := await names(world.store.list_queues(REGION, ACCOUNT, prefix="q", after=after, limit=3)):
        assert len(page) <= 3
        seen += page
        after = page[-1]
    assert seen == [f"q{number}" for number in range(7)]


async def test_the_sources_of_a_dead_letter_queue_are_those_that_name_it(world: World) -> None:
    dead, other = await world.queue("dead"), await world.queue("other")
    for name in ("b", "a", "c"):
        await world.queue(name, RedrivePolicy=redrive_policy("dead", 3))
    await world.queue("d", RedrivePolicy=redrive_policy("other", 3))
    assert await names(world.store.list_sources(dead.queue)) == ["a", "b", "c"]
    assert await names(world.store.list_sources(dead.queue, after="a", limit=1)) == ["b"]
    assert await names(world.store.list_sources(other.queue)) == ["d"]


async def test_sources_follow_policies_as_they_change(world: World) -> None:
    dead = await world.queue("dead")
    queue, deleted = await world.queue("orders"), await world.queue("deleted", RedrivePolicy=redrive_policy("dead", 1))
    assert await names(world.store.list_sources(dead.queue)) == ["deleted"]
    await deleted.remove()
    await queue.alter(RedrivePolicy=redrive_policy("dead", 1))
    assert await names(world.store.list_sources(dead.queue)) == ["orders"]
    await queue.alter(RedrivePolicy="")
    assert await names(world.store.list_sources(dead.queue)) == []


async def test_altering_replaces_attributes_and_tags(world: World) -> None:
    queue = await world.store.create_queue(key("orders"), {"DelaySeconds": "5"}, {"team": "blue"}, world.now)
    created = world.now
    world.advance(10)
    altered = await world.store.alter_queue(queue.id, {"VisibilityTimeout": "7"}, {"cost": "low"}, world.now)
    assert (altered.id, altered.key, altered.created, altered.modified) == (queue.id, queue.key, created, world.now)
    assert (altered.attributes, altered.tags) == ({"VisibilityTimeout": "7"}, {"cost": "low"})
    assert await world.store.find_queue(key("orders")) == altered


async def test_new_tags_alone_are_no_modification(world: World) -> None:
    queue = await world.store.create_queue(key("orders"), {"DelaySeconds": "5"}, {}, world.now)
    world.advance(10)
    altered = await world.store.alter_queue(queue.id, {"DelaySeconds": "5"}, {"team": "blue"}, world.now)
    assert altered.modified == queue.modified
    assert altered.tags == {"team": "blue"}


async def test_a_record_handed_out_does_not_change_behind_its_readers_back(world: World) -> None:
    attributes = {"DelaySeconds": "5"}
    queue = await world.store.create_queue(key("orders"), attributes, {}, world.now)
    attributes["DelaySeconds"] = "6"
    await world.store.alter_queue(queue.id, {"DelaySeconds": "9"}, {}, world.now)
    assert queue.delay_seconds == 5


async def test_queues_survive_a_restart(world: World, reopen) -> None:
    before = await world.store.create_queue(key("orders"), {"DelaySeconds": "5"}, {"team": "blue"}, world.now)
    world.advance(1)
    before = await world.store.alter_queue(before.id, {"DelaySeconds": "6"}, {"team": "red"}, world.now)
    await reopen()
    assert await world.store.find_queue(key("orders")) == before
    assert list(await world.store.all_queues()) == [before]


# What a store keeps for the server


async def test_the_first_value_kept_under_a_name_stays(world: World) -> None:
    assert await world.store.keep("secret", b"first") == b"first"
    assert await world.store.keep("secret", b"second") == b"first"
    assert await world.store.keep("other", b"") == b""


async def test_what_is_kept_survives_a_restart(world: World, reopen) -> None:
    await world.store.keep("secret", b"\x00\xff")
    await reopen()
    assert await world.store.keep("secret", b"second") == b"\x00\xff"


async def test_a_store_may_be_closed_twice(world: World) -> None:
    await world.store.close()
    await world.store.close()


async def test_a_backup_is_a_store_of_its_own(
    world: World, open_store: Callable[[Path], Store], folder: Path, tmp_path: Path
) -> None:
    queue = await world.queue("orders")
    await queue.send("a", "b")
    await queue.receive(1, visibility=60)
    copy = tmp_path / "penstock.db"
    if not world.store.capabilities.backup:
        with pytest.raises(StoreError):
            await world.store.backup(copy)
        return
    await world.store.backup(copy)
    await queue.purge()
    restored = World(open_store(tmp_path), world.clock)
    await restored.store.open()
    try:
        assert await depth_of(restored.store, queue.id, world.now) == (1, 1, 0, 2, world.now)
    finally:
        await restored.store.close()
