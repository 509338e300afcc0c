"""A data key serves for a time, and is kept exactly as long as a message may need it."""

from pathlib import Path

import apsw
import pytest

from conformance.world import Line, World, key
from faults.power import Disk, installed
from penstock.core.clock import ManualClock
from penstock.core.errors import Unavailable
from penstock.stores.sqlite import SqliteStore

from .conftest import NEW, OLD, Open, keyring, store_of


def keys(world: World) -> list[int]:
    return [number for (number,) in store_of(world).database.execute("SELECT number FROM data_key ORDER BY number")]


async def test_one_data_key_is_used_until_its_time_is_over(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q", KmsMasterKeyId="alias/orders", KmsDataKeyReusePeriodSeconds="60")
    await line.send("first")
    world.advance(59)
    await line.send("second")
    assert len(keys(world)) == 1
    world.advance(1)
    await line.send("third")
    assert len(keys(world)) == 2
    assert await line.bodies() == ["first", "second", "third"]


async def test_a_queue_that_names_no_period_changes_its_data_key_by_the_default(opened: Open) -> None:
    world = await opened(keyring())
    managed, named = await world.queue("managed"), await world.queue("named", KmsMasterKeyId="alias/orders")
    for seconds in (0, 300, 86_400):
        world.advance(seconds)
        await managed.send("m")
        await named.send("m")
    per_queue = store_of(world).database.execute("SELECT count(*) FROM data_key GROUP BY queue ORDER BY queue")
    assert [number for (number,) in per_queue] == [2, 3]


async def test_a_data_key_is_used_up(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("first")
    store_of(world)._keys._in_use[line.id].left = 1
    await line.send("the last")
    await line.send("of another key")
    assert len(keys(world)) == 2
    assert await line.bodies() == ["first", "the last", "of another key"]


async def test_a_data_key_goes_when_no_message_can_need_it(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q", KmsMasterKeyId="alias/orders")
    for body, seconds in (("first", 301), ("second", 1), ("also of the second key", 301)):
        await line.send(body)
        world.advance(seconds)
    for message in await line.receive(2):
        assert keys(world) == [1, 2]
        await line.delete(message)
    await line.send("of the third key")
    assert keys(world) == [2, 3]
    assert await line.bodies() == ["also of the second key", "of the third key"]


async def test_every_start_has_data_keys_of_its_own_and_old_ones_go_in_time(opened: Open) -> None:
    for number in range(4):
        world = await opened(keyring())
        line = Line(world, await world.store.create_queue(key("q"), {}, {}, world.now))
        await line.send(f"of start {number}")
        world.advance(1)
    assert keys(world) == [1, 2, 3, 4]
    for message in await line.receive():
        await line.delete(message)
    world = await opened(keyring())
    line = Line(world, line.queue)
    await line.send("the only one")
    assert keys(world) == [5]
    assert await line.bodies() == ["the only one"]


async def test_a_clock_that_was_put_back_costs_no_message(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q", MessageRetentionPeriod="1209600")
    now = world.now
    await line.world.store.send(line.id, [], now)
    world.advance(36_000)
    await line.send("of the future")
    world = await opened(keyring())
    world.clock = ManualClock(now)
    line = Line(world, line.queue)
    await line.send("now")
    world = await opened(keyring())
    world.clock = ManualClock(now + 1)
    line = Line(world, line.queue)
    await line.send("and now")
    assert sorted(message.body for message in await line.peek()) == ["and now", "now", "of the future"]


async def test_a_data_key_that_was_rolled_back_is_never_used(folder: Path) -> None:
    def full() -> None:
        raise apsw.FullError("the disk is full, says the test")

    with installed(Disk()) as disk:
        store = SqliteStore(folder / "penstock.db")
        await store.open()
        store.attach_keys(keyring())
        world = World(store, ManualClock())
        line = await world.queue("q")
        disk.before_change = full
        with pytest.raises(Unavailable):
            await line.send("never stored")
        disk.before_change = lambda: None
        world.advance(5)
        await world.sweep()
        world.advance(5)
        await world.sweep()
        await line.send("stored")
        await store.close()
        again = SqliteStore(folder / "penstock.db")
        await again.open()
        again.attach_keys(keyring())
        assert await Line(World(again, world.clock), line.queue).bodies() == ["stored"]
        await again.close()


async def test_data_keys_that_are_sealed_anew_open_without_the_old_key_and_leave_nothing_behind(
    opened: Open, folder: Path
) -> None:
    world = await opened(keyring(OLD))
    line = await world.queue("q")
    await line.send("precious")
    await (await world.queue("off", KmsMasterKeyId="alias/orders")).send("of a key that is off now")
    sealed = [row[0] for row in store_of(world).database.execute("SELECT sealed FROM data_key")]
    world = await opened(keyring(NEW, OLD, disabled=("alias/orders",)))
    assert await world.store.reseal() == 2
    await world.store.close()
    content = (folder / "penstock.db").read_bytes()
    assert not [text for text in sealed if text in content]
    world = await opened(keyring(NEW))
    assert await Line(world, line.queue).bodies() == ["precious"]


async def test_a_message_is_read_with_the_key_in_use_that_encrypted_it(opened: Open) -> None:
    """It is not read from the disk and opened a second time."""
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("m")
    store_of(world).database.execute("DELETE FROM data_key")
    assert await line.bodies() == ["m"]


async def test_a_key_in_use_goes_with_its_queue(opened: Open) -> None:
    world = await opened(keyring())
    line, other = await world.queue("q"), await world.queue("other")
    await line.send("m")
    await other.send("m")
    await world.store.delete_queue(line.id, world.now)
    kept = store_of(world)._keys
    assert list(kept._in_use) == [other.id]
    assert list(kept._ciphers) == [kept._in_use[other.id].number]
