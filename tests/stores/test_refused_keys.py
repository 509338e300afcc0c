"""A key of KMS that is not to be used refuses, and no message is lost by it."""

from pathlib import Path

import pytest

from conformance.world import Line
from faults.audit import faults_of
from penstock.core.keyring import KeyRefused
from penstock.core.move import MoveStatus
from penstock.core.store import Receive, TooManyInFlight

from .conftest import Open, keyring

GONE = keyring(declared=())
OFF = keyring(disabled=("alias/orders",))
ORDERS = {"KmsMasterKeyId": "alias/orders"}


@pytest.mark.parametrize(("keys", "shape"), [(GONE, "KmsNotFound"), (OFF, "KmsDisabled")])
@pytest.mark.parametrize("name", ["q", "q.fifo"])
async def test_what_needs_a_refused_key_is_refused_until_the_key_is_back(
    opened: Open, folder: Path, keys: object, shape: str, name: str
) -> None:
    world = await opened(keyring())
    line = await world.queue(name, **ORDERS)
    await line.send("kept")
    world = await opened(keys)
    line = Line(world, line.queue)
    for attempt in (line.send("refused"), line.receive(), line.peek()):
        with pytest.raises(KeyRefused) as refusal:
            await attempt
        assert refusal.value.shape == shape
    assert await line.states() == (1, 0, 0)
    world = await opened(keyring())
    assert await Line(world, line.queue).bodies() == ["kept"]
    await world.store.close()
    assert faults_of(folder / "penstock.db", folder) == []


async def test_messages_of_a_refused_key_are_kept_though_their_queue_names_another(opened: Open) -> None:
    world = await opened(keyring())
    line = await world.queue("q", **ORDERS)
    await line.send("kept")
    await line.alter(KmsMasterKeyId="")
    world = await opened(GONE)
    line = Line(world, line.queue)
    await line.send("new")
    with pytest.raises(KeyRefused):
        await line.receive()
    world = await opened(keyring())
    assert await Line(world, line.queue).bodies() == ["kept", "new"]


async def test_a_dead_letter_queue_whose_key_is_refused_takes_nothing(opened: Open) -> None:
    world = await opened(keyring())
    line, dead = await world.queue_with_dead_letters("q", 1)
    await dead.alter(**ORDERS)
    await line.send("m")
    world = await opened(OFF)
    line = Line(world, line.queue)
    assert await line.bodies(visibility=0) == ["m"]
    assert await line.bodies(visibility=0) == ["m"], "handed out as if there were no dead-letter queue"
    world = await opened(keyring())
    assert await Line(world, line.queue).bodies() == []
    assert await Line(world, dead.queue).bodies() == ["m"]


@pytest.mark.parametrize("refused", ["source", "target"])
async def test_a_move_that_needs_a_refused_key_fails_and_moves_nothing(opened: Open, refused: str) -> None:
    world = await opened(keyring())
    source, target = await world.queue("source"), await world.queue("target")
    await (source if refused == "source" else target).alter(**ORDERS)
    await source.send("m")
    world = await opened(OFF)
    source, target = Line(world, source.queue), Line(world, target.queue)
    task = await source.start_move(target)
    task = await world.store.move(task, 10, world.now)
    assert (task.status, task.failure, task.moved) == (MoveStatus.FAILED, "KmsDisabled", 0)
    assert await source.states() == (1, 0, 0)


async def test_what_a_refused_call_had_done_already_is_counted_on_disk(opened: Open, folder: Path) -> None:
    """A receive makes ready what is due, and is then refused: nobody else was waiting for the commit."""
    world = await opened(keyring())
    line = await world.queue("q")
    await line.send("in flight")
    await line.receive()
    await line.send("delayed", delay_seconds=5)
    world.advance(6)
    with pytest.raises(TooManyInFlight):
        await world.store.receive(line.id, Receive(1, 30, in_flight_limit=1), world.now)
    await world.store.gauge([], world.now)
    assert faults_of(folder / "penstock.db", folder) == []
