"""B4: disks that are full, that fail, that are slow: no lie, no half message, and no restart where none is needed.

The disk is made sick by a file system of the test's own where that is allowed, and in any case under SQLite.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from server_process import Server

from .ailments import Machine
from .audit import faults_of
from .client import Client, Failed, Unknown, counts, create
from .together import at_once, wait_for

Start = Callable[..., Server]
Connect = Callable[[Server], Client]

STOPPED_BY_DISK = 70
FIRST = 20
LARGE = 60_000


@pytest.fixture
def machine(folder: Path) -> Machine:
    return Machine(folder)


def send(client: Client, body: str) -> str:
    return str(client.call("SendMessage", "q", MessageBody=body)["MessageId"])


def fill(client: Client, rng: random.Random) -> list[str]:
    """Send ever less until not even that is taken; return the bodies that were accepted."""
    accepted: list[str] = []
    for length in (LARGE, 1000, 20):
        refused = 0
        while refused < 5:
            body = f"{len(accepted)} {rng.random()} ".ljust(length, "x")
            try:
                send(client, body)
                accepted.append(body)
            except Failed as failure:
                check_refusal(failure)
                refused += 1
            assert len(accepted) < 2000, "the disk never becomes full"
    return accepted


def check_refusal(failure: Failed) -> None:
    assert failure.status == 503
    assert failure.code.startswith("ServiceUnavailable")


def everything(client: Client) -> list[str]:
    bodies: list[str] = []
    while messages := client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    return bodies


def check_life_on_a_full_disk(server: Server, client: Client, accepted: list[str]) -> None:
    """Nothing is taken, nothing is lost, what can be answered is, and everyone can see what is the matter."""
    process = server.process.pid
    for _ in range(3):
        with pytest.raises(Failed, match="503 ServiceUnavailable"):
            send(client, "y" * LARGE)
        assert sum(counts(client, "q")) == len(accepted)
        assert client.get("/health/ready")[0] == 503
    assert client.get("/health/live")[0] == 200
    assert client.call("ListQueues")["QueueUrls"]
    assert client.call("GetQueueUrl", QueueName="q")
    assert server.process.poll() is None
    assert server.process.pid == process


def check_recovery(server: Server, client: Client, accepted: list[str]) -> None:
    wait_for(lambda: client.get("/health/ready")[0] == 200, 5, "readiness without any traffic")
    send(client, "after")
    assert sorted(everything(client)) == sorted([*accepted, "after"])
    assert server.stop() == 0


def test_a_full_file_system_takes_nothing_and_loses_nothing(
    start: Start, connect: Connect, small: Path, folder: Path, rng: random.Random
) -> None:
    server = start(PENSTOCK_DATA=str(small / "data"))
    client = connect(server)
    create(client, "q")
    accepted = fill(client, rng)
    check_life_on_a_full_disk(server, client, accepted)
    (small / "ballast").unlink()
    check_recovery(server, client, accepted)
    assert faults_of(small / "data" / "penstock.db", folder) == []


def test_a_disk_that_grows_no_more_takes_nothing_and_loses_nothing(
    start: Start, connect: Connect, machine: Machine, folder: Path, rng: random.Random
) -> None:
    server = start(**machine.settings)
    client = connect(server)
    create(client, "q")
    accepted = [f"early {number}" for number in range(FIRST)]
    for body in accepted:
        send(client, body)
    machine.falls_ill("full")
    accepted += fill(client, rng)
    check_life_on_a_full_disk(server, client, accepted)
    machine.recovers("full")
    check_recovery(server, client, accepted)
    assert faults_of(server.data / "penstock.db", folder) == []


def test_consumers_dig_a_full_disk_out(
    start: Start, connect: Connect, small: Path, folder: Path, rng: random.Random
) -> None:
    server = start(PENSTOCK_DATA=str(small / "data"))
    client = connect(server)
    create(client, "q")
    accepted = fill(client, rng)
    taken = []
    for _ in range(3 * len(accepted)):
        try:
            for message in client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages", []):
                client.call("DeleteMessage", "q", ReceiptHandle=message["ReceiptHandle"])
                taken.append(message["Body"])
        except Failed as failure:
            check_refusal(failure)
    assert sorted(taken) == sorted(accepted), "consumers could not dig themselves out"
    wait_for(lambda: client.get("/health/ready")[0] == 200, 5, "readiness when the database has room again")
    send(client, "y" * LARGE)
    assert sum(counts(client, "q")) == 1
    server.stop()
    assert faults_of(small / "data" / "penstock.db", folder) == []


@pytest.mark.parametrize("ailment", ["unsynced", "unwritten", "broken"])
def test_a_failing_disk_stops_the_process_and_the_next_start_recovers(
    start: Start, connect: Connect, machine: Machine, folder: Path, ailment: str
) -> None:
    server = start(**machine.settings)
    client = connect(server)
    create(client, "q")
    acknowledged = [send(client, f"before {number}") for number in range(FIRST)]
    machine.falls_ill(ailment)
    clients = [connect(server) for _ in range(16)]
    answers = at_once([lambda c=c: send(c, "during") for c in clients])
    assert all(isinstance(answer, Unknown) for answer in answers), answers
    assert server.process.wait(10) == STOPPED_BY_DISK
    said = [line for line in server.output().splitlines() if "disk" in line.lower()]
    assert said, "it stopped without a word"
    machine.recovers(ailment)
    server.start()
    client.close()
    found = []
    while messages := client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages"):
        found += [message["MessageId"] for message in messages]
    assert set(acknowledged) <= set(found)
    assert len(found) <= len(acknowledged) + len(clients)
    server.stop()
    assert faults_of(server.data / "penstock.db", folder) == []


def test_a_slow_disk_makes_everyone_wait_and_nobody_is_told_before_it_is_done(
    start: Start, connect: Connect, machine: Machine, folder: Path
) -> None:
    """Killed as soon as the last reply is there: what was acknowledged had been synced."""
    server = start(**machine.settings)
    client = connect(server)
    create(client, "q")
    machine.falls_ill("slow", 0.3)
    clients = [connect(server) for _ in range(16)]
    acknowledged: list[object] = []
    for batch in range(3):
        acknowledged += at_once([lambda c=c, batch=batch: send(c, f"{batch}") for c in clients])
    server.process.kill()
    server.process.wait()
    assert all(isinstance(answer, str) for answer in acknowledged), acknowledged
    machine.recovers("slow")
    server.start()
    client.close()
    found = []
    while messages := client.call("ReceiveMessage", "q", MaxNumberOfMessages=10).get("Messages"):
        found += [message["MessageId"] for message in messages]
    assert sorted(found) == sorted(map(str, acknowledged))
    server.stop()
    assert faults_of(server.data / "penstock.db", folder) == []
