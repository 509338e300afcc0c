"""The phases that fill a store and work on it. Each notes figures in the report and says one line."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from time import perf_counter

from penstock.bench.connection import Script
from penstock.bench.scale.accounts import WIRE, Place
from penstock.bench.scale.crew import BATCH, LONG_SECONDS, Crew, chunks, left, share
from penstock.bench.scale.operations import Rounds, in_turn
from penstock.bench.scale.plan import Plan
from penstock.bench.scale.report import ScaleReport
from penstock.bench.scale.server import OwnServer
from penstock.bench.session import COUNT_NAMES, ENOUGH_FOR_DISK
from penstock.bench.target import BenchError
from penstock.bench.watch import JOURNAL

MIB = 1 << 20
KILL_AFTER_SECONDS = 1.0
MINUTE = 60.0
PATIENCE_SECONDS = 600


# Loading and holding


def load(crew: Crew, report: ScaleReport) -> str:
    plan, ledger, watch = crew.plan, crew.ledger, crew.server.watch
    watch.forget_peak()
    crew.create([*crew.places, *crew.wakers])
    disk, journal = watch.disk_bytes(), watch.disk_bytes(JOURNAL)
    sent, started = ledger.sent, perf_counter()
    crew.work(
        [_fill(crew, own) for own in crew.shares(crew.places)],
        lambda: f"sending: {left(ledger.sent - sent, plan.every_message, started)}",
    )
    seconds = perf_counter() - started
    held, wanted = ledger.received, plan.every_queue * plan.in_flight
    holding = perf_counter()
    crew.work(
        [_hold(crew, own) for own in crew.shares(crew.places)],
        lambda: f"putting in flight: {left(ledger.received - held, wanted, holding)}",
    )
    holding_seconds = max(1e-9, perf_counter() - holding)
    report.figures |= {
        "load messages/s": plan.every_message / seconds,
        "in flight messages/s": wanted / holding_seconds,
    }
    if disk is not None:
        report.figures |= {"disk before bytes": disk, "journal before bytes": journal or 0}
    return (
        f"{plan.every_queue:,} queues; {plan.every_message:,} messages in {seconds:,.0f} s; "
        f"{wanted:,} in flight in {holding_seconds:,.0f} s"
    )


def _fill(crew: Crew, own: Sequence[Place]) -> Script:
    """Queue by queue in turn, ten to each: as messages come in life, and the hardest for a cache."""
    record = crew.records["SendMessageBatch"]
    for done in range(0, crew.plan.messages, BATCH):
        for place in own:
            request, numbers = crew.send_batch(place, min(BATCH, crew.plan.messages - done))
            crew.acknowledged(place, numbers, WIRE.acknowledged_batch((yield record, request)))


def _hold(crew: Crew, own: Sequence[Place]) -> Script:
    record, held, target = crew.records["ReceiveMessage ×10"], crew.ledger.held, crew.plan.in_flight
    missing = list(own)
    while missing := [place for place in missing if held[place.index] < target]:
        before = sum(held[place.index] for place in missing)
        for place in missing:
            most = min(BATCH, target - held[place.index])
            messages = crew.received(place, (yield record, place.receive(most, LONG_SECONDS)))
            if place.index in crew.kept:
                crew.kept[place.index] += messages
        if sum(held[place.index] for place in missing) == before:
            raise BenchError(f"no more than {held[missing[0].index]:,} messages of a queue could be put in flight")


def hold(crew: Crew, report: ScaleReport) -> str:
    watch, plan = crew.server.watch, crew.plan
    pause = plan.idle_seconds
    watch.settle()
    # Some things are done once a minute: of two short looks, one at the least does not see them.
    looks = [watch.cpu_share(look) for look in ([MINUTE] if plan.seconds >= MINUTE else [pause, pause])]
    if seen := [look for look in looks if look is not None]:
        report.figures["idle CPU %"] = min(seen) * 100
    peak, resident, disk = watch.peak_bytes(), watch.resident_bytes(), watch.disk_bytes()
    if peak is not None and resident is not None:
        report.figures |= {"peak memory bytes": peak, "resident memory bytes": resident}
    if disk is not None and plan.every_message >= ENOUGH_FOR_DISK:
        report.figures |= _disk(report, plan, disk, watch.disk_bytes(JOURNAL) or 0)
    if peak is None or disk is None:
        return "not all could be read: the server or its data is not on this machine"
    return f"{peak / MIB:,.0f} MiB resident at the most, {disk / MIB:,.0f} MiB on disk"


def _disk(report: ScaleReport, plan: Plan, disk: int, journal: int) -> dict[str, float]:
    """The journal is a history with a retention of its own: it is told apart from what the messages take."""
    written = (journal - report.figures["journal before bytes"]) / plan.every_message
    whole = (disk - report.figures["disk before bytes"]) / plan.every_message
    return {"disk bytes per message above the body": whole - written - plan.size, "journal bytes per message": written}


def work(crew: Crew, report: ScaleReport) -> str:
    crew.server.watch.forget_peak()
    loaded, beside = Rounds(crew, "work"), ""
    if crew.server.own is None:
        beside = "; the empty stores beside it left out: they need servers of their own"
        in_turn([loaded], crew.plan.seconds)
    else:
        _compare(crew, report, loaded, crew.server.own)
    report.loaded = loaded.costs()
    if (peak := crew.server.watch.peak_bytes()) is not None:
        report.figures["peak memory at work bytes"] = peak
    return f"{sum(cost.count for cost in report.loaded.values()):,} calls measured{beside}"


def _compare(crew: Crew, report: ScaleReport, loaded: Rounds, server: OwnServer) -> None:
    """As many rounds again, on the same queues without messages, and on a few queues: a machine has better minutes and
    worse, so all take turns."""
    with ExitStack() as stack:
        empty, few = [
            _beside(stack, crew, server.beside(name), plan)
            for name, plan in (("empty", crew.plan), ("few", crew.plan.few_queues()))
        ]
        in_turn([loaded, empty, few], crew.plan.seconds * 3)
        for rounds in (empty, few):
            other = rounds.crew
            report.problems["lost"] += other.drain(other.places, "emptying")
            crew.calls += other.calls
            crew.busy_seconds += other.busy_seconds
    report.empty, report.few = empty.costs(), few.costs()


def _beside(stack: ExitStack, crew: Crew, server: OwnServer, plan: Plan) -> Rounds:
    stack.callback(server.stop)
    other = Crew(plan, server.start(), crew.tell)
    other.create([*other.places, *other.wakers])
    return Rounds(other, f"the same on {plan.every_queue:,} empty queues")


# Killing and checking


def kill(crew: Crew, report: ScaleReport) -> str:
    own = crew.server.own
    assert own is not None
    due = perf_counter() + KILL_AFTER_SECONDS
    killed = 0.0

    def line() -> str:
        nonlocal killed
        if not killed and perf_counter() > due:
            killed = perf_counter()
            own.kill()
        return "sending until it is killed"

    try:
        crew.work([_send_on(crew) for _ in range(BATCH)], line)
    except BenchError:  # the connections break: that is what was wanted
        if not killed:
            raise
    crew.server = own.start()
    _until_it_answers(crew)
    report.figures["ready again s"] = perf_counter() - killed
    counting = perf_counter()
    wrong = count(crew, report)
    counting = perf_counter() - counting
    drained = _drain_sample(crew, report)
    return (
        f"answered again after {report.figures['ready again s']:.2f} s; counts of {len(crew.places):,} queues read in "
        f"{counting:.1f} s, {wrong:,} wrong; {drained:,} messages of {len(crew.sample):,} queues fetched one by one"
    )


def _send_on(crew: Crew) -> Script:
    while True:
        place = crew.random.choice(crew.places)
        request, numbers = crew.send_batch(place)
        answers = WIRE.acknowledged_batch((yield crew.records["SendMessageBatch"], request))
        crew.acknowledged(place, numbers, answers)


def _until_it_answers(crew: Crew) -> None:
    patience = perf_counter() + PATIENCE_SECONDS
    while perf_counter() < patience:
        with suppress(BenchError):
            first = iter([crew.places[0]])
            crew.work([share(first, crew.waits, lambda place: place.attributes("All"), lambda *_: None)], str)
            return
        time.sleep(0.01)
    raise BenchError(f"the server did not answer within {PATIENCE_SECONDS} seconds after the kill")


def count(crew: Crew, report: ScaleReport) -> int:
    """Compare the counts of every queue with the ledger; the number of queues whose counts are wrong."""
    ledger, wrong, counted = crew.ledger, 0, 0

    def take(place: Place, reply: bytes) -> None:
        nonlocal wrong, counted
        counted += 1
        visible, hidden = counts(reply)
        least, held = ledger.stored(place.index), ledger.held[place.index]
        report.problems["lost"] += max(0, least - visible - hidden)
        report.problems["visible too early"] += max(0, held - hidden)
        wrong += hidden != held or not least <= visible + hidden <= least + ledger.uncertain(place.index)

    shared, record = iter(crew.places), crew.records["GetQueueAttributes"]
    crew.work(
        [share(shared, record, Place.count, take) for _ in range(crew.plan.connections)],
        lambda: f"counting: {counted:,} of {len(crew.places):,} queues",
    )
    report.problems["queues with wrong counts"] += wrong
    return wrong


def counts(reply: bytes) -> tuple[int, int]:
    """Messages that are visible, and those that are not: in flight or delayed."""
    attributes = WIRE.attributes(reply)
    visible, *hidden = (int(attributes[name]) for name in COUNT_NAMES)
    return visible, sum(hidden)


def _drain_sample(crew: Crew, report: ScaleReport) -> int:
    """Give back what the sample has in flight, with the handles from before the kill; then fetch every message."""
    before = crew.ledger.deleted
    crew.work([_show(crew, own) for own in crew.shares(crew.sample)], lambda: "giving back what is in flight")
    report.problems["lost"] += crew.drain(crew.sample, "draining a sample")
    return crew.ledger.deleted - before


def _show(crew: Crew, own: Sequence[Place]) -> Script:
    record = crew.records["ChangeMessageVisibilityBatch"]
    for place in own:
        for chunk in chunks(crew.kept[place.index]):
            for number, _ in chunk:
                crew.ledger.release(place.index, number)
            if (done := WIRE.settled((yield record, place.show(chunk)))) != len(chunk):
                raise BenchError(f"{done} of {len(chunk)} receipt handles were good after the kill")
        crew.kept[place.index].clear()


def tidy(crew: Crew) -> None:
    """Delete the queues, at a server that stays."""
    made: Iterator[Place] = iter([place for place in (*crew.places, *crew.wakers) if place.url])
    with suppress(BenchError, OSError):
        crew.work(
            [share(made, crew.waits, Place.remove, lambda *_: None) for _ in range(crew.plan.connections)],
            lambda: "deleting the queues",
        )
