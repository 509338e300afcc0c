"""What a setting costs, or a change of the code: servers that differ in it alone, loaded in turn, each beside the first
of the same round.

    python bench/settings.py journal=off journal=events journal=full
    python bench/settings.py native=off native=on --mode cycle10
    python bench/settings.py journal_segment_bytes=1000000,native=on native=on --rounds 4
    python bench/settings.py tree=../before/src tree=src --mode longpoll
    python bench/settings.py stored=0 stored=100000 stored=1000000 --mode backlog --starts 4 --rounds 4
    python bench/settings.py peer=fauxqs native=on --mode cycle10 --warm 20

`tree` is where the code is: that of another checkout, whose native part was compiled for the same Python. `stored` is
how many messages lie in the queue meanwhile. `peer` is another server (`bench/peers`) instead of ours; what compiles
itself while it runs wants `--warm`. The machine may be faster in one minute than in the next: the ratios are
of turns that follow each other. And two processes of the same code may differ by a tenth for as long as they live:
`--starts` has several of each, one after the other.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import mean

from peers import CACHE, PEERS, PeerUnavailable
from peers import running as peer_running

from penstock.bench.modes import MODES, measured
from penstock.bench.own_server import allow_many_files, running
from penstock.bench.report import aligned, figure
from penstock.bench.results import Point
from penstock.bench.session import Options
from penstock.bench.target import BenchError, Target
from penstock.bench.watch import Watch, pid_listening_on

SETTLING_SECONDS = 0.5
BODY_BYTES = 256
TREE, STORED, PEER, WAITING = "tree", "stored", "peer", "longpoll"
MODES_IN_TURN = ("cycle", "cycle10", "fifo", "backlog", WAITING)


def main() -> int:
    arguments = options()
    rounds: list[list[Point]] = []
    for start in range(arguments.starts):
        rounds += taken_in_turn(arguments, start)
    servers, starts = arguments.settings, f"{arguments.starts} starts, " if arguments.starts > 1 else ""
    print(f"{arguments.mode}, {starts}{arguments.rounds} rounds of {arguments.seconds} s;", end=" ")
    print("the ratio is the mean of the rounds'")
    cells = [row(settings, [each[place] for each in rounds], rounds) for place, settings in enumerate(servers)]
    title = "p50 ms" if arguments.mode == WAITING else "MESSAGES/S"
    print("\n".join(aligned(("SETTINGS", title, "RATIO", "LEAST", "MOST", "CPU µs"), cells)))
    return 0


def taken_in_turn(arguments: argparse.Namespace, start: int) -> Iterator[list[Point]]:
    """Rounds of servers that are started for it: what each had in its turn."""
    with ExitStack() as stack:
        servers = arguments.settings
        turns = [points(*started(stack, settings), stored(settings), arguments) for settings in servers]
        for turn in turns:
            warm(turn, arguments.warm)
        for number in range(arguments.rounds):
            order = range(len(turns)) if number % 2 else reversed(range(len(turns)))
            found = {place: next(turns[place]) for place in order}
            done, of = start * arguments.rounds + number + 1, arguments.starts * arguments.rounds
            print(f"round {done} of {of}", end="\r", file=sys.stderr)
            yield [found[place] for place in range(len(turns))]


def warm(turn: Iterator[Point], seconds: float) -> None:
    """A server that has just started is slower: a turn at the least."""
    until = time.monotonic() + seconds
    next(turn)
    while time.monotonic() < until:
        next(turn)


def started(stack: ExitStack, settings: str) -> tuple[Target, Watch]:
    if name := dict(pairs(settings)).get(PEER):
        allow_many_files()
        port = stack.enter_context(peer_running(PEERS[name], CACHE))
        return Target("127.0.0.1", port, protocol=PEERS[name].protocol), Watch(pid_listening_on(port))
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    chosen = dict(variable(name, value) for name, value in pairs(settings) if name != STORED)
    own = stack.enter_context(running(Path(folder), {**os.environ, **chosen}))
    return own.target, Watch(own.pid)


def variable(name: str, value: str) -> tuple[str, str]:
    """By which a server is told of it."""
    return ("PYTHONPATH", str(Path(value).resolve())) if name == TREE else (f"PENSTOCK_{name.upper()}", value)


def stored(settings: str) -> int:
    return int(dict(pairs(settings)).get(STORED, 0))


def points(target: Target, watch: Watch, depth: int, arguments: argparse.Namespace) -> Iterator[Point]:
    connections = arguments.connections or MODES[arguments.mode].connections
    turns = (depth,) * (arguments.rounds + 1)
    load = Options(connections, arguments.seconds, BODY_BYTES, SETTLING_SECONDS, steps=turns)
    while True:
        yield from measured(arguments.mode, target, load, watch)


def row(settings: str, own: list[Point], rounds: list[list[Point]]) -> tuple[str, ...]:
    ratios = [figure(point) / figure(each[0]) for point, each in zip(own, rounds, strict=True)]
    processor = 1000 * mean(point.cpu_per_1000 or 0 for point in own)
    told = mean(figure(point) for point in own)
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return settings, f"{told:,.{0 if told > 100 else 2}f}", f"{mean(ratios):.3f}", least, most, f"{processor:.1f}"


def pairs(settings: str) -> list[tuple[str, str]]:
    found = [part.partition("=") for part in settings.split(",")]
    if not all(name and mark for name, mark, _ in found):
        raise argparse.ArgumentTypeError(f"{settings}: NAME=VALUE, and more of them after commas")
    return [(name, value) for name, _, value in found]


def checked(settings: str) -> str:
    peer = dict(pairs(settings)).get(PEER)
    if peer is not None and peer not in PEERS:
        raise argparse.ArgumentTypeError(f"there is no peer {peer!r}; there are {', '.join(PEERS)}")
    return settings


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="+", type=checked, metavar="NAME=VALUE,…", help="of one server each")
    parser.add_argument("--mode", default="cycle", choices=MODES_IN_TURN, help="the load (cycle)")
    parser.add_argument("--connections", type=int, metavar="N", help="how many (default: the mode's)")
    parser.add_argument("--starts", type=int, default=1, metavar="N", help="how often servers are started anew (1)")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="how often each has its turn (10)")
    parser.add_argument("--warm", type=float, default=0, metavar="S", help="seconds of load before the first turn (0)")
    parser.add_argument("--seconds", type=float, default=1.5, metavar="S", help="how long a turn is (1.5)")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, PeerUnavailable) as error:
        sys.exit(f"bench: {error}")
