"""One mode's stay at one server: its queues, its measurements, and nothing left behind."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from penstock.bench.client import Client, TooSlow
from penstock.bench.connection import Script
from penstock.bench.ledger import Ledger
from penstock.bench.results import Latency, Point
from penstock.bench.scripts import Queue, drain
from penstock.bench.target import BenchError, Target
from penstock.bench.watch import Watch

VISIBILITY_SECONDS = 3600
"""Longer than any measurement: a second delivery within one is always wrong."""
LOADERS = 16
COUNTS = ("", "NotVisible", "Delayed")
COUNT_NAMES = [f"ApproximateNumberOfMessages{state}" for state in COUNTS]
COUNTING_PATIENCE_SECONDS = 5
ENOUGH_FOR_DISK = 10_000
"""With fewer messages, what a server lays out beforehand is all that one would see."""


@dataclass(frozen=True)
class Options:
    connections: int
    seconds: float
    size: int
    warmup: float = 0.5
    steps: tuple[int, ...] = ()
    groups: int = 100
    patience_seconds: float = float("inf")
    """How long one step, such as storing a backlog, may take besides what is measured."""
    attributes: tuple[tuple[str, str], ...] = ()
    """Of its queues, besides those that the measurement needs."""


class Session:
    def __init__(
        self, target: Target, mode: str, options: Options, watch: Watch, tell: Callable[[str], None] = lambda line: None
    ) -> None:
        self.client = Client(target)
        self.client.patience_seconds = options.patience_seconds
        self.mode, self.options, self.watch, self._tell = mode, options, watch, tell
        self.run = os.urandom(4).hex()
        self.urls: list[str] = []
        self._stored_before = watch.stored_bytes()

    def ledger(self) -> Ledger:
        return Ledger(self.run, self.options.size)

    def queue(self, *, fifo: bool = False) -> Queue:
        name = f"bench-{self.run}-{len(self.urls)}{'.fifo' if fifo else ''}"
        attributes = dict(self.options.attributes) | {"VisibilityTimeout": str(VISIBILITY_SECONDS)}
        attributes |= {"FifoQueue": "true"} if fifo else {}
        url = self.client.wire.queue_url(self.client.call("CreateQueue", QueueName=name, Attributes=attributes))
        self.urls.append(url)
        return Queue(self.client, url)

    def queues(self, count: int) -> list[Queue]:
        """So many standard queues, made over several connections."""
        names = iter(range(len(self.urls), len(self.urls) + count))
        attributes = {"VisibilityTimeout": str(VISIBILITY_SECONDS)}
        made: list[str] = []

        def script() -> Script:
            record, wire = self.client.latencies("CreateQueue"), self.client.wire
            for number in names:
                name = f"bench-{self.run}-{number}"
                request = self.client.prepared("CreateQueue", QueueName=name, Attributes=attributes).request()
                made.append(wire.queue_url((yield record, request)))

        self.load([script() for _ in range(LOADERS)], lambda: f"making queues: {len(made):,} of {count:,}")
        self.urls += made
        return [Queue(self.client, url) for url in made]

    def load(self, scripts: Iterable[Script], line: Callable[[], str]) -> None:
        """Something that must be there before the measurement."""
        self.client.progress = lambda: self._tell(f"{self.mode}: {line()}")
        try:
            self.client.run(scripts)
        except TooSlow:
            raise BenchError(f"{line()} after {self.options.patience_seconds:.0f} seconds") from None

    def measure(self, scripts: Iterable[Script], ledger: Ledger, at: int | None = None, stored: int = 0) -> Point:
        """Run for the time asked for, and judge. `stored`: messages that lie there besides; they are counted, not
        fetched. A queue that nothing is stored in is emptied, and what is not found is lost."""
        marks: list[tuple[int, int, float, float | None]] = []

        def mark() -> None:
            cpu = self.watch.cpu_seconds()
            marks.append((ledger.deleted, self.client.requests, time.process_time(), cpu))

        disk = self.watch.disk_bytes()
        self.watch.forget_peak()
        self.client.progress = lambda: self._tell(self._line(ledger, at))
        seconds = self.client.run(scripts, self.options.seconds, self.options.warmup, mark)
        (began, _, client_began, cpu_began), (ended, requests, client_ended, cpu_ended) = marks[-2:]
        messages = ended - began
        cpu = None if cpu_began is None or cpu_ended is None else cpu_ended - cpu_began
        return Point(
            mode=self.mode,
            at=at,
            connections=self.options.connections,
            size=self.options.size,
            seconds=seconds,
            messages=messages,
            latencies=self.client.summary(Latency.of),
            cpu_per_1000=None if cpu is None or not messages else cpu / messages * 1000,
            peak_bytes=self.watch.peak_bytes(),
            disk_per_message=self._disk_per_message(disk, messages, stored),
            client_us_per_request=(client_ended - client_began) / max(1, requests) * 1e6,
            problems=ledger.verdict(self._unaccounted(ledger, stored)),
            empty_receives=ledger.empty,
        )

    def _line(self, ledger: Ledger, at: int | None) -> str:
        where = "" if at is None else f" at {at:,}"
        return f"{self.mode}{where}, {self.options.connections} connections: {ledger.deleted:,} messages"

    def _disk_per_message(self, before: int | None, messages: int, stored: int) -> float | None:
        """What a stored message takes; where none is stored, what is left of one that went through."""
        now, count = self.watch.disk_bytes(), messages
        if stored:
            before, now, count = self._stored_before, self.watch.stored_bytes(), stored
        if before is None or now is None or count < ENOUGH_FOR_DISK:
            return None
        return max(0, now - before) / count

    def _unaccounted(self, ledger: Ledger, stored: int) -> int:
        if not stored:
            if ledger.outstanding:
                queues = (Queue(self.client, url) for url in self.urls)
                wait = 1 if len(self.urls) <= LOADERS else 0
                drains = [drain(self.client, ledger, queues, wait) for _ in range(min(LOADERS, len(self.urls)))]
                self.load(drains, lambda: f"looking for {ledger.outstanding:,} messages")
            return ledger.outstanding
        expected = ledger.acknowledged - ledger.deleted
        patience = time.monotonic() + COUNTING_PATIENCE_SECONDS
        while (missing := expected - self.counted()) > 0 and time.monotonic() < patience:
            time.sleep(0.2)
        return max(0, missing)

    def counted(self) -> int:
        """How many messages the server says are in the queues of this session, in any state."""
        total = 0
        for url in self.urls:
            reply = self.client.call("GetQueueAttributes", QueueUrl=url, AttributeNames=COUNT_NAMES)
            attributes = self.client.wire.attributes(reply)
            total += sum(int(attributes.get(name, 0)) for name in COUNT_NAMES)
        return total

    def close(self) -> None:
        """Delete the queues; a server that has gone away needs no tidying."""
        record, urls = self.client.latencies("DeleteQueue"), iter(self.urls)

        def script() -> Script:
            for url in urls:
                yield record, self.client.prepared("DeleteQueue", QueueUrl=url).request()

        with suppress(BenchError, OSError):
            self.load([script() for _ in range(min(LOADERS, len(self.urls)))], lambda: "deleting the queues")
