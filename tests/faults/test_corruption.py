"""B5: bytes that change on the disk. What is damaged is never handed out, and nobody has to wait behind it.

A database without its log has no checksums of pages, so damage is found where messages are read, and by SQLite
where it meets nonsense. A damaged log loses its tail, which was not acknowledged.

It is so whoever reads the rows. Native code does for queues in which nothing has come back, which is known once a first
message was received.
"""

import random
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from conformance.natively import ByParties, NativeStore
from conformance.world import Line, World, key
from penstock.core.clock import ManualClock
from penstock.core.message import Attribute, Message
from penstock.core.store import StoreError
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.packing import checksum
from server_process import Server
from tally import count

from .audit import faults_of
from .client import Client, create
from .conftest import Make, Opened
from .run import size

DAMAGES = size(gate=50, night=2500)
MESSAGES = 12
PAGE = 4096


@pytest.fixture(params=["native", "python"])
def without_keys(request: pytest.FixtureRequest) -> Make:
    return ByParties if request.param == "native" else SqliteStore


async def lines(world: World, *names: str) -> list[Line]:
    queues = [await world.store.find_queue(key(name)) for name in names]
    return [Line(world, queue) for queue in queues if queue]


def flip(file: Path, wanted: bytes, rng: random.Random) -> None:
    """Change one bit of what is stored there in these words."""
    image = bytearray(file.read_bytes())
    places = [place for place in range(len(image)) if image.startswith(wanted, place)]
    assert places, "what was stored is not to be found in the file"
    image[rng.choice(places) + rng.randrange(len(wanted))] ^= 1 << rng.randrange(8)
    file.write_bytes(image)


@pytest.mark.parametrize("name", ["q", "q.fifo"])
async def test_a_damaged_message_is_not_handed_out_and_holds_up_nobody(
    opened: Opened, folder: Path, rng: random.Random, name: str
) -> None:
    world = await opened()
    line, other = await world.queue(name), await world.queue("other")
    bodies = [f"the body of message {number:02}" for number in range(MESSAGES)]
    groups = [{"group": f"g{number % 4}"} if line.queue.fifo else {} for number in range(MESSAGES)]
    for body, group in zip(bodies, groups, strict=True):
        await line.send(body, **group)
    await other.send("innocent")
    await world.store.close()
    damaged = rng.choice(bodies)
    flip(folder / "penstock.db", damaged.encode(), rng)
    world = await opened()
    line, other = await lines(world, name, "other")
    assert await other.bodies() == ["innocent"]
    assert sorted(await everything(line)) == sorted(set(bodies) - {damaged})
    assert await line.states() == (0, 0, 0)
    await line.send("a new one", **groups[bodies.index(damaged)])
    assert await line.bodies() == ["a new one"]
    world.advance(line.queue.retention_seconds + 1)
    await world.sweep()
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


async def everything(line: Line) -> list[str]:
    """All that can be had by receiving and deleting, as a consumer does that never gives up after one empty reply."""
    bodies: list[str] = []
    empty, limits = 0, cycle((1, 2, 10))
    while empty < 3:
        messages = await line.receive(next(limits))
        bodies += [message.body for message in messages]
        empty = 0 if messages else empty + 1
        for message in messages:
            await line.delete(message)
    return bodies


async def test_a_damaged_attribute_is_not_handed_out(opened: Opened, folder: Path, rng: random.Random) -> None:
    world = await opened()
    line = await world.queue("q")
    await line.send("good", attributes={"colour": Attribute("String", "a light green")})
    await line.send("bad", attributes={"colour": Attribute("String", "a dark purple")})
    await world.store.close()
    flip(folder / "penstock.db", b"a dark purple", rng)
    world = await opened()
    (line,) = await lines(world, "q")
    assert await everything(line) == ["good"]
    await world.store.close()


def flipped(image: bytearray, rng: random.Random) -> None:
    image[rng.randrange(100, len(image))] ^= 1 << rng.randrange(8)


def cut_short(image: bytearray, rng: random.Random) -> None:
    del image[rng.randrange(len(image)) :]


def zeroed(image: bytearray, rng: random.Random) -> None:
    page = rng.randrange(0, len(image), PAGE)
    image[page : page + PAGE] = bytes(len(image[page : page + PAGE]))


def swapped(image: bytearray, rng: random.Random) -> None:
    """A write that went to the wrong place."""
    pages = range(0, len(image) - PAGE, PAGE)
    one, other = rng.choice(pages), rng.choice(pages)
    image[one : one + PAGE] = image[other : other + PAGE]


def as_they_lie(folder: Path) -> dict[str, bytes]:
    """The database and its log, as a kill would leave them."""
    return {file.name: file.read_bytes() for file in folder.glob("penstock.db*") if not file.name.endswith("-shm")}


@pytest.mark.parametrize("damage", [flipped, cut_short, zeroed, swapped])
@pytest.mark.parametrize("name", ["penstock.db", "penstock.db-wal"])
async def test_no_damage_anywhere_makes_an_altered_message(
    opened: Opened, without_keys: Make, folder: Path, rng: random.Random, name: str,
    damage: Callable[[bytearray, random.Random], None],
) -> None:  # fmt: skip
    """Most of a file is not message bodies. Whatever is hit, a message is as it was sent or is not handed out."""
    world = await opened()
    line = await world.queue("q")
    sent = [f"{number} ".ljust(300, "x") for number in range(MESSAGES)]
    for body in sent:
        await line.send(body)
    if name == "penstock.db":
        await world.store.close()
    whole = as_they_lie(folder)
    for number in range(DAMAGES):
        place = folder / str(number)
        place.mkdir()
        for file, content in whole.items():
            image = bytearray(content)
            if file == name:
                damage(image, rng)
            (place / file).write_bytes(image)
        found = [message.body for message in await whatever_is_found(without_keys, place)]
        assert set(found) <= set(sent)
        if name == "penstock.db-wal":
            assert found == sent[: len(found)], "what comes before the damage is there, in order"
        count(cycles=1)


async def whatever_is_found(make: Make, folder: Path) -> list[Message]:
    """What can be received before the store gives up, if it opens at all."""
    store, found = make(folder / "penstock.db", on_fatal=lambda error: None), list[Message]()
    try:
        await store.open()
        world = World(store, ManualClock())
        for line in await lines(world, "q"):
            for _ in range(MESSAGES):
                found += await line.receive(1)
    except Exception as error:  # nonsense in a row may show itself as anything: that it does is what counts
        print(f"refused: {error!r}")
    finally:
        await store.close()
    return found


def test_a_log_without_its_tail_loses_only_what_is_in_the_tail(
    start: Callable[..., Server], connect: Callable[[Server], Client], folder: Path, rng: random.Random
) -> None:
    """After a kill, the log is all there is; the part of it that was there before a point in time still counts."""
    server = start()
    client = connect(server)
    create(client, "q")
    log = server.data / "penstock.db-wal"
    safe = []
    for number in range(30):
        client.call("SendMessage", "q", MessageBody=f"message {number}")
        safe.append(log.stat().st_size)
    server.process.kill()
    server.process.wait()
    kept = rng.randrange(20)
    cut = rng.randint(safe[kept], safe[kept + 1])
    log.write_bytes(log.read_bytes()[:cut])
    server.start()
    client.close()
    bodies = []
    while messages := client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    expected = [f"message {number}" for number in range(kept + 1 + (cut == safe[kept + 1]))]
    server.stop()
    assert bodies == expected
    assert faults_of(server.data / "penstock.db", folder) == []


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
def test_a_flipped_bit_in_the_log_loses_only_what_comes_after(
    start: Callable[..., Server], connect: Callable[[Server], Client], folder: Path, rng: random.Random, part: float
) -> None:
    server = start()
    client = connect(server)
    create(client, "q")
    log = server.data / "penstock.db-wal"
    created = log.stat().st_size
    for number in range(30):
        client.call("SendMessage", "q", MessageBody=f"message {number}")
    server.process.kill()
    server.process.wait()
    image = bytearray(log.read_bytes())
    image[created + int((len(image) - created) * part)] ^= 1 << rng.randrange(8)
    log.write_bytes(image)
    server.start()
    client.close()
    bodies = []
    while messages := client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    server.stop()
    assert bodies == [f"message {number}" for number in range(len(bodies))]
    assert faults_of(server.data / "penstock.db", folder) == []


@pytest.mark.parametrize(
    "damage", ["UPDATE queue SET attributes='{\"Del'", "ALTER TABLE queue RENAME COLUMN attributes TO something"]
)
async def test_damaged_queues_stop_the_start_in_words(opened: Opened, folder: Path, damage: str) -> None:
    world = await opened()
    await world.queue("q")
    world.store.database.execute(damage)
    await world.store.close()
    with pytest.raises(StoreError, match="is damaged"):
        await SqliteStore(folder / "penstock.db").open()


@pytest.mark.parametrize("column", ["enqueued", "receives", "id", "checksum"])
async def test_a_row_with_nonsense_in_it_is_set_aside_and_the_others_are_handed_out(
    opened: Opened, column: str
) -> None:
    world = await opened()
    line = await known(world, "q")
    for body in ("first", "second", "third"):
        await line.send(body)
    world.store.database.execute(f"UPDATE message SET {column}='nonsense' WHERE number=3")
    assert [message.body for message in await line.receive(10)] == ["first", "third"]


async def known(world: World, name: str) -> Line:
    """A queue, once it is known that nothing in it came back."""
    line = await world.queue(name)
    await line.send("early")
    await line.delete(await line.receive_one())
    return line


@pytest.mark.parametrize("name", ["q", "q.fifo"])
@pytest.mark.parametrize("column", ["content", "id", "checksum", "content, checksum"])
async def test_native_code_hands_out_nothing_that_is_damaged(
    folder: Path, rng: random.Random, name: str, column: str
) -> None:
    """The last of these is damage that a checksum does not show, but a key does."""
    store = NativeStore(folder / "penstock.db")
    await store.open()
    try:
        world = World(store, ManualClock())
        line = await known(world, name)
        bodies = [f"message {number}" for number in range(MESSAGES)]
        for body in bodies:
            await line.send(body, **({"group": body} if line.queue.fifo else {}))
        first = store.database.execute("SELECT min(number) FROM message").get
        damaged, before = rng.randrange(MESSAGES), store.natively
        alter(store, first + damaged, column, rng)
        given = [await line.receive(1) for _ in range(MESSAGES)]
        assert [message.body for messages in given for message in messages] == bodies[:damaged] + bodies[damaged + 1 :]
        assert store.natively - before == MESSAGES - 1 - (damaged < MESSAGES - 1)
        assert await line.states() == (0, MESSAGES - 1, 0)
        found = store.database.execute("SELECT number FROM message WHERE state=3").fetchall()
        assert found == [(first + damaged,)]
        world.advance(line.queue.retention_seconds + 1)
        await world.sweep()
    finally:
        await store.close()
    assert faults_of(folder / "penstock.db", folder) == []


def alter(store: SqliteStore, number: int, column: str, rng: random.Random) -> None:
    """Change one bit of this column; of a content, with the checksum that it then has."""
    names = column.split(", ")
    identity, value = store.database.execute(f"SELECT id, {names[0]} FROM message WHERE number=?", (number,)).get
    if isinstance(value, int):
        value ^= 1 << rng.randrange(32)
    else:
        place = rng.randrange(len(value))
        value = value[:place] + bytes([value[place] ^ 1 << rng.randrange(8)]) + value[place + 1 :]
    values = [value, checksum(identity, value)] if len(names) > 1 else [value]
    assignments = ", ".join(f"{name}=?" for name in names)
    store.database.execute(f"UPDATE message SET {assignments} WHERE number=?", (*values, number))


async def test_a_time_that_is_none_does_not_stop_the_clock(opened: Opened) -> None:
    world = await opened()
    line = await world.queue("q")
    await line.send("hidden", delay_seconds=5)
    await line.send("also hidden", delay_seconds=5)
    world.store.database.execute("UPDATE message SET due='nonsense' WHERE number=1")
    world.advance(10)
    assert [message.body for message in await line.receive(10)] == ["also hidden"]
    await line.send("later")
    assert [message.body for message in await line.receive(10)] == ["later"]
