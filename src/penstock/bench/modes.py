"""The modes: what each of them measures, with which defaults. A new one is a function and a row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from penstock.bench import scripts
from penstock.bench.connection import Script
from penstock.bench.ledger import GroupLedger, Ledger
from penstock.bench.results import Point
from penstock.bench.scripts import Bell, Queue
from penstock.bench.session import LOADERS, Options, Session
from penstock.bench.target import BenchError, Target
from penstock.bench.watch import Watch

MIB = 1 << 20
IN_FLIGHT_PER_QUEUE = 100_000
"""A standard queue of Amazon's has at most 120,000 messages in flight."""


def _cycle(session: Session) -> Iterator[Point]:
    ledger, queues = session.ledger(), [session.queue()]
    connections = session.options.connections
    yield session.measure([scripts.cycle(session.client, ledger, queues) for _ in range(connections)], ledger)


def _connections(session: Session) -> Iterator[Point]:
    whole = session.options
    for number in whole.steps:
        session.options = replace(whole, connections=number)
        for point in _cycle(session):
            yield replace(point, at=number)


def _in_batches(session: Session) -> Iterator[Point]:
    ledger, queue = session.ledger(), session.queue()
    yield session.measure(_batches(session, ledger, queue), ledger)


def _batches(session: Session, ledger: Ledger, queue: Queue) -> list[Script]:
    return [scripts.cycle_in_batches(session.client, ledger, queue) for _ in range(session.options.connections)]


def _fifo(session: Session) -> Iterator[Point]:
    """Each group has one sender: so its order is known, and there cannot be more senders than groups."""
    connections, groups = session.options.connections, session.options.groups
    if connections > groups:
        raise BenchError(f"fifo needs a group for each connection: {connections} connections, {groups} groups")
    ledger, queue = GroupLedger(session.run, session.options.size, groups), session.queue(fifo=True)
    shares = [range(first, groups, connections) for first in range(connections)]
    fillers = [scripts.fill_groups(session.client, ledger, queue, own) for own in shares]
    session.load(fillers, lambda: f"filling the groups: {ledger.acknowledged:,} messages")
    yield session.measure([scripts.cycle_in_groups(session.client, ledger, queue, own) for own in shares], ledger)


def _long_poll(session: Session) -> Iterator[Point]:
    client, ledger, pairs = session.client, session.ledger(), []
    for number in range(session.options.connections):
        queue, bell = session.queue(), Bell()
        pairs.append(scripts.park(client, ledger, queue, bell, perf_counter))
        pairs.append(scripts.ring(client, ledger, queue, bell, perf_counter, first=number))
    yield session.measure(pairs, ledger)


def _backlog(session: Session) -> Iterator[Point]:
    """Cycles in batches while so many messages lie in the queue. Receives take the oldest, sends add the newest."""
    ledger, queue, client = session.ledger(), session.queue(), session.client
    for depth in session.options.steps:
        until = ledger.sent + max(0, depth - (ledger.acknowledged - ledger.deleted))
        fillers = [scripts.fill(client, ledger, queue, until) for _ in range(LOADERS)]
        session.load(fillers, lambda depth=depth: f"storing {ledger.acknowledged - ledger.deleted:,} of {depth:,}")  # type: ignore[misc]
        session.watch.settle()
        yield session.measure(_batches(session, ledger, queue), ledger, depth, stored=depth)


def _queues(session: Session) -> Iterator[Point]:
    queues: list[Queue] = []
    connections = session.options.connections
    for number in session.options.steps:
        queues += session.queues(number - len(queues))
        ledger = session.ledger()
        apart = max(1, number // connections)
        cycles = [scripts.cycle(session.client, ledger, queues, one * apart) for one in range(connections)]
        yield session.measure(cycles, ledger, number)


def _in_flight(session: Session) -> Iterator[Point]:
    """Cycles while so many messages are in flight, in as many queues as that takes; the cycles go through them all."""
    ledger, client, queues = session.ledger(), session.client, [session.queue()]
    for number in session.options.steps:
        while (held := ledger.received - ledger.deleted) < number:
            if held and held % IN_FLIGHT_PER_QUEUE == 0:
                queues.append(session.queue())
            most = min(number, held - held % IN_FLIGHT_PER_QUEUE + IN_FLIGHT_PER_QUEUE)
            _put_in_flight(session, ledger, queues[-1], held, most)
            if ledger.received - ledger.deleted < most:
                raise BenchError(
                    f"only {ledger.received - ledger.deleted:,} of {most:,} messages could be put in flight"
                )
        session.watch.settle()
        cycles = [scripts.cycle(client, ledger, queues, one) for one in range(session.options.connections)]
        yield session.measure(cycles, ledger, number, stored=number)


def _put_in_flight(session: Session, ledger: Ledger, queue: Queue, held: int, until: int) -> None:
    client = session.client

    def line() -> str:
        return f"putting in flight {ledger.received - ledger.deleted:,} of {until:,}"

    goal = ledger.sent + until - held
    session.load([scripts.fill(client, ledger, queue, goal) for _ in range(LOADERS)], line)
    session.load([scripts.hold(client, ledger, queue, until) for _ in range(LOADERS)], line)


@dataclass(frozen=True)
class Mode:
    """`axis` is what the mode varies, in `steps`; `quick_steps` are those of --quick."""

    run: Callable[[Session], Iterator[Point]]
    summary: str
    connections: int = 16
    size: int = 256
    axis: str = ""
    steps: tuple[int, ...] = ()
    quick_steps: tuple[int, ...] = ()

    def options(self, seconds: float, *, quick: bool = False) -> Options:
        steps = self.quick_steps if quick else self.steps
        return Options(self.connections, seconds, self.size, steps=steps)


MODES: dict[str, Mode] = {
    "cycle": Mode(_cycle, "send, receive, delete: one message a call", connections=64),
    "cycle10": Mode(_in_batches, "the same in batches of ten"),
    "fifo": Mode(_fifo, "the same on a FIFO queue with 100 groups; order and group locks are checked"),
    "longpoll": Mode(
        _long_poll, "from a send to the reply of a parked receiver, each with a queue of its own", connections=4
    ),
    "backlog": Mode(
        _backlog,
        "cycles in batches while so many messages are stored",
        axis="messages stored",
        steps=(0, 10_000, 100_000, 1_000_000, 10_000_000),
        quick_steps=(0, 100_000),
    ),
    "queues": Mode(
        _queues,
        "cycles over so many queues in turn",
        axis="queues",
        steps=(1, 10, 100, 1_000, 10_000),
        quick_steps=(1, 1_000),
    ),
    "inflight": Mode(
        _in_flight,
        "cycles while so many messages are in flight",
        axis="messages in flight",
        steps=(0, 10_000, 100_000, 1_000_000, 5_000_000),
        quick_steps=(0, 10_000),
    ),
    "large": Mode(_cycle, "cycles with bodies of 1 MiB", connections=4, size=MIB),
    "connections": Mode(
        _connections,
        "cycles over so many connections",
        axis="connections",
        steps=(1, 16, 64, 256, 1_000),
        quick_steps=(1, 64),
    ),
}


def measured(
    name: str, target: Target, options: Options, watch: Watch, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Point]:
    """The points of one mode, each as soon as it is there; its queues are gone afterwards."""
    session = Session(target, name, options, watch, tell)
    try:
        yield from MODES[name].run(session)
    except (ValueError, KeyError, TypeError) as error:  # of the wire's: whoever answers there is no SQS
        raise BenchError(f"{target.endpoint} does not answer as SQS does: {' '.join(str(error).split())}") from error
    finally:
        session.close()
