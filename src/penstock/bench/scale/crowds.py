"""The phases where much happens at one moment: a storm of visibility timeouts, and thousands of parked receives."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from time import perf_counter, sleep

from penstock.bench.connection import PAUSE, Script
from penstock.bench.results import Latency
from penstock.bench.scale.accounts import WIRE, Place
from penstock.bench.scale.crew import BATCH, LONG_SECONDS, Crew
from penstock.bench.scale.phases import counts
from penstock.bench.scale.report import ScaleReport
from penstock.bench.target import BenchError

PROBERS, COUNTERS = 4, 2
LEAST_HORIZON_SECONDS, SLOWER = 3, 2.0
"""The storm is received at the pace of the load; it gets twice the time that this takes."""
AFTERWARDS_SECONDS = 2.0
STORM_PATIENCE_SECONDS = 300
QUEUES_OF_PARKED = 100
ARRIVING_SECONDS, ARRIVALS_PER_SECOND, WAKING_SECONDS = 1.0, 2000, 4.0


def storm(crew: Crew, report: ScaleReport) -> str:
    """Receive so many messages with timeouts that end in one second; wait for it; watch them come back."""
    plan, ledger = crew.plan, crew.ledger
    each = ceil(plan.storm / len(crew.places))
    pace = report.figures["in flight messages/s"]
    moment = perf_counter() + LEAST_HORIZON_SECONDS + SLOWER * plan.storm / pace
    crew.work(
        [_take(crew, own, each, moment) for own in crew.shares(crew.places)],
        lambda: f"hiding messages until one moment: {sum(ledger.due_together):,} of {plan.storm:,}",
    )
    while (rest := moment - perf_counter()) > 0:
        sleep(rest)
    hidden = ledger.release_due()
    ended = moment + 1  # they are due within the second that begins at the moment
    state = _Return(crew, ended)
    probes = [_probe(crew, state) for _ in range(PROBERS)]
    crew.work(
        [*probes, *(_count(crew, state, crew.places[first::COUNTERS]) for first in range(COUNTERS))],
        lambda: f"{hidden:,} are due: {state.back:,} of {len(crew.places):,} queues have theirs back",
    )
    times = Latency.of(state.calls)
    report.figures |= {
        "storm messages": hidden,
        "storm visible again s": max(0.0, state.last - ended),
        "storm p50 ms": times.p50,
        "storm p99 ms": times.p99,
        "storm max ms": times.max,
    }
    crew.records["during the storm"].extend(state.calls)
    return (
        f"{hidden:,} timeouts due in one second, all visible {max(0.0, state.last - ended):.1f} s after it; "
        f"{times.count:,} other calls meanwhile, p99 {times.p99:.1f} ms"
    )


def _take(crew: Crew, own: Sequence[Place], each: int, moment: float) -> Script:
    record, ledger = crew.records["ReceiveMessage ×10"], crew.ledger
    for place in own:
        missing = min(each, ledger.visible(place.index))
        while missing > 0 and (remaining := moment - perf_counter()) > 1:
            request = place.receive(min(BATCH, missing), ceil(remaining))
            messages = crew.received(place, (yield record, request), due_together=True)
            if not messages:
                break
            missing -= len(messages)


class _Return:
    """How far the storm has come back."""

    def __init__(self, crew: Crew, ended: float) -> None:
        self.back, self.last = 0, ended
        self.calls = array("d")
        self.until = perf_counter() + AFTERWARDS_SECONDS
        self._of = len(crew.places)

    def note(self) -> None:
        self.back += 1
        self.last = max(self.last, perf_counter())

    @property
    def over(self) -> bool:
        return self.back == self._of and perf_counter() > self.until


def _count(crew: Crew, state: _Return, places: Sequence[Place]) -> Script:
    """Ask each queue until it has no more in flight than the ledger says."""
    patience = perf_counter() + STORM_PATIENCE_SECONDS
    waiting = list(places)
    while waiting:
        if perf_counter() > patience:
            raise BenchError(f"{len(waiting):,} queues have not got all their messages back")
        again = []
        for place in waiting:
            _, hidden = counts((yield crew.waits, place.count()))
            if hidden > crew.ledger.held[place.index]:
                again.append(place)
            else:
                state.note()
        if len(again) == len(waiting):
            yield PAUSE, 0.05
        waiting = again


def _probe(crew: Crew, state: _Return) -> Script:
    """Normal calls, over random queues."""
    while not state.over:
        place = crew.random.choice(crew.places)
        request, numbers = crew.send_batch(place, 1)
        crew.acknowledged(place, numbers, WIRE.acknowledged_batch((yield state.calls, request)))
        messages = crew.received(place, (yield state.calls, place.receive(1, LONG_SECONDS)))
        yield state.calls, place.attributes("All")
        for number, handle in messages:
            yield state.calls, place.delete(handle)
            crew.ledger.delete(place.index, number)


# Parked receives


def parked(crew: Crew, report: ScaleReport) -> str:
    """On a fresh server, which holds nothing else. The loaded one is not needed any more."""
    assert crew.server.own is not None
    crew.server.own.stop()
    server = crew.server.own.beside("parked")
    plan = replace(crew.plan, accounts=1, queues=min(QUEUES_OF_PARKED, crew.plan.parked), phases=())
    waiting = Crew(plan, server.start(), crew.tell)
    waiting.create(waiting.places)
    crowd = _Crowd(waiting)
    line: Callable[[], str] = lambda: f"{plan.parked:,} receives parked"  # noqa: E731
    try:
        waiting.work([crowd.conduct(), *(crowd.park(number) for number in range(plan.parked))], line)
    finally:
        server.stop()
    if not crowd.wakes:
        raise BenchError("no parked receive was woken by a message")
    times = Latency.of(crowd.wakes)
    report.figures |= crowd.figures | {"parked wake p50 ms": times.p50, "parked wake p99 ms": times.p99}
    crew.calls += waiting.calls
    report.problems["parked receives not woken"] += len(waiting.places) - times.count
    return f"{plan.parked:,} parked, {times.count:,} of them woken, p99 {times.p99:.1f} ms"


class _Crowd:
    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._arriving = ARRIVING_SECONDS + crew.plan.parked / ARRIVALS_PER_SECOND
        self._idle = crew.plan.idle_seconds
        self._wait = ceil(2 * self._arriving + self._idle + WAKING_SECONDS)
        self._rung: dict[int, float] = {}
        self.wakes = array("d")
        self.figures: dict[str, float] = {}

    def park(self, number: int) -> Script:
        crew = self._crew
        place = crew.places[number % len(crew.places)]
        messages = crew.received(place, (yield crew.waits, place.receive(1, LONG_SECONDS, self._wait)))
        for _ in messages:
            self.wakes.append(perf_counter() - self._rung[place.index])

    def conduct(self) -> Script:
        """Wait until all are parked and all is quiet; look; then send one message to each queue."""
        crew, watch = self._crew, self._crew.server.watch
        yield PAUSE, self._arriving
        before, started = watch.cpu_seconds() or 0.0, perf_counter()
        yield PAUSE, self._idle
        idle = ((watch.cpu_seconds() or 0.0) - before) / (perf_counter() - started)
        self.figures = {"parked idle CPU %": idle * 100, "parked resident bytes": watch.resident_bytes() or 0}
        for place in crew.places:
            request, numbers = crew.send_batch(place, 1)
            self._rung[place.index] = perf_counter()
            crew.acknowledged(place, numbers, WIRE.acknowledged_batch((yield crew.waits, request)))
