"""Contents lie in the file encrypted, bound to their messages, and what was written otherwise is still read."""

from pathlib import Path

import pytest

from conformance.world import Line, World, key
from faults.audit import faults_of
from penstock.core.message import Attribute
from penstock.core.store import StoreError
from penstock.stores.sqlite.packing import checksum

from .conftest import NEW, OLD, Open, keyring, store_of

SECRET = "the marker that must not be found"
LARGE = SECRET * 1000


def found(folder: Path, text: str = SECRET) -> list[str]:
    return [file.name for file in folder.iterdir() if text.encode() in file.read_bytes()]


async def line_of(world: World, name: str = "q") -> Line:
    queue = await world.store.find_queue(key(name))
    assert queue
    return Line(world, queue)


async def bodies(line: Line) -> list[str]:
    return [message.body for message in await line.peek()]


@pytest.mark.parametrize("name", ["q", "q.fifo"])
@pytest.mark.parametrize("body", [SECRET, LARGE], ids=["small", "large"])
async def test_nothing_of_a_message_lies_in_clear_wherever_it_goes(
    opened: Open, folder: Path, name: str, body: str
) -> None:
    world = await opened(keyring())
    line, dead = await world.queue_with_dead_letters(name, 1)
    attributes = {SECRET: Attribute("String", SECRET), "raw": Attribute("Binary", SECRET.encode())}
    await line.send(body, attributes=attributes, trace=SECRET)
    assert found(folder) == []
    await line.receive(visibility=0)
    assert await line.receive() == []
    assert await bodies(dead) == [body]
    assert found(folder) == [], "the dead letter"
    task = await dead.start_move(line)
    await world.store.move(task, 10, world.now)
    (moved,) = await line.peek()
    assert (moved.body, moved.attributes, moved.trace) == (body, attributes, SECRET)
    assert found(folder) == [], "what was moved back"
    await world.store.close()
    assert found(folder) == [], "a file without its log"
    assert faults_of(folder / "penstock.db", folder) == []


async def test_a_queue_that_is_not_encrypted_stores_what_it_is_given(opened: Open, folder: Path) -> None:
    """So the search above can find something."""
    world = await opened(keyring())
    line = await world.queue("q", SqsManagedSseEnabled="false")
    await line.send(SECRET)
    assert found(folder) != []
    assert await bodies(line) == [SECRET]


async def test_messages_from_before_there_was_encryption_are_read(opened: Open) -> None:
    world = await opened(None)
    await (await world.queue("q")).send("from before", LARGE)
    world = await opened(keyring())
    line = await line_of(world)
    await line.send("new")
    assert await bodies(line) == ["from before", LARGE, "new"]


async def test_the_attribute_is_for_messages_that_come_after_it(opened: Open, folder: Path) -> None:
    world = await opened(keyring())
    line = await world.queue("q", SqsManagedSseEnabled="false")
    await line.send("in clear")
    await line.alter(SqsManagedSseEnabled="true")
    await line.send(SECRET)
    await line.alter(SqsManagedSseEnabled="false", KmsMasterKeyId="alias/orders")
    await line.send(SECRET)
    assert found(folder) == []
    assert found(folder, "in clear") != []
    assert await bodies(line) == ["in clear", SECRET, SECRET]


async def test_the_same_body_is_never_encrypted_the_same_way_twice(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("same", id="a" * 36)
    await line.send("same", id="a" * 36)
    first, second = store_of(world).database.execute("SELECT content FROM message").fetchall()
    assert first != second


async def test_a_content_in_another_message_s_place_is_set_aside(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("one")
    await line.send("two")
    database = store_of(world).database
    content = database.execute("SELECT content FROM message WHERE number=1").get
    identity = database.execute("SELECT id FROM message WHERE number=2").get
    database.execute("UPDATE message SET content=?, checksum=? WHERE number=2", (content, checksum(identity, content)))
    assert await line.bodies() == ["one"]
    assert await line.states() == (0, 1, 0)


@pytest.mark.parametrize("place", [0, 3, 6, 10, 20, -1])
async def test_a_content_that_someone_changed_is_set_aside(opened: Open, place: int) -> None:
    """Someone who can also make the checksum right."""
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("changed")
    await line.send("left alone")
    database = store_of(world).database
    identity, content = database.execute("SELECT id, content FROM message WHERE number=1").get
    changed = bytearray(content)
    changed[place] ^= 1
    database.execute(
        "UPDATE message SET content=?, checksum=? WHERE number=1", (changed, checksum(identity, bytes(changed)))
    )
    assert await line.bodies() == ["left alone"]


async def test_a_store_without_its_master_key_does_not_open_and_sets_nothing_aside(opened: Open) -> None:
    world = await opened(keyring(OLD))
    await (await world.queue("q")).send("precious")
    with pytest.raises(StoreError, match="master key that is not here"):
        await opened(keyring(NEW))
    world = await opened(keyring(NEW, OLD))
    assert await (await line_of(world)).bodies() == ["precious"]


async def test_a_dead_queue_s_data_keys_go_with_it(opened: Open) -> None:
    world = await opened(keyring())
    line, purged = await world.queue("q"), await world.queue("purged")
    await line.send("m")
    await purged.send("m")
    await line.remove()
    await purged.purge()
    assert store_of(world).database.execute("SELECT count(*) FROM data_key").get == 0
    await purged.send("after")
    assert await purged.bodies() == ["after"]


async def test_an_attempt_is_not_repeated_with_a_message_that_cannot_be_read_any_more(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q.fifo")
    await line.send("to be damaged")
    await line.send("whole", group="another")
    assert len(await line.receive(1, attempt_id="a")) == 1
    store_of(world).database.execute("UPDATE message SET checksum=0 WHERE number=1")
    assert await line.bodies(attempt_id="a") == ["whole"]
