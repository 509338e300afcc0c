"""`penstock.queue` beside one tuned client, against the same server, in one run: messages a second, and ratios.

    python bench/pipeline_queue.py                              100,000 messages, partitions 1, 2 and 4, three rounds
    python bench/pipeline_queue.py --messages 20000 --rounds 1  less
    python bench/pipeline_queue.py --json out.json

The client is that of `penstock bench`: one process, raw sockets, epoll, sixteen connections, ten messages a request.
It asks for the attributes that the source's columns have, and deletes what it receives, as the source does. Each round
measures the client and then Spark with each number of partitions; a ratio is that of the medians.

    write   rows of a range → queue
    read    queue → nowhere, as a stream with AvailableNow: received, staged, handed to Spark, committed, deleted
    begun   the same from its first batch on: without what a query costs to start, and with all that it deletes

Server, client and Spark share this machine: what one of them takes, the others lack.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from penstock.bench.client import Client
from penstock.bench.connection import Script
from penstock.bench.own_server import running
from penstock.bench.report import aligned
from penstock.bench.scripts import BATCH, Queue
from penstock.bench.target import Target
from penstock.pipeline.session import session

CONNECTIONS = 16
BODY = "x" * 250
ATTRIBUTES = {"MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"]}


class TunedClient:
    """Sends and drains as fast as one process can."""

    def __init__(self, target: Target, url: str) -> None:
        self._client = Client(target)
        self._queue = Queue(self._client, url)
        self._left = 0

    def send(self, messages: int) -> float:
        self._left = messages
        return messages / self._client.run([self._sending() for _ in range(CONNECTIONS)])

    def drain(self, messages: int) -> float:
        self._left = messages
        return messages / self._client.run([self._draining() for _ in range(CONNECTIONS)])

    def _sending(self) -> Script:
        wire, noted = self._client.wire, self._client.latencies("SendMessageBatch")
        entries = wire.send_entries([BODY.encode()] * BATCH)
        while self._left > 0:
            self._left -= BATCH
            reply = yield noted, self._queue.send_batch(entries)
            assert len(wire.acknowledged_batch(reply)) == BATCH

    def _draining(self) -> Script:
        wire = self._client.wire
        receives, deletes = self._client.latencies("ReceiveMessage"), self._client.latencies("DeleteMessageBatch")
        asked = {"QueueUrl": self._queue.url, "MaxNumberOfMessages": BATCH, "WaitTimeSeconds": 1, **ATTRIBUTES}
        receive = self._client.prepared("ReceiveMessage", **asked).constant
        while self._left > 0:
            messages = wire.received((yield receives, receive()))
            self._left -= len(messages)
            if messages:
                handles = wire.delete_entries(message.handle for message in messages)
                assert wire.settled((yield deletes, self._queue.delete_batch(handles))) == len(messages)


class Source:
    """The same by Spark."""

    def __init__(self, spark: SparkSession, target: Target, url: str, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._options = {"queueUrl": url, "accessKey": target.access_key, "secretKey": target.secret_key}
        self._turn = 0

    def write(self, messages: int, partitions: int) -> float:
        rows = self._spark.range(0, messages, 1, partitions).selectExpr(f"'{BODY}' as body")
        began = time.perf_counter()
        rows.write.format("penstock.queue").options(**self._options).mode("append").save()
        return messages / (time.perf_counter() - began)

    def read(self, messages: int, partitions: int) -> tuple[float, float]:
        """From the start of the query, and from that of its first batch, to its end."""
        self._turn += 1
        own = self._folder / str(self._turn)
        options = self._options | {"stagingLocation": str(own / "staging"), "numPartitions": str(partitions)}
        began = time.perf_counter()
        stream = self._spark.readStream.format("penstock.queue").options(**options).load().writeStream.format("noop")
        query = stream.option("checkpointLocation", str(own / "checkpoint")).trigger(availableNow=True).start()
        query.awaitTermination()
        took, ended = time.perf_counter() - began, time.time()
        progress = query.recentProgress
        assert sum(one.numInputRows for one in progress) == messages
        return messages / took, messages / (ended - datetime.fromisoformat(progress[0].timestamp).timestamp())


def measured(target: Target, folder: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    url = json.loads(Client(target).call("CreateQueue", QueueName="spark"))["QueueUrl"]
    spark = session("bench", f"local[{max(options.partitions)}]", settings={"spark.ui.enabled": "false"})
    client, source = TunedClient(target, url), Source(spark, target, url, folder)
    source.write(1_000, 2)
    source.read(1_000, 2)  # Spark compiles as it goes: let it have been there before
    figures: dict[str, list[float]] = {}

    def note(name: str, figure: float) -> None:
        figures.setdefault(name, []).append(figure)
        print(f"  {name}: {figure:,.0f}/s", file=sys.stderr)

    for _ in range(options.rounds):
        note("client write", client.send(options.messages))
        note("client read", client.drain(options.messages))
        for partitions in options.partitions:
            note(f"write {partitions}", source.write(options.messages, partitions))
            whole, begun = source.read(options.messages, partitions)
            note(f"read {partitions}", whole)
            note(f"begun {partitions}", begun)
    spark.stop()
    return figures


def table(figures: dict[str, list[float]], partitions: Sequence[int]) -> str:
    headings = ["", "client", *(f"{number} partition{'s' * (number > 1)}" for number in partitions)]
    cells = []
    for name, against in (("write", "client write"), ("read", "client read"), ("begun", "client read")):
        client = median(figures[against])
        ours = [median(figures[f"{name} {number}"]) for number in partitions]
        cells.append([name, f"{client:,.0f}", *(f"{figure:,.0f} ({figure / client:.2f} ×)" for figure in ours)])
    return "\n".join(aligned(headings, cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name), os.environ) as server:
        figures = measured(server.target, Path(name), options)
    print(table(figures, options.partitions))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
