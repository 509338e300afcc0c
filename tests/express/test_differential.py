"""The same requests, in the same order, of a server with native code and of one without: the same replies, the same
messages left behind, the same lines in the journal. And each can go on with what the other has left.

The seed of a run is in its name. `PENSTOCK_HYPOTHESIS=thorough` tries more of them.
"""

import asyncio
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server_process import clean_environment

from .conftest import Start
from .lane import WARM, Json, Line, Reply, Site, told, until

SEEDS = range(40 if os.environ.get("PENSTOCK_HYPOTHESIS") == "thorough" else 3)
STEPS = 250
LINES = 3
DEAD = json.dumps({"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:grave", "maxReceiveCount": 2})
QUEUES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "grave": ({}, {}),
    "plain": ({}, {}),
    "clear": ({"SqsManagedSseEnabled": "false"}, {"penstock:journal": "full"}),
    "quiet": ({}, {"penstock:journal": "off"}),
    "fair": ({}, {"penstock:journal": "full"}),
    "late": ({"DelaySeconds": "900"}, {}),
    "dying": ({"RedrivePolicy": DEAD}, {}),
    "line.fifo": ({"FifoQueue": "true"}, {"penstock:journal": "full"}),
    "content.fifo": ({"FifoQueue": "true", "ContentBasedDeduplication": "true"}, {}),
}
Asked = tuple[int, str, str, Callable[[str, list[str]], Json]]
"""Which connection, the operation, the queue, and the body, made of the queue's URL and the handles that came."""


class Life:
    """Requests as chance has them."""

    def __init__(self, seed: int) -> None:
        self.rng, self.sent = random.Random(seed), 0

    def asked(self) -> Iterator[Asked]:
        kinds = [self.send, self.send, self.send, self.batch, self.receive, self.receive, self.delete, self.deletes]
        for _ in range(STEPS):
            queue = self.rng.choice([*QUEUES])
            action, body = self.rng.choice([*kinds, self.hide, self.odd])(queue)
            yield self.rng.randrange(LINES), action, queue, body

    def message(self, queue: str) -> Json:
        rng = self.rng
        self.sent += 1
        message: Json = {"MessageBody": f"{self.sent} {rng.choice(['', 'é', 'x' * 2500, chr(34) * 3, '😀' * 40])}"}
        if queue.endswith(".fifo"):
            message["MessageGroupId"] = rng.choice("gh")
            if queue == "line.fifo" or rng.random() < 0.3:
                message["MessageDeduplicationId"] = f"d{rng.randrange(60)}"
        elif queue == "fair" and rng.random() < 0.7:
            message["MessageGroupId"] = rng.choice("abc")
        if rng.random() < 0.1:
            message["MessageAttributes"] = {"bus.type": {"DataType": "String", "StringValue": "order"}}
        if rng.random() < 0.05 and not queue.endswith(".fifo"):
            message["DelaySeconds"] = 600
        return message

    def send(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        message = self.message(queue)
        return "SendMessage", lambda url, handles: {"QueueUrl": url, **message}

    def batch(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        number = self.rng.choice([1, 2, 10])
        entries = [{"Id": f"e{n}", **self.message(queue)} for n in range(number)]
        return "SendMessageBatch", lambda url, handles: {"QueueUrl": url, "Entries": entries}

    def receive(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        rng, asked = self.rng, Json()
        if rng.random() < 0.7:
            asked["MaxNumberOfMessages"] = rng.choice([1, 3, 10])
        if rng.random() < 0.5:
            asked["VisibilityTimeout"] = rng.choice([0, 600])
        if rng.random() < 0.2:
            asked["AttributeNames"] = ["MessageGroupId", "ApproximateReceiveCount", "MessageDeduplicationId"]
            asked["MessageAttributeNames"] = ["All"]
        return "ReceiveMessage", lambda url, handles: {"QueueUrl": url, "WaitTimeSeconds": 0, **asked}

    def delete(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        place = self.rng.random()
        return "DeleteMessage", lambda url, handles: {"QueueUrl": url, "ReceiptHandle": chosen(handles, place)}

    def deletes(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        places = [self.rng.random() for _ in range(self.rng.choice([1, 3, 10]))]

        def body(url: str, handles: list[str]) -> Json:
            different = dict.fromkeys(chosen(handles, place) for place in places)
            return {"QueueUrl": url, "Entries": [{"Id": f"e{n}", "ReceiptHandle": h} for n, h in enumerate(different)]}

        return "DeleteMessageBatch", body

    def hide(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        place, seconds = self.rng.random(), self.rng.choice([0, 600])
        return "ChangeMessageVisibility", lambda url, handles: {
            "QueueUrl": url,
            "ReceiptHandle": chosen(handles, place),
            "VisibilityTimeout": seconds,
        }

    def odd(self, queue: str) -> tuple[str, Callable[[str, list[str]], Json]]:
        action, odd = self.rng.choice(
            [
                ("SendMessage", {"MessageBody": ""}),
                ("SendMessage", {"MessageBody": "\x01"}),
                ("SendMessage", {"MessageBody": "m", "Colour": "blue"}),
                ("SendMessage", {"MessageBody": "m", "MessageGroupId": ""}),
                ("SendMessageBatch", {"Entries": []}),
                ("ReceiveMessage", {"MaxNumberOfMessages": 11}),
                ("ReceiveMessage", {"WaitTimeSeconds": 21}),
                ("DeleteMessage", {"ReceiptHandle": "AAAA"}),
                ("GetQueueAttributes", {"AttributeNames": ["ApproximateNumberOfMessages", "RedrivePolicy"]}),
            ]
        )
        return action, lambda url, handles: {"QueueUrl": url, **odd}


def chosen(handles: list[str], place: float) -> str:
    return handles[-1 - int(place * min(20, len(handles)))] if handles else "none"


class Run:
    """One server, and what came of asking it."""

    def __init__(self, site: Site) -> None:
        self.site, self.handles = site, dict[str, list[str]]()

    async def begin(self) -> None:
        for name, (attributes, tags) in QUEUES.items():
            await self.site.create(name, tags, **attributes)
        self.lines = [await self.site.lent_line() for _ in range(LINES)]

    async def ask(self, which: int, action: str, queue: str, body: Callable[[str, list[str]], Json]) -> Reply:
        await a_moment(self.site)
        handles = self.handles.setdefault(queue, [])
        reply = await self.lines[which].ask(action, body(self.site.url(queue), handles))
        if action == "ReceiveMessage" and reply.status == 200:
            handles += [message["ReceiptHandle"] for message in reply.json.get("Messages", [])]
        return reply

    async def left(self) -> dict[str, Any]:
        return {name: (await self.site.peek(name), await self.site.counts(name)) for name in QUEUES}


async def a_moment(site: Site) -> None:
    """No two requests are of one millisecond: which of two messages is the older is the same on all servers."""
    now = site.server.clock.now()
    await until(lambda: site.server.clock.now() > now)


TIMES = {"node", "seq", "ts_ms", "sent_ms", "first_receive_ms"}


def journal_of(site: Site) -> list[Json]:
    """Its lines but for ids, numbers and times, queue by queue."""
    ids: dict[str, int] = {}
    lines = []
    for path in sorted(site.server.settings.journal_directory.rglob("*.jsonl*")):
        data = path.read_bytes()
        lines += [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]
    lines.sort(key=lambda line: line["seq"])
    assert [line["seq"] for line in lines] == list(range(lines[0]["seq"], lines[0]["seq"] + len(lines)))
    told = []
    for line in lines:
        if line["event"] != "GAUGE" and line["queue"] != WARM:
            if "message_id" in line:
                line["message_id"] = ids.setdefault(line["message_id"], len(ids))
            if line["event"] not in ("SENT", "VISIBILITY_CHANGED"):
                line.pop("duration_ms", None)
            told.append({name: value for name, value in line.items() if name not in TIMES})
    return told


def verified(folder: Path) -> str:
    command = [sys.executable, "-m", "penstock", "journal", "verify", "--data", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def everything(site: Site) -> dict[str, list[str]]:
    """All that can be had from each queue, with plain requests of a lent connection."""
    line = await site.lent_line("ReceiveMessage", "DeleteMessage")
    found: dict[str, list[str]] = {}
    for name in QUEUES:
        body: Json = {"QueueUrl": site.url(name), "MaxNumberOfMessages": 10}
        found[name] = []
        while messages := (await line.ask("ReceiveMessage", body)).json.get("Messages"):
            for message in messages:
                found[name].append(message["Body"])
                handle = {"QueueUrl": body["QueueUrl"], "ReceiptHandle": message["ReceiptHandle"]}
                assert (await line.ask("DeleteMessage", handle)).status == 200
    return found


KINDS: dict[str, dict[str, bool]] = {"all native": {}, "a store in Python": {"native_store": False}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
async def test_with_and_without_native_code_everything_is_the_same(
    start: Start, folder: Path, seed: int, kind: str
) -> None:
    runs = [Run(await start("native", **KINDS[kind])), Run(await start("python", native=False))]
    for run in runs:
        await run.begin()
    native, python = runs
    begun = native.site.answered
    for step, (which, action, queue, body) in enumerate(Life(seed).asked()):
        replies = [await run.ask(which, action, queue, body) for run in runs]
        said, expected = (told(reply, run.site.host) for run, reply in zip(runs, replies, strict=True))
        assert said == expected, f"seed {seed}, step {step}: {action} of {queue}"
    assert native.site.answered - begun > STEPS / 8
    assert python.site.answered == 0
    assert await native.left() == await python.left()
    for run in runs:
        await run.site.stop()
    assert journal_of(native.site) == journal_of(python.site)
    if kind == "all native":
        for name in ("native", "python"):
            verified(folder / name)
        swapped = [await start("native", native=False), await start("python")]
        assert await everything(swapped[0]) == await everything(swapped[1])
        for site in swapped:
            await site.stop()
            verified(site.server.settings.data)


async def test_what_is_sent_at_once_by_many_is_the_same(start: Start) -> None:
    left = []
    for name, native in (("native", True), ("python", False)):
        site = await start(name, native=native)
        url = await site.create("orders")
        lines = [await site.lent_line("SendMessage", "ReceiveMessage", "DeleteMessage") for _ in range(20)]

        async def life(line: Line, place: int, url: str = url) -> list[str]:
            found = []
            for n in range(10):
                await line.ask("SendMessage", {"QueueUrl": url, "MessageBody": f"{place} {n}"})
                (message,) = (await line.ask("ReceiveMessage", {"QueueUrl": url})).json["Messages"]
                found.append(message["Body"])
                if n % 2:
                    handle = message["ReceiptHandle"]
                    await line.ask("DeleteMessage", {"QueueUrl": url, "ReceiptHandle": handle})
            return found

        found = await asyncio.gather(*(life(line, place) for place, line in enumerate(lines)))
        left.append((sorted(body for bodies in found for body in bodies), (await site.counts("orders"))[:3]))
        await site.stop()
        events = sorted(line["event"] for line in journal_of(site) if line["queue"] == "orders")
        left[-1] += (events,)
    assert left[0] == left[1]
