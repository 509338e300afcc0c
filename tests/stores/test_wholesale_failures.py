"""A disk that fails in the middle of a party that native code carries out, or serves by itself: all is undone.

The log is written to before the commit, since the cache has room for next to nothing; and one of these writes fails,
a later one each time, until there is none left that could.
"""

from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from conformance.gathering import Gathering, Told, compiled
from conformance.world import World
from faults.audit import faults_of
from faults.power import Disk, installed
from faults.rounds import tables
from penstock.core.clock import ManualClock
from penstock.core.errors import Unavailable
from penstock.stores.sqlite import SqliteStore
from penstock.stores.sqlite.catalogue import Entry

from .conftest import keyring

MEMBERS = 40
BODY = "x" * 1500
EVERY = 9
"""Which of the writes fail."""


class FailingDisk(Disk):
    """Fails at the next write but so many, if it is told to."""

    def falls_ill(self, error: Exception, writes: int) -> None:
        left = iter(range(writes))

        def before_change() -> None:
            if next(left, None) is None:
                raise error

        self.before_change = before_change

    def recovers(self) -> None:
        self.before_change = lambda: None


@pytest.fixture
def disk() -> Iterator[FailingDisk]:
    with installed(FailingDisk()) as disk:
        yield disk  # type: ignore[misc]


class Scene:
    """A queue with messages, some of them in flight, and a party that is about to come."""

    def __init__(self, path: Path, rounds: bool = False) -> None:
        self.rounds, self.fatal = rounds, list[BaseException]()
        self.store = SqliteStore(path, on_fatal=self.fatal.append)
        self.store.native = compiled()
        self.handles: list[str] = []

    async def open(self, name: str) -> None:
        await self.store.open()
        self.store.attach_keys(keyring())
        self.store.database.execute("PRAGMA cache_size=1")
        self.world = World(self.store, ManualClock())
        self.line = await self.world.queue(name, ContentBasedDeduplication="true")
        self.clients = Gathering(compiled(), self.store, self.line.id, self.rounds)
        await self.line.send("early")
        await self.line.delete(await self.line.receive_one())
        await self.send("first")
        self.handles = [reply["Messages"][0]["ReceiptHandle"] for reply in await self.receive() if reply]
        await self.send("second")
        assert all(self.clients.natively)

    async def send(self, what: str = "third") -> list[Told]:
        group = [{"MessageGroupId": f"{what}-{n}"} if self.line.queue.fifo else {} for n in range(MEMBERS)]
        bodies = [f"{what} {number} {BODY}" for number in range(MEMBERS)]
        entries = [{"MessageBody": body, **group[number]} for number, body in enumerate(bodies)]
        return await self.clients.send(*entries, now=self.world.now)

    async def receive(self) -> list[Told]:
        return await self.clients.receive(MEMBERS, 30, self.world.now)

    async def delete(self) -> list[Told]:
        return await self.clients.delete(*self.handles, now=self.world.now)

    @property
    def entry(self) -> Entry:
        return self.store._catalogue.live(self.line.id)

    def state(self) -> Any:
        return tables(self.store.path), self.entry.counters, self.entry.groups


@pytest.fixture(params=["q", "q.fifo"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["q", "q.fifo", "q in rounds", "q.fifo in rounds"])
def kind(request: pytest.FixtureRequest) -> tuple[str, bool]:
    """The name of a queue, and whether its clients are served in rounds."""
    name, _, rounds = request.param.partition(" ")
    return name, bool(rounds)


STEPS: dict[str, tuple[Callable[[Scene], Awaitable[list[Told]]], tuple[int, int, int]]] = {
    "send": (Scene.send, (2 * MEMBERS, MEMBERS, 0)),
    "receive": (Scene.receive, (0, 2 * MEMBERS, 0)),
    "delete": (Scene.delete, (MEMBERS, 0, 0)),
}
"""What a party does, and how many are visible, in flight and delayed when it has done it."""


@pytest.mark.parametrize("step", sorted(STEPS))
async def test_a_full_disk_in_the_middle_of_a_party_undoes_it(
    disk: FailingDisk, folder: Path, kind: tuple[str, bool], step: str
) -> None:
    (ask, states), causes, failed, (name, rounds) = STEPS[step], list[object](), True, kind
    for writes in count(0, 1 if kind[1] else EVERY):
        scene = Scene(folder / str(writes) / "penstock.db", rounds)
        await scene.open(name)
        before = scene.state()
        disk.falls_ill(apsw.FullError("the disk is full, says the test"), writes)
        try:
            told = await ask(scene)
        except Unavailable as refusal:
            causes.append(type(refusal.__cause__))
            disk.recovers()
            assert scene.state() == before
            told = await ask(scene)
        else:
            disk.recovers()
            failed = False
        assert None not in told
        assert await scene.line.states() == states
        await check_end(scene, step)
        if not failed:
            break
    assert scene.clients.natively == [True] * len(scene.clients.natively)
    assert bool(causes) if rounds else (apsw.FullError in causes), "none failed before the commit"


async def check_end(scene: Scene, step: str) -> None:
    """Everything that is left can be had, once."""
    world, line, store = scene.world, scene.line, scene.store
    world.advance(31)
    left = {"send": ["first", "second", "third"], "receive": ["first", "second"], "delete": ["second"]}[step]
    found: list[str] = []
    while messages := await line.receive(10):
        found += [message.body.split(" x")[0] for message in messages]
    assert sorted(found) == sorted(f"{what} {number}" for what in left for number in range(MEMBERS))
    await store.close()
    assert scene.fatal == []
    assert faults_of(store.path, store.path.parent) == []


@pytest.mark.parametrize("step", sorted(STEPS))
async def test_a_disk_that_fails_in_the_middle_of_a_party_stops_the_store(
    disk: FailingDisk, folder: Path, kind: tuple[str, bool], step: str
) -> None:
    (ask, _), causes, failed, (name, rounds) = STEPS[step], list[object](), True, kind
    for writes in count(0, 1 if kind[1] else EVERY):
        scene = Scene(folder / str(writes) / "penstock.db", rounds)
        await scene.open(name)
        before = tables(scene.store.path)
        disk.falls_ill(apsw.IOError("the disk fails, says the test"), writes)
        try:
            await ask(scene)
        except Unavailable as refusal:
            causes.append(type(refusal.__cause__))
            assert [type(error) for error in scene.fatal] == [apsw.IOError]
            assert tables(scene.store.path) == before
        else:
            failed = False
        disk.recovers()
        await scene.store.close()
        if not failed:
            break
    assert scene.clients.natively == [True] * len(scene.clients.natively)
    assert bool(causes) if rounds else (apsw.IOError in causes), "none failed before the commit"


async def test_a_database_that_must_not_grow_takes_no_part_of_a_party(folder: Path, name: str) -> None:
    """It is SQLite that says so here, not what is under it."""
    scene = Scene(folder / "penstock.db")
    await scene.open(name)
    before = scene.state()
    scene.store.database.execute("PRAGMA max_page_count=1")
    with pytest.raises(Unavailable) as refusal:
        await scene.send()
    assert isinstance(refusal.value.__cause__, apsw.FullError)
    assert scene.state() == before
    scene.store.database.execute("PRAGMA max_page_count=1000000")
    assert None not in await scene.send()
    assert scene.clients.natively[-1]
    await check_end(scene, "send")
