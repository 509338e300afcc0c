"""Those who do the work of a run: one client, its queues, its ledger, and a note of how long every call took.

`share` is the script of nearly everything here: for each item a request, and something done with its reply.
"""

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from time import perf_counter
from typing import TypeVar

from penstock.bench.client import Client
from penstock.bench.connection import Script
from penstock.bench.scale.accounts import WIRE, Account, Handled, Place
from penstock.bench.scale.ledger import ScaleLedger
from penstock.bench.scale.plan import Plan
from penstock.bench.scale.report import Histogram
from penstock.bench.scale.server import ScaleServer
from penstock.bench.target import BenchError
from penstock.bench.wire import Acknowledged

BATCH = 10
FIFO_EVERY = 10
"""One queue in ten has groups, so that there is an order to check."""
WAKERS = 8
LONG_SECONDS = 43_200
SAMPLE_AT_LEAST, SAMPLE_SHARE = 10, 100

T = TypeVar("T")
Line = Callable[[str], None]


class Crew:
    """`places` hold the load, `wakers` are empty and waited at."""

    def __init__(self, plan: Plan, server: ScaleServer, tell: Line) -> None:
        self.plan, self.server, self.tell = plan, server, tell
        self.client = Client(server.target)
        run = os.urandom(4).hex()
        self.random = Random(run)
        self.ledger = ScaleLedger(run, plan.every_queue + WAKERS, plan.size)
        accounts = [Account(server.target, server.keys, number) for number in range(plan.accounts)]
        self.places = [self._place(accounts[index % plan.accounts], index) for index in range(plan.every_queue)]
        self.wakers = [
            Place(plan.every_queue + index, accounts[index % plan.accounts], f"scale-{run}-waited-at-{index}")
            for index in range(WAKERS)
        ]
        drained = min(max(1, len(self.places) // 2), max(SAMPLE_AT_LEAST, len(self.places) // SAMPLE_SHARE))
        self.sample = [self.places[0], *self.random.sample(self.places[1:], drained - 1)]
        self.kept: dict[int, list[Handled]] = {place.index: [] for place in self.sample}
        """The receipt handles of what the sample has in flight."""
        self.histograms: dict[str, Histogram] = defaultdict(Histogram)
        self.records: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self.waits = array("d")
        """Calls that were meant to wait: nobody's response time."""
        self.calls = 0
        self.busy_seconds = 0.0

    def _place(self, account: Account, index: int) -> Place:
        return Place(index, account, f"scale-{self.ledger.run}-{index}{'' if index % FIFO_EVERY else '.fifo'}")

    # Running

    def work(
        self,
        scripts: Iterable[Script],
        line: Callable[[], str],
        *,
        seconds: float | None = None,
        mark: Callable[[], None] | None = None,
    ) -> float:
        """Run the scripts, count their calls; the seconds that it took."""
        self.client.progress = lambda: self.tell(line())
        before = perf_counter()
        try:
            return self.client.run(scripts, seconds, mark=mark)
        except (ValueError, KeyError, TypeError) as error:  # of the wire's: whoever answers there is no SQS
            said = " ".join(str(error).split())
            raise BenchError(f"{self.server.target.endpoint} does not answer as SQS does: {said}") from error
        finally:
            self.calls += self.client.requests
            self.busy_seconds += perf_counter() - before

    def fold(self) -> None:
        """Add up the response times noted so far, and forget them one by one."""
        for action, record in self.records.items():
            self.histograms[action].add(record)
            del record[:]
        del self.waits[:]

    def shares(self, places: Sequence[Place]) -> list[list[Place]]:
        """The queues that each connection has for itself: so what one queue is asked has an order."""
        connections = min(self.plan.connections, len(places))
        return [list(places[first::connections]) for first in range(connections)]

    # What is done with queues

    def create(self, places: Sequence[Place]) -> None:
        made = 0

        def take(place: Place, reply: bytes) -> None:
            nonlocal made
            place.url = WIRE.queue_url(reply)
            made += 1

        record = self.records["CreateQueue"]
        scripts = [share(own, record, lambda place: place.create(LONG_SECONDS), take) for own in self.shares(places)]
        self.work(scripts, lambda: f"making queues: {made:,} of {len(places):,}")

    def send_batch(self, place: Place, count: int = BATCH) -> tuple[bytes, range]:
        index, ledger = place.index, self.ledger
        numbers = ledger.next(index, count)
        return place.send_batch((number, ledger.body(index, number)) for number in numbers), numbers

    def acknowledged(self, place: Place, numbers: Sequence[int], answers: Sequence[Acknowledged]) -> None:
        if len(answers) != len(numbers):
            raise BenchError(f"a batch of {len(numbers)} was answered with {len(answers)} results")
        for position, answer in enumerate(answers):
            number = numbers[int(answer.entry or position)]
            if answer.md5 != self.ledger.md5_of(place.index, number) or not answer.message_id:
                raise BenchError(f"a send was answered without an id, or with a wrong MD5: {answer.md5 or 'none'}")
            self.ledger.acknowledge(place.index, number)

    def received(self, place: Place, reply: bytes, *, due_together: bool = False) -> list[Handled]:
        """What came, as far as it is a message of this run."""
        messages = WIRE.received(reply)
        if not messages:
            self.ledger.empty += 1
        found = [
            (
                self.ledger.receive(place.index, message.body, fifo=place.fifo, due_together=due_together),
                message.handle,
            )
            for message in messages
        ]
        return [handled for handled in found if handled[0] >= 0]

    def deleted(self, place: Place, messages: Sequence[Handled]) -> None:
        for number, _ in messages:
            self.ledger.delete(place.index, number)

    def drain(self, places: Sequence[Place], line: str) -> int:
        """Receive and delete all that is visible; how many messages were not found."""
        scripts = [self._drain(own) for own in self.shares(places)]
        self.work(scripts, lambda: f"{line}: {sum(self.ledger.visible(place.index) for place in places):,} to find")
        return sum(max(0, self.ledger.visible(place.index)) for place in places)

    def _drain(self, places: Sequence[Place]) -> Script:
        receives, deletes = self.records["ReceiveMessage ×10"], self.records["DeleteMessageBatch"]
        for place in places:
            empty = 0
            while empty < 2:
                messages = self.received(place, (yield receives, place.receive(BATCH, LONG_SECONDS)))
                empty = 0 if messages else empty + 1
                if messages:
                    WIRE.settled((yield deletes, place.delete_batch(messages)))
                    self.deleted(place, messages)


def share(
    items: Iterable[T], record: "array[float]", ask: Callable[[T], bytes], take: Callable[[T, bytes], object]
) -> Script:
    """Ask for each item, and do something with the reply. Several connections may share one iterator."""
    for item in items:
        take(item, (yield record, ask(item)))


def left(done: int, of: int, since: float) -> str:
    """ "1,000 of 9,000, 500/s, 16 s to go"."""
    if not done:
        return f"0 of {of:,}"
    rate = done / max(1e-9, perf_counter() - since)
    return f"{done:,} of {of:,}, {rate:,.0f}/s, {(of - done) / max(1.0, rate):,.0f} s to go"


def nothing(_item: object, _reply: bytes) -> None:
    """The reply's status says enough."""


def chunks(messages: Sequence[Handled]) -> Iterator[Sequence[Handled]]:
    return (messages[first : first + BATCH] for first in range(0, len(messages), BATCH))
