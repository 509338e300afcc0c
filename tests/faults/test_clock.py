"""B6: clocks that jump, stop and go back: windows last as long as they were asked to, and time never runs backwards.

The clock's own arithmetic is judged on clocks that a test moves; the server's behaviour on a machine whose wall clock
is set while it runs and while it is down.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.core.clock import AnchoredClock
from server_process import Server

from .ailments import Machine
from .client import Client, counts, create
from .conftest import Opened
from .run import size

Start = Callable[..., Server]
Connect = Callable[[Server], Client]

QUARTER_MS, HOUR = 900_000, 3600
SLACK_MS = 50


class Clocks:
    """A wall clock that may be set, and a steady one."""

    def __init__(self) -> None:
        self.wall_ms, self.steady_ms = 1_700_000_000_000, 5_000_000

    def made(self) -> AnchoredClock:
        return AnchoredClock(lambda: self.wall_ms * 1_000_000, lambda: self.steady_ms * 1_000_000)

    def run(self, ms: int) -> None:
        self.wall_ms += ms
        self.steady_ms += ms


def test_time_keeps_its_pace_whatever_is_done_to_the_wall_clock(rng: random.Random) -> None:
    for _ in range(size(gate=50, night=2000)):
        clocks = Clocks()
        clock = clocks.made()
        before = clock.now()
        for _ in range(200):
            if rng.random() < 0.05:
                clocks.wall_ms += rng.choice((-QUARTER_MS, QUARTER_MS, rng.randint(-QUARTER_MS, QUARTER_MS)))
            passed = rng.choice((0, 1, 7, 50, 1000, 60_000))
            clocks.run(passed)
            now = clock.now()
            assert now >= before
            assert abs(now - before - passed) <= passed // AnchoredClock.PAYBACK + 1
            before = now


@pytest.mark.parametrize("pace_ms", [1, 50, 99, 100, 5000])
@pytest.mark.parametrize("ahead_ms", [-500, 500])
def test_a_step_of_the_wall_clock_is_paid_back_however_often_time_is_asked_for(pace_ms: int, ahead_ms: int) -> None:
    clocks = Clocks()
    clock = clocks.made()
    clocks.wall_ms += ahead_ms
    for _ in range(11 * AnchoredClock.PAYBACK // 10 * abs(ahead_ms) // pace_ms):
        clocks.run(pace_ms)
        clock.now()
    assert abs(clock.now() - clocks.wall_ms) <= 1


def test_a_suspended_machine_wakes_up_at_the_right_time() -> None:
    """The steady clock counts the sleep: the windows that ended during it have ended."""
    clocks = Clocks()
    clock = clocks.made()
    clocks.run(HOUR * 1000)
    assert clock.now() == clocks.wall_ms


async def test_no_jump_of_the_wall_clock_shows_a_message_early(opened: Opened, rng: random.Random) -> None:
    clocks = Clocks()
    world = await opened(clocks.made())
    line = await world.queue("q")
    await line.send(*(f"m{number}" for number in range(20)))
    due: dict[str, int] = {}
    for _ in range(400):
        if rng.random() < 0.05:
            clocks.wall_ms += rng.choice((-QUARTER_MS, QUARTER_MS))
        clocks.run(rng.randint(0, 2000))
        await world.store.sweep(world.now)
        window = rng.randint(1, 20)
        for message in await line.receive(10, window):
            assert clocks.steady_ms >= due.get(message.id, 0)
            due[message.id] = clocks.steady_ms + window * 990 - SLACK_MS
    assert len(due) == 20


def receive(client: Client, queue: str, **params: Any) -> list[dict[str, Any]]:
    asked = {"MaxNumberOfMessages": 10, "MessageSystemAttributeNames": ["All"]} | params
    messages: list[dict[str, Any]] = client.call("ReceiveMessage", queue, **asked).get("Messages", [])
    return messages


@pytest.fixture
def machine(folder: Path) -> Machine:
    return Machine(folder)


@pytest.mark.parametrize("jump", [-900, 900])
def test_a_server_does_not_follow_a_jump_of_the_wall_clock(
    start: Start, connect: Connect, machine: Machine, jump: int
) -> None:
    machine.falls_ill("wall", 0)
    client = connect(start(**machine.settings))
    create(client, "q")
    client.call("SendMessage", "q", MessageBody="held")
    assert len(receive(client, "q", VisibilityTimeout=30)) == 1
    client.call("SendMessage", "q", MessageBody="delayed", DelaySeconds=1)
    machine.falls_ill("wall", jump)
    began = time.monotonic()
    (message,) = receive(client, "q", WaitTimeSeconds=5)
    assert message["Body"] == "delayed"
    assert 0.9 < time.monotonic() - began < 3
    assert receive(client, "q") == []


def test_a_signature_is_judged_by_the_clock_that_its_maker_has(start: Start, machine: Machine) -> None:
    """Started before the network time was known: an hour late, and then set right."""
    machine.falls_ill("wall", -HOUR)
    server = start(PENSTOCK_AUTH="on", **machine.settings)
    machine.falls_ill("wall", 0)
    assert server.client().list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_time_goes_on_after_a_restart_with_the_clock_set_back(
    start: Start, connect: Connect, machine: Machine, folder: Path
) -> None:
    """Windows and delays end when they would have; order, numbers and ages are as if nothing had happened."""
    machine.falls_ill("wall", HOUR - 60)
    server = start(**machine.settings)
    client = connect(server)
    for queue in ("q", "late", "q.fifo"):
        create(client, queue)
    time.sleep(1.5)
    client.call("SendMessage", "q", MessageBody="held")
    assert len(receive(client, "q", VisibilityTimeout=3)) == 1
    client.call("SendMessage", "late", MessageBody="delayed", DelaySeconds=3)
    fifo = {"MessageGroupId": "g", "MessageDeduplicationId": "first"}
    first = client.call("SendMessage", "q.fifo", MessageBody="first", **fifo)
    server.stop()
    machine.falls_ill("wall", 0)
    server.start()
    client.close()
    began = time.monotonic()
    second = client.call("SendMessage", "q.fifo", MessageBody="second", **fifo | {"MessageDeduplicationId": "second"})
    assert int(second["SequenceNumber"]) > int(first["SequenceNumber"])
    assert receive(client, "q") == []
    again = client.call("SendMessage", "q.fifo", MessageBody="first", **fifo)
    assert again["MessageId"] == first["MessageId"], "the deduplication window is open still"
    bodies = [message["Body"] for message in (*receive(client, "q", WaitTimeSeconds=6), *receive(client, "late"))]
    bodies += [message["Body"] for message in receive(client, "late", WaitTimeSeconds=6 - len(bodies))]
    assert sorted(bodies) == ["delayed", "held"]
    assert time.monotonic() - began < 10
    ordered = receive(client, "q.fifo")
    assert [message["Body"] for message in ordered] == ["first", "second"]
    sent = [int(message["Attributes"]["SentTimestamp"]) for message in ordered]
    assert sent == sorted(sent), "time ran backwards"


def test_a_clock_that_is_hours_behind_is_told_in_one_line_unless_it_is_to_be_trusted(
    start: Start, connect: Connect, machine: Machine, folder: Path
) -> None:
    machine.falls_ill("wall", 5 * HOUR)
    server = start(**machine.settings)
    client = connect(server)
    create(client, "q")
    client.call("SendMessage", "q", MessageBody="m")
    server.stop()
    machine.recovers("wall")
    with pytest.raises(AssertionError, match="hours behind"):
        server.start()
    client.close()
    trusting = start(PENSTOCK_TRUST_CLOCK="true", **machine.settings)
    client = connect(trusting)
    assert counts(client, "q") == (1, 0, 0)
    assert [message["Body"] for message in receive(client, "q")] == ["m"]
