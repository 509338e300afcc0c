"""Refusals for want of a right are answered at a time of their own; everything else at once."""

import asyncio
import time

import pytest

from penstock.api.holding import Holding
from penstock.stores.memory import MemoryStore
from sqs.clients import Reply
from sqs.harness import ACCOUNT, HOST, ROOT, STRANGER, World

LONG_MS = 3_600_000


@pytest.fixture
def patient() -> World:
    """A server that answers refusals after an hour."""
    return World(MemoryStore(), root_account=ACCOUNT, refusals_take_ms=LONG_MS)


async def begun(world: World, key: str, action: str, queue: str) -> "asyncio.Task[Reply]":
    """The call, as far as it gets without waiting."""
    asked = {"MessageBody": "m"} if action == "SendMessage" else {}
    client = world.client("json", key)
    task = asyncio.create_task(client.call(action, QueueUrl=f"http://{HOST}/{ACCOUNT}/{queue}", **asked))
    for _ in range(10):
        await asyncio.sleep(0)
    return task


async def test_a_refusal_is_held_back_whether_or_not_there_is_a_queue(patient: World) -> None:
    assert (await patient.client("json", ROOT).call("CreateQueue", QueueName="orders")).status == 200
    for queue in ("orders", "missing"):
        held = await begun(patient, STRANGER, "SendMessage", queue)
        assert not held.done()
        assert patient.calls[-1].result == "AccessDenied", "it is written down at once"
        held.cancel()
        with pytest.raises(asyncio.CancelledError):
            await held


async def test_nothing_else_is_held_back(patient: World) -> None:
    assert (await patient.client("json", ROOT).call("CreateQueue", QueueName="orders")).status == 200
    for queue, code in (("orders", ""), ("missing", "QueueDoesNotExist")):
        task = await begun(patient, ROOT, "SendMessage", queue)
        assert task.done()
        assert patient.calls[-1].result == (code or "ok")


async def test_who_is_held_is_let_go_in_time_and_who_left_is_not_missed() -> None:
    holding = Holding(0.02)
    started = time.perf_counter()
    leaving, staying = (asyncio.create_task(holding.since(started)) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    await holding.since(started)


def test_a_loop_that_was_closed_keeps_nobody_else_waiting() -> None:
    holding = Holding(0.01)

    async def leave() -> None:
        task = asyncio.create_task(holding.since(time.perf_counter()))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    asyncio.run(holding.since(time.perf_counter()))
