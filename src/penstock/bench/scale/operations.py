"""What each operation costs: a slice of calls of one kind after the other, round after round, on random queues.

A round leaves the store as it was: what it sends it receives and deletes. Slices are apart so that the server's
processor time can be told by operation; rounds are short so that a noisy second does not hit one operation alone.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import TypeVar

from penstock.bench.connection import PAUSE, Script
from penstock.bench.results import Latency
from penstock.bench.scale.accounts import WIRE, Handled, Place
from penstock.bench.scale.crew import BATCH, LONG_SECONDS, Crew, chunks, nothing, share
from penstock.bench.scale.report import Cost
from penstock.bench.target import BenchError

SINGLES, TENS, WAKES_EACH = 800, 160, 4
WORKERS = 16
CHANGED_SECONDS = 3600
PARKED_SECONDS, PARKING_SECONDS = 20, 0.01
WAKE = "long poll wake"
OPERATIONS = (
    "SendMessage",
    "SendMessageBatch",
    "ReceiveMessage",
    "ReceiveMessage ×10",
    "ChangeMessageVisibility",
    WAKE,
    "GetQueueAttributes",
    "GetQueueUrl",
    "ListQueues",
    "DeleteMessage",
    "DeleteMessageBatch",
)

T = TypeVar("T")
Taken = tuple[Place, list[Handled]]


class Rounds:
    def __init__(self, crew: Crew, name: str) -> None:
        self.crew, self._name, self.until = crew, name, perf_counter()
        self._latencies: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self._cpu: dict[str, float] = defaultdict(float)
        self._knows_cpu = crew.server.watch.cpu_seconds() is not None

    def warm_up(self) -> None:
        """Both sides; it is not counted."""
        self.round()
        self._latencies.clear()
        self._cpu.clear()

    def costs(self) -> dict[str, Cost]:
        return {operation: self._cost(operation) for operation in OPERATIONS}

    def _cost(self, operation: str) -> Cost:
        times = Latency.of(self._latencies[operation])
        cpu = self._cpu[operation] / times.count * 1e6 if self._knows_cpu else None
        return Cost(times.count, times.p50, times.p95, times.p99, cpu)

    def round(self) -> None:
        crew, choose = self.crew, self.crew.random.choices
        singles, tens = choose(crew.places, k=SINGLES), choose(crew.places, k=TENS)
        taken: list[Taken] = []

        def take(place: Place, reply: bytes) -> None:
            taken.append((place, crew.received(place, reply)))

        self._send_singly(singles)
        self._send_in_batches(tens)
        self._slice("ReceiveMessage", singles, lambda place: place.receive(1, LONG_SECONDS), take)
        alone = [(place, message) for place, messages in taken for message in messages]
        del taken[:]
        self._slice("ReceiveMessage ×10", tens, lambda place: place.receive(BATCH, LONG_SECONDS), take)
        self._slice(
            "ChangeMessageVisibility", alone, lambda one: one[0].change_visibility(one[1][1], CHANGED_SECONDS), nothing
        )
        self._wake(taken)
        self._slice("GetQueueAttributes", singles, lambda place: place.attributes("All"), nothing)
        self._slice("GetQueueUrl", singles, Place.get_url, nothing)
        self._slice("ListQueues", singles, Place.list, nothing)
        self._slice(
            "DeleteMessage",
            alone,
            lambda one: one[0].delete(one[1][1]),
            lambda one, reply: crew.deleted(one[0], [one[1]]),
        )
        batches = [(place, chunk) for place, messages in taken for chunk in chunks(messages)]
        self._slice("DeleteMessageBatch", batches, lambda one: one[0].delete_batch(one[1]), self._settle)

    def _send_singly(self, places: Sequence[Place]) -> None:
        crew, ledger = self.crew, self.crew.ledger
        numbered = ((place, ledger.next(place.index, 1)) for place in places)
        self._slice(
            "SendMessage",
            numbered,
            lambda one: one[0].send(ledger.body(one[0].index, one[1][0]), one[1][0]),
            lambda one, reply: crew.acknowledged(*one, [WIRE.acknowledged(reply)]),
        )

    def _send_in_batches(self, places: Sequence[Place]) -> None:
        crew = self.crew
        ready = ((place, *crew.send_batch(place)) for place in places)
        self._slice(
            "SendMessageBatch",
            ready,
            lambda one: one[1],
            lambda one, reply: crew.acknowledged(one[0], one[2], WIRE.acknowledged_batch(reply)),
        )

    def _settle(self, one: tuple[Place, Sequence[Handled]], reply: bytes) -> None:
        if WIRE.settled(reply) != len(one[1]):
            raise BenchError(f"a batch of {len(one[1])} deletes was answered otherwise")
        self.crew.deleted(*one)

    # Slices

    def _slice(
        self, operation: str, items: Iterable[T], ask: Callable[[T], bytes], take: Callable[[T, bytes], object]
    ) -> None:
        shared, record = iter(items), array("d")
        self._measure(operation, (share(shared, record, ask, take) for _ in range(WORKERS)), record)
        self.crew.records[operation].extend(record)

    def _wake(self, taken: list[Taken]) -> None:
        record = array("d")
        pairs = [Pair(self.crew, place, record, taken) for place in self.crew.wakers]
        self._measure(WAKE, (script for pair in pairs for script in (pair.park(), pair.ring())), record)

    def _measure(self, operation: str, scripts: Iterable[Script], record: "array[float]") -> None:
        marks: list[float] = []
        crew = self.crew
        crew.work(scripts, self._line, mark=lambda: marks.append(crew.server.watch.cpu_seconds() or 0.0))
        self._cpu[operation] += marks[-1] - marks[0]
        self._latencies[operation].extend(record)

    def _line(self) -> str:
        return f"{self._name}: {self.crew.calls:,} calls, {max(0.0, self.until - perf_counter()):.0f} s to go"


def in_turn(several: Sequence[Rounds], seconds: float) -> None:
    """A round of each, and again, for so long: what happens to the machine meanwhile happens to all of them."""
    until = perf_counter() + seconds
    for rounds in several:
        rounds.until = until
        rounds.warm_up()
    while True:
        for rounds in several:
            rounds.round()
        if perf_counter() >= until:
            return


class Pair:
    """One who waits at an empty queue, and one who sends to it; the time from the send to the reply of the other."""

    def __init__(self, crew: Crew, place: Place, record: "array[float]", taken: list[Taken]) -> None:
        self._crew, self._place, self._record, self._taken = crew, place, record, taken
        self._parked = False
        self._rung = 0.0

    def park(self) -> Script:
        place = self._place
        for _ in range(WAKES_EACH):
            self._parked = True
            reply = yield self._crew.waits, place.receive(1, LONG_SECONDS, PARKED_SECONDS)
            self._record.append(perf_counter() - self._rung)
            messages = self._crew.received(place, reply)
            if not messages:
                raise BenchError(f"a receive that was parked for {PARKED_SECONDS} seconds was not woken by a send")
            self._taken.append((place, messages))

    def ring(self) -> Script:
        crew, place = self._crew, self._place
        for _ in range(WAKES_EACH):
            while not self._parked:
                yield PAUSE, PARKING_SECONDS
            yield PAUSE, PARKING_SECONDS
            self._parked = False
            numbers = crew.ledger.next(place.index, 1)
            request = place.send(crew.ledger.body(place.index, numbers[0]), numbers[0])
            self._rung = perf_counter()
            reply = yield crew.waits, request
            crew.acknowledged(place, numbers, [WIRE.acknowledged(reply)])


def ratios(empty: dict[str, Cost], loaded: dict[str, Cost]) -> Iterator[tuple[str, float, float | None]]:
    """By operation: what it costs on the full store to what it costs on the empty one; p50, and processor time."""
    for operation in OPERATIONS:
        if operation in empty and operation in loaded:
            before, after = empty[operation], loaded[operation]
            cpu = after.cpu_us / before.cpu_us if before.cpu_us and after.cpu_us is not None else None
            yield operation, after.p50 / before.p50, cpu
