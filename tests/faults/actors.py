"""Producers and consumers, each a process of its own that writes down everything it does: `python -m faults.actors`.

An actor never gives up: when its server is gone it waits for the next one. It leaves when it is told to (SIGTERM), or
when it has sent what it was to send. What it does depends on its seed and on what it is answered, and on nothing else.
"""

import base64
import json
import random
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .client import Announced, Client
from .history import Recorder, Value
from .plans import PLANS, Line, Plan

REQUEST_NAMES = {
    "body": "MessageBody", "group": "MessageGroupId", "dedup": "MessageDeduplicationId", "delay": "DelaySeconds",
}  # fmt: skip
REMEMBERED = 50


class Producer:
    """Repeats what it does not know the outcome of, where that is safe: on queues that deduplicate."""

    def __init__(self, client: Client, recorder: Recorder, rng: random.Random, name: str, plan: Plan) -> None:
        self._client, self._recorder, self._rng, self._name, self._plan = client, recorder, rng, name, plan
        self._sent = 0

    @property
    def is_done(self) -> bool:
        return 0 < self._plan.messages <= self._sent

    def turn(self) -> bool:
        line = chosen(self._rng, self._plan, lambda line: line.sends)
        entries = [self._entry(line) for _ in range(self._rng.choice(self._plan.batches))]
        for _ in range(20 if line.fifo else 1):
            if self.send(line.queue, entries) is not None:
                time.sleep(self._plan.pace_seconds)
                return True
            time.sleep(0.1)
        return False

    def _entry(self, line: Line) -> Value:
        self._sent += 1
        filling = "é" * self._rng.choice((0, 10, 1000))
        if line.groups:
            group = f"g{self._rng.randrange(line.groups)}"
            return {"body": self._body(filling, group), "group": group, "dedup": f"{self._name}-{self._sent}"}
        return {"body": self._body(filling, None)} | ({"delay": 1} if self._rng.random() < 0.05 else {})

    def _body(self, filling: str, group: str | None) -> str:
        return json.dumps({"producer": self._name, "n": self._sent, "group": group, "filling": filling})

    def send(self, queue: str, entries: list[Value]) -> Value | None:
        asked = [{REQUEST_NAMES[k]: v for k, v in e.items()} | {"Id": str(n)} for n, e in enumerate(entries)]

        def act() -> Value:
            reply = self._client.call("SendMessageBatch", queue, Entries=asked)
            results = {entry["Id"]: named(entry, "MessageId") for entry in reply.get("Successful", [])}
            results |= {entry["Id"]: {"error": entry["Code"]} for entry in reply.get("Failed", [])}
            return {"results": [results[entry["Id"]] for entry in asked if entry["Id"] in results]}

        return self._recorder.attempt("send", {"queue": queue, "entries": entries}, act)


class Consumer:
    def __init__(self, client: Client, recorder: Recorder, rng: random.Random, name: str, plan: Plan) -> None:
        self._client, self._recorder, self._rng, self._plan = client, recorder, rng, plan
        self._old: deque[tuple[str, str]] = deque(maxlen=REMEMBERED)
        self.is_done = False

    def turn(self) -> bool:
        line = chosen(self._rng, self._plan, lambda line: line.receives)
        if self._rng.random() < self._plan.mischief:
            self._try_what_must_fail(line.queue)
        return bool(self.take(line, wait=self._rng.choice(self._plan.waits), keep=True))

    def take(self, line: Line, wait: int, keep: bool) -> list[Value]:
        """Receive, and delete: all, or (as real consumers do) most."""
        messages = self._receive(line, wait)
        if keep and messages and self._rng.random() < self._plan.changes:
            self._change(line, self._rng.choice(messages[:3])["handle"])
        done = [m for m in messages if not keep or self._rng.random() < line.deleted]
        if line.fifo:  # a careful consumer deletes in order, and stops at the first it could not do
            done = messages[: len(done)]
        if done:
            self._delete(line.queue, [message["handle"] for message in done])
        self._old.extend((line.queue, m["handle"]) for m in messages if m not in done)
        return messages

    def _receive(self, line: Line, wait: int) -> list[Value]:
        window = self._rng.randint(*line.window)

        def act() -> Value:
            reply = self._client.call(
                "ReceiveMessage", line.queue, MaxNumberOfMessages=10, VisibilityTimeout=window, WaitTimeSeconds=wait,
                MessageSystemAttributeNames=["All"],
            )  # fmt: skip
            return {"messages": [seen_of(message) for message in reply.get("Messages", [])]}

        reply = self._recorder.attempt("receive", {"queue": line.queue, "visibility": window, "wait": wait}, act)
        return reply["messages"] if reply else []

    def _delete(self, queue: str, handles: list[str]) -> None:
        asked = [{"Id": str(number), "ReceiptHandle": handle} for number, handle in enumerate(handles)]

        def act() -> Value:
            reply = self._client.call("DeleteMessageBatch", queue, Entries=asked)
            results = {entry["Id"]: None for entry in reply.get("Successful", [])}
            results |= {entry["Id"]: entry["Code"] for entry in reply.get("Failed", [])}
            return {"results": [results[entry["Id"]] for entry in asked if entry["Id"] in results]}

        self._recorder.attempt("delete", {"queue": queue, "handles": handles}, act)

    def _change(self, line: Line, handle: str) -> None:
        seconds = self._rng.choice((0, 0, 1, line.window[1]))
        self._recorder.attempt(
            "change",
            {"queue": line.queue, "handle": handle, "seconds": seconds},
            lambda: self._client.call(
                "ChangeMessageVisibility", line.queue, ReceiptHandle=handle, VisibilityTimeout=seconds
            ),
        )

    def _try_what_must_fail(self, queue: str) -> None:
        """Old handles, which others may have got the message after; and tampered and foreign ones."""
        if not self._old:
            return
        whose, handle = self._rng.choice(self._old)
        kind = self._rng.choice(("old", "old", "tampered", "foreign"))
        if kind == "tampered":
            raw = base64.b64decode(handle)
            handle = base64.b64encode(raw[:-1] + bytes([raw[-1] ^ 1])).decode()
        self._delete(queue if kind == "foreign" else whose, [handle])


def chosen(rng: random.Random, plan: Plan, weight: Callable[[Line], int]) -> Line:
    return rng.choices(plan.lines, [weight(line) for line in plan.lines])[0]


def seen_of(message: dict[str, Any]) -> Value:
    attributes = message["Attributes"]
    return named(message | attributes, "MessageId") | {
        "body": message["Body"],
        "md5": message["MD5OfBody"],
        "handle": message["ReceiptHandle"],
        "count": int(attributes["ApproximateReceiveCount"]),
        "group": attributes.get("MessageGroupId"),
    }


def named(found: dict[str, Any], name: str) -> Value:
    return {"id": found[name], "sequence": found.get("SequenceNumber")}


ROLES = {"producer": Producer, "consumer": Consumer}


def main(role: str, number: str, seed: str, plan: str, log: str, history: str, signs: str) -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    name = f"{role}-{number}"
    client = Client(Announced(Path(log)), seconds=PLANS[plan].patience_seconds, signs=bool(signs))
    recorder = Recorder(Path(history) / f"{name}.jsonl")
    actor = ROLES[role](client, recorder, random.Random(f"{seed} {name}"), name, PLANS[plan])
    while not (stop.is_set() or actor.is_done):
        if not actor.turn():
            stop.wait(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
