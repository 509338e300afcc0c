"""A server with producers and consumers at it, each a process of its own, and the history they leave behind."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from server_process import Server
from tally import count

from .actors import Consumer
from .client import Client, Unknown, counts, create, dead_letters
from .history import Operation, Recorder, Value, history_of
from .plans import PLANS

TESTS = Path(__file__).parent.parent
EMPTY_ROUNDS = 3
STARTING_SECONDS = 60
DRAIN_SECONDS = 60
LEAVING_SECONDS = 60


class Workload:
    """`folder` is for the histories. Its own part of them, `recorder`, is for what is done from here. Actors find the
    server where `log` says that it is, and sign what they ask if the server wants that."""

    def __init__(self, server: Server, folder: Path, seed: str, plan: str = "mixed", log: Path | None = None) -> None:
        self.signs = server.settings.get("PENSTOCK_AUTH") != "off"
        self.server, self.seed, self.plan_name, self.plan = server, seed, plan, PLANS[plan]
        self.log = log or server.folder / "stdout"
        self.folder = folder
        folder.mkdir()
        self.recorder = Recorder(folder / "harness.jsonl")
        self.client = Client(server, signs=self.signs)
        self.actors: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self) -> None:
        for line in self.plan.lines:
            made: Value = {"queue": line.queue}
            redrive = {}
            if line.dead_letters:
                redrive["RedrivePolicy"] = dead_letters(line.dead_letters, line.max_receives)
                made |= {"dead_letters": line.dead_letters, "max_receives": line.max_receives}
            create(self.client, line.queue, **redrive)
            self.recorder.note("queue", made, {})

    def start(self, producers: int, consumers: int) -> None:
        """When it returns, something has been acknowledged: a history without anything shows nothing."""
        for role, number in (("producer", producers), ("consumer", consumers)):
            for _ in range(number):
                self.spawn(role)
        deadline = time.monotonic() + STARTING_SECONDS
        while not any(operation.op == "send" and operation.ok for operation in history_of(self.folder)):
            assert time.monotonic() < deadline, "nothing was acknowledged"
            time.sleep(0.05)

    def spawn(self, role: str) -> str:
        """One more; its name."""
        number = sum(name.startswith(role) for name in self.actors)
        path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        words = (role, str(number), self.seed, self.plan_name, self.log, self.folder, "signs" * self.signs)
        self.actors[f"{role}-{number}"] = subprocess.Popen(
            [sys.executable, "-m", "faults.actors", *words], cwd=TESTS, env=os.environ | {"PYTHONPATH": path}
        )
        return f"{role}-{number}"

    def crash(self, name: str) -> None:
        self.actors[name].kill()
        self.actors[name].wait()

    def alive(self, role: str) -> list[str]:
        return [name for name, actor in self.actors.items() if name.startswith(role) and actor.poll() is None]

    def stop(self) -> None:
        wait_until_served(self.client)
        for actor in self.actors.values():
            if actor.poll() is None:
                actor.terminate()
        for name, actor in self.actors.items():
            status = actor.wait(LEAVING_SECONDS)
            assert status in (0, -signal.SIGTERM, -signal.SIGKILL), f"{name} ended with {status}"

    def close(self) -> None:
        for actor in self.actors.values():
            if actor.poll() is None:
                actor.kill()
                actor.wait()
        self.recorder.close()
        self.client.close()

    def count(self) -> None:
        """When nobody works any more: how many messages there are, for the checker to compare with the drain."""

        def total() -> Value:
            return {"total": sum(sum(counts(self.client, queue)) for queue in self.plan.queues)}

        assert self.recorder.attempt("counts", {"queues": self.plan.queues}, total)

    def drain(self) -> None:
        """Receive and delete until nothing comes for longer than any window."""
        consumer = Consumer(self.client, self.recorder, random.Random(0), "drain", self.plan)
        empty, last = 0, time.monotonic()
        deadline = last + DRAIN_SECONDS
        while empty < EMPTY_ROUNDS or time.monotonic() < last + self.plan.longest_window + 1:
            if time.monotonic() > deadline:
                return  # what is wrong will be seen in the history
            messages = [m for line in self.plan.lines for m in consumer.take(line, wait=0, keep=False)]
            empty = 0 if messages else empty + 1
            last = time.monotonic() if messages else last
            time.sleep(0 if messages else 0.2)
        left = {queue: counts(self.client, queue) for queue in self.plan.queues}
        assert set(left.values()) == {(0, 0, 0)}, f"it can never be drained: {left}"

    def finish(self) -> None:
        """Let everyone leave, count, drain."""
        self.stop()
        self.count()
        self.drain()

    def history(self) -> list[Operation]:
        """All that everyone has written down so far."""
        operations = history_of(self.folder)
        sends = [operation for operation in operations if operation.op == "send" and operation.ok]
        count(requests=len(operations), acknowledged=sum(len(send.reply["results"]) for send in sends))
        return operations


def wait_until_served(client: Client, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            client.call("ListQueues")
            return
        except Unknown:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
