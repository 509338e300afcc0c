"""Producers and consumers that write down everything they do: standard, FIFO and dead-lettered queues, one seed.

Each actor is a thread with a connection and a source of randomness of its own. An actor never gives up: when its
server is gone it waits for the next one.
"""

import json
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server_process import Server

from .client import Client, Unknown, counts, create, dead_letters
from .history import Recorder, Value

PLAIN, ORDERED, DYING, DEAD = "plain", "ordered.fifo", "dying", "dead"
QUEUES = (PLAIN, ORDERED, DYING, DEAD)
MOST_RECEIVES = 3
GROUPS = 8
WINDOW_SECONDS = {PLAIN: 2, ORDERED: 2, DYING: 1, DEAD: 2}
DELETED = {PLAIN: 0.7, ORDERED: 0.7, DYING: 0.1, DEAD: 0.9}
"""How much of what it receives a consumer deletes, and how long it has for that."""
EMPTY_ROUNDS = 3
DRAIN_SECONDS = 60
PACE_SECONDS = 0.01


class Workload:
    def __init__(self, server: Server, history: Path, seed: str) -> None:
        self.server, self.seed = server, seed
        self.recorder = Recorder(history)
        self.client = Client(server)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._clients = [self.client]

    def prepare(self) -> None:
        made: dict[str, Value] = {name: {} for name in (PLAIN, ORDERED, DEAD)}
        made[DYING] = {"dead_letters": DEAD, "max_receives": MOST_RECEIVES}
        for queue, policy in made.items():
            redrive = {"RedrivePolicy": dead_letters(DEAD, MOST_RECEIVES)} if policy else {}
            create(self.client, queue, **redrive)
            self.recorder.attempt("queue", {"queue": queue, **policy}, dict)

    def start(self, producers: int, consumers: int) -> None:
        for number in range(producers):
            self._spawn(Producer, number)
        for number in range(consumers):
            self._spawn(Consumer, number)

    def _spawn(self, actor: Callable[..., "Producer | Consumer"], number: int) -> None:
        rng = random.Random(f"{self.seed} {actor.__name__} {number}")
        self._clients.append(Client(self.server))
        turn = actor(self._clients[-1], self.recorder, rng, number).turn
        thread = threading.Thread(target=self._run, args=(turn,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, turn: Callable[[], bool]) -> None:
        while not self._stop.is_set():
            if not turn():
                self._stop.wait(0.05)

    def stop(self) -> None:
        wait_until_served(self.client)
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client is stuck"

    def close(self) -> None:
        self.recorder.close()
        for client in self._clients:
            client.close()

    def count(self) -> None:
        """When nobody works any more: how many messages there are, for the checker to compare with the drain."""

        def total() -> Value:
            return {"total": sum(sum(counts(self.client, queue)) for queue in QUEUES)}

        assert self.recorder.attempt("counts", {"queues": QUEUES}, total)

    def drain(self) -> None:
        """Receive and delete until nothing comes for longer than any window."""
        consumer = Consumer(self.client, self.recorder, random.Random(0), 0)
        empty, last = 0, time.monotonic()
        deadline = last + DRAIN_SECONDS
        while empty < EMPTY_ROUNDS or time.monotonic() < last + max(WINDOW_SECONDS.values()) + 1:
            if time.monotonic() > deadline:
                return  # what is wrong will be seen in the history
            messages = [m for queue in QUEUES for m in consumer.take(queue, wait=0, keep=False)]
            empty = 0 if messages else empty + 1
            last = time.monotonic() if messages else last
            time.sleep(0 if messages else 0.2)
        assert [counts(self.client, queue) for queue in QUEUES] == [(0, 0, 0)] * len(QUEUES), "it can never be drained"


class Producer:
    def __init__(self, client: Client, recorder: Recorder, rng: random.Random, number: int) -> None:
        self._client, self._recorder, self._rng, self._number = client, recorder, rng, number
        self._sent = 0

    def turn(self) -> bool:
        queue = self._rng.choice((PLAIN, PLAIN, PLAIN, ORDERED, ORDERED, ORDERED, DYING))
        entries = [self._entry(queue) for _ in range(self._rng.choice((1, 1, 1, 5, 10)))]
        for _ in range(3 if queue == ORDERED else 1):
            if self._send(queue, entries) is not None:
                time.sleep(PACE_SECONDS)
                return True
            time.sleep(0.02)
        return False

    def _entry(self, queue: str) -> Value:
        self._sent += 1
        name = f"{self._number}-{self._sent}"
        body = json.dumps({"name": name, "filling": "é" * self._rng.choice((0, 10, 1000))})
        if queue == ORDERED:
            return {"body": body, "group": f"g{self._rng.randrange(GROUPS)}", "dedup": f"d{name}"}
        return {"body": body} | ({"delay": 1} if self._rng.random() < 0.05 else {})

    def _send(self, queue: str, entries: list[Value]) -> Value | None:
        fields = {"body": "MessageBody", "group": "MessageGroupId", "dedup": "MessageDeduplicationId"}
        fields["delay"] = "DelaySeconds"
        asked = [{fields[k]: v for k, v in e.items()} | {"Id": str(n)} for n, e in enumerate(entries)]

        def act() -> Value:
            reply = self._client.call("SendMessageBatch", queue, Entries=asked)
            assert not reply.get("Failed"), reply["Failed"]
            assert [entry["Id"] for entry in reply["Successful"]] == [entry["Id"] for entry in asked]
            return {"results": [_named(entry, "MessageId") for entry in reply["Successful"]]}

        return self._recorder.attempt("send", {"queue": queue, "entries": entries}, act)


class Consumer:
    def __init__(self, client: Client, recorder: Recorder, rng: random.Random, number: int) -> None:
        self._client, self._recorder, self._rng = client, recorder, rng

    def turn(self) -> bool:
        queue = self._rng.choice((PLAIN, PLAIN, ORDERED, ORDERED, DYING, DYING, DEAD))
        return bool(self.take(queue, wait=self._rng.choice((0, 0, 1)), keep=True))

    def take(self, queue: str, wait: int, keep: bool) -> list[Value]:
        """Receive, and delete: all, or (as real consumers do) most."""

        def act() -> Value:
            reply = self._client.call(
                "ReceiveMessage", queue, MaxNumberOfMessages=10, VisibilityTimeout=WINDOW_SECONDS[queue],
                WaitTimeSeconds=wait, MessageSystemAttributeNames=["All"],
            )  # fmt: skip
            return {"messages": [_message(message) for message in reply.get("Messages", [])]}

        reply = self._recorder.attempt("receive", {"queue": queue, "visibility": WINDOW_SECONDS[queue]}, act)
        messages: list[Value] = reply["messages"] if reply else []
        if keep and messages and self._rng.random() < 0.2:
            self._change(queue, self._rng.choice(messages[:3])["handle"])
        done = [m["handle"] for m in messages if not keep or self._rng.random() < DELETED[queue]]
        if queue == ORDERED:  # a careful consumer deletes in order, and stops at the first it could not do
            done = [m["handle"] for m in messages[: len(done)]]
        if done:
            self._delete(queue, done)
        return messages

    def _delete(self, queue: str, handles: list[str]) -> None:
        asked = [{"Id": str(number), "ReceiptHandle": handle} for number, handle in enumerate(handles)]

        def act() -> Value:
            reply = self._client.call("DeleteMessageBatch", queue, Entries=asked)
            failed = {entry["Id"]: entry["Code"] for entry in reply.get("Failed", [])}
            assert len(failed) + len(reply.get("Successful", [])) == len(asked)
            return {"results": [failed.get(entry["Id"]) for entry in asked]}

        self._recorder.attempt("delete", {"queue": queue, "handles": handles}, act)

    def _change(self, queue: str, handle: str) -> None:
        seconds = self._rng.choice((0, 0, 1, WINDOW_SECONDS[queue]))
        self._recorder.attempt(
            "change",
            {"queue": queue, "handle": handle, "seconds": seconds},
            lambda: self._client.call(
                "ChangeMessageVisibility", queue, ReceiptHandle=handle, VisibilityTimeout=seconds
            ),
        )


def _message(message: dict[str, Any]) -> Value:
    attributes = message["Attributes"]
    return _named(message | attributes, "MessageId") | {
        "body": message["Body"],
        "md5": message["MD5OfBody"],
        "handle": message["ReceiptHandle"],
        "count": int(attributes["ApproximateReceiveCount"]),
        "group": attributes.get("MessageGroupId"),
    }


def _named(found: dict[str, Any], name: str) -> Value:
    return {"id": found[name], "sequence": found.get("SequenceNumber")}


def wait_until_served(client: Client, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            client.call("ListQueues")
            return
        except Unknown:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
