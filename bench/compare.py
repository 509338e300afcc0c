"""Penstock and its peers, one after the other, on this machine, with the same load client.

    python bench/compare.py                      everything, twice: an hour or two with all peers and all depths
    python bench/compare.py --quick              about two minutes
    python bench/compare.py cycle fifo --peers elasticmq,goaws --rounds 2 --seconds 5
    python bench/compare.py backlog --most 100000
    python bench/compare.py --readme             write the README's figures and pictures from the latest results

Ours runs as a user would start it: durable, signatures checked. A peer that cannot be installed, started or measured
stands in the tables with its reason. Peers are kept in $PENSTOCK_BENCH_CACHE, or ./.bench.
"""

import argparse
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import readme
from peers import CACHE, CACHE_VARIABLE, PEERS, PeerUnavailable
from peers import running as peer_running
from suites import FULL, QUICK, Item, Suite

from penstock import __version__
from penstock.bench import own_server
from penstock.bench.modes import MODES, measured
from penstock.bench.plots import draw
from penstock.bench.progress import progress
from penstock.bench.report import aligned, comparison, figure, heading, keys
from penstock.bench.results import Results, Server, machine
from penstock.bench.session import Options
from penstock.bench.target import BenchError, Target
from penstock.bench.watch import Watch, pid_listening_on

RESULTS = Path(__file__).parent / "results"
COLD = "it was still getting faster when it was measured"
NOT_WARM = "Java servers are several times faster when they have run for minutes: for ratios to them, use `make bench`."
Tell = Callable[[str], None]


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    if arguments.readme:
        print(f"Wrote the figures of {readme.write(RESULTS)} into the README.")
        return 0
    suite = _suite(arguments)
    chosen = list(PEERS) if arguments.peers is None else [name for name in arguments.peers.split(",") if name]
    if unknown := [name for name in chosen if name not in PEERS]:
        sys.exit(f"there is no peer {unknown[0]!r}; there are {', '.join(PEERS)}")
    servers = [Server("penstock", f"Penstock {__version__}")]
    for name in chosen:
        peer = PEERS[name]
        servers.append(Server(name, peer.title, peer.durable, peer.signs, peer.note))
        if name in suite.left_out and arguments.peers is None:
            servers[-1].reasons[""] = "left out of the quick run; `make bench` has it"
    CACHE.mkdir(parents=True, exist_ok=True)
    results = Results(shlex.join(["python", "bench/compare.py", *(argv or sys.argv[1:])]), machine(CACHE), servers)
    file = RESULTS / ("quick.json" if arguments.quick else "latest.json")
    with progress() as tell:
        install(servers, tell)
        for number in range(suite.rounds):
            for server, items in turns(suite, servers):
                stage = f"round {number + 1} of {suite.rounds}, {server.title}: "
                measure(server, items, suite, _after(stage, tell))
                results.write(file)
    _show(results)
    if arguments.quick:
        print(NOT_WARM)
    pictures = draw(results, RESULTS / file.stem)
    print(f"Results: {file}\nPictures: {', '.join(map(str, pictures))}")
    return 1 if servers[0].reasons or any(point.violations for point in servers[0].points) else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=f"of {', '.join(MODES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="the quick suite")
    parser.add_argument("--peers", help="names, separated by commas; empty for none (default: all)")
    parser.add_argument("--rounds", type=int, help="how often to repeat everything")
    parser.add_argument("--seconds", type=float, help="how long to measure each point")
    parser.add_argument("--most", type=int, help="leave out depths over this many messages or queues")
    parser.add_argument("--readme", action="store_true", help="measure nothing; write the latest figures to the README")
    arguments = parser.parse_args(argv)
    if unknown := [mode for mode in arguments.modes if mode not in MODES]:
        parser.error(f"there is no mode {unknown[0]!r}")
    return arguments


def _suite(arguments: argparse.Namespace) -> Suite:
    suite = QUICK if arguments.quick else FULL
    wanted = arguments.modes or MODES
    starts = (tuple(item for item in items if item.mode in wanted) for items in suite.starts)
    given = {"rounds": arguments.rounds, "seconds": arguments.seconds, "most": arguments.most}
    chosen = {name: value for name, value in given.items() if value is not None}
    return replace(suite, starts=tuple(filter(None, starts)), **chosen)


def turns(suite: Suite, servers: Sequence[Server]) -> Iterator[tuple[Server, Sequence[Item]]]:
    """One round: what one start serves, of every server, before the next."""
    for items in suite.starts:
        yield from ((server, items) for server in servers if "" not in server.reasons)


def _after(words: str, tell: Tell) -> Tell:
    return lambda line: tell(words + line)


def install(servers: Sequence[Server], tell: Tell) -> None:
    """What is not there yet, all of it before anything is measured: some of them take a minute."""
    for server in servers:
        if server.name in PEERS and "" not in server.reasons:
            tell(f"installing {server.title}")
            try:
                PEERS[server.name].install(CACHE.resolve())
            except (PeerUnavailable, OSError) as error:
                server.reasons[""] = str(error)
                _say(server, "", str(error))


def measure(server: Server, items: Sequence[Item], suite: Suite, tell: Tell) -> None:
    """What goes wrong is a peer's reason, and no reason to stop."""
    tell("starting")
    try:
        with _running(server.name) as (target, watch):
            if not _warm_up(target, suite, tell) and COLD not in server.note:
                server.note = f"{server.note}; {COLD}".removeprefix("; ")
            for item in items:
                _measure_item(server, item, suite, target, watch, tell)
    except (PeerUnavailable, BenchError, OSError) as error:
        server.reasons[""] = str(error)
        _say(server, "", str(error))


def _warm_up(target: Target, suite: Suite, tell: Tell) -> bool:
    """Load for as long as it makes the server faster: what compiles itself while it runs takes its time. Whether it
    came to an end of that."""
    began = rose = time.monotonic()
    best = 0.0
    while (now := time.monotonic()) - began < suite.most_warming_seconds:
        if now - rose > suite.stalled_seconds:
            return True
        (point,) = measured("cycle", target, Options(64, 0.8, 256, warmup=0.0), Watch(None), tell)
        if point.per_second > best * 1.1:
            best, rose = point.per_second, time.monotonic()
    return False


def _measure_item(server: Server, item: Item, suite: Suite, target: Target, watch: Watch, tell: Tell) -> None:
    try:
        for point in measured(item.mode, target, _options(server, item, suite), watch, tell):
            server.points.append(point)
            _say(server, f"{item.mode} {point.connections} {'' if point.at is None else point.at}", figure(point))
    except BenchError as error:
        server.reasons[item.mode] = str(error)
        _say(server, item.mode, str(error))


def _options(server: Server, item: Item, suite: Suite) -> Options:
    mode = MODES[item.mode]
    ours = server.name == "penstock"
    steps = tuple(step for step in item.steps or mode.steps if step <= suite.most)
    return replace(
        mode.options(suite.seconds),
        connections=item.connections or mode.connections,
        warmup=suite.warmup,
        steps=steps if ours else tuple(step for step in steps if step <= item.peer_steps),
        patience_seconds=float("inf") if ours else suite.patience_seconds,
    )


@contextmanager
def _running(name: str) -> Iterator[tuple[Target, Watch]]:
    """A fresh server with nothing in it. Beside the cache and not under /tmp, which may be memory and no disk."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=CACHE) as folder:
        data = Path(folder).resolve()
        if name == "penstock":
            with own_server.running(
                data, {name: os.environ[name] for name in os.environ if name != CACHE_VARIABLE}
            ) as own:
                yield own.target, Watch(own.pid, data / "data")
        else:
            own_server.allow_many_files()
            with peer_running(PEERS[name], CACHE, data) as port:
                target = Target("127.0.0.1", port, protocol=PEERS[name].protocol)
                yield target, Watch(pid_listening_on(port), data if PEERS[name].durable else None)


def _say(server: Server, what: str, found: float | str) -> None:
    """One line for each thing measured, for whoever reads a log and no terminal."""
    if not sys.stderr.isatty():
        print(f"{server.title:28} {what:24} {found if isinstance(found, str) else f'{found:,.2f}'}", flush=True)


def _show(results: Results) -> None:
    print(
        "{processors} processors, {processor}, {kernel}; one fdatasync takes {fdatasync_us} µs".format(
            **results.machine
        )
    )
    for key in keys(results):
        mode, connections, at = key
        where = "" if at is None or mode == "connections" else f", {at:,} {MODES[mode].axis}"
        print(f"\n{mode}, {connections} connection{'s' if connections > 1 else ''}{where}")
        print("\n".join(aligned(heading(key), comparison(results, key))))
    print("", *(f"{server.title}: {server.note}" for server in results.servers if server.note), sep="\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, where: sys.exit(128 + number))  # or the servers would go on
    sys.exit(main())
