"""What a request costs, in microseconds, step by step: in one process, without sockets, on this machine.

    python bench/path.py                    the table, and requests in step against one at a time: half a minute
    python bench/path.py --quick            a second: shows that it works, measures little
    python bench/path.py --clients 16 --json out.json

A server with the settings of the PENSTOCK_* variables is given signed requests of 256 bytes that send, receive and
delete. ROW: a thousand of a kind arrive together, so that every step is done a thousand times in a row.
MIX: so many clients, of which a third sends, a third receives and a third deletes. Each figure is the least of
the rounds; `fsync` is the median of its share. TENS: the same clients send, receive and delete ten messages a call.
Set TMPDIR to the disk that you want to measure.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import msgspec
import uvloop
from inside import ACTIONS, Load, one_at_a_time, running
from stopwatch import STEPS, stopwatch

from penstock.bench.report import aligned
from penstock.bench.results import machine

ROW, MIX = "in a row", "in a mix"
BATCH = 10
IN_STEP, ONE_AT_A_TIME, IN_BATCHES = "in step", "one at a time", "in step, tens"
MEANINGS = {
    "parse": "bytes to a request",
    "signature": "checked, caller found",
    "decode": "the body, to its type",
    "authorise": "may this caller",
    "run": "the operation itself",
    "store": "the change",
    "commit": "its share",
    "answer": "callers told, connections",
    "encode": "the reply",
    "record": "counted",
    "render": "the reply's bytes",
    "fsync": "its share, the disk",
}


@dataclass(frozen=True)
class Size:
    rounds: int = 5
    clients: int = 64
    in_a_row: int = 1000
    cycles: int = 6000


Table = dict[str, dict[str, float]]
"""By action, by step."""


async def steps(size: Size, folder: Path, how: str, synchronous: str) -> Table:
    with stopwatch() as watch:
        async with running(folder, os.environ, synchronous) as server:
            clients = size.in_a_row if how == ROW else size.clients
            await Load(server, clients, max(size.cycles, clients), alike=how == ROW, doing=watch.doing).run()
    return {action: watch.microseconds(action) for action in ACTIONS}


@dataclass(frozen=True)
class Cycle:
    """Of sending, receiving and deleting one message: microseconds of processor without the clients', and commits."""

    processor: float
    commits: float


async def cycle(size: Size, folder: Path, case: str) -> Cycle:
    """Nothing is wrapped here, and the disk is not waited for."""
    batch = BATCH if case == IN_BATCHES else 1
    cycles = max(size.cycles // batch, size.clients)
    async with running(folder, os.environ, "OFF") as server:
        if case == ONE_AT_A_TIME:
            one_at_a_time(server)
        commits = 0

        def committed(changes: int, seconds: float) -> None:
            nonlocal commits
            commits += 1

        server.store.observe_commits(committed)
        load, started = Load(server, size.clients, cycles, batch=batch), time.thread_time()
        await load.run()
        taken = time.thread_time() - started - load.seconds
    return Cycle(taken / cycles / batch * 1e6, commits / cycles / batch)


def measured(size: Size, folder: Path) -> tuple[dict[str, Table], dict[str, Cycle]]:
    """Everything in turn, round by round."""
    tables: dict[tuple[str, str], list[Table]] = {}
    cycles: dict[str, list[Cycle]] = {IN_STEP: [], ONE_AT_A_TIME: [], IN_BATCHES: []}
    for number in range(size.rounds):
        for how in (ROW, MIX):
            for synchronous in ("OFF", "FULL"):
                where = folder / f"{number}-{how}-{synchronous}"
                tables.setdefault((how, synchronous), []).append(uvloop.run(steps(size, where, how, synchronous)))
        for name, found in cycles.items():
            found.append(uvloop.run(cycle(size, folder / f"{number}-{name}", name)))
    least = {how: _least(tables[how, "OFF"], tables[how, "FULL"]) for how in (ROW, MIX)}
    return least, {name: min(found, key=lambda each: each.processor) for name, found in cycles.items()}


def _least(without: list[Table], synced: list[Table]) -> Table:
    """`fsync` is what a commit takes longer when it waits for the disk."""
    table = {action: {step: min(each[action][step] for each in without) for step in STEPS} for action in ACTIONS}
    for action, found in table.items():
        found["fsync"] = max(0.0, median(each[action]["commit"] for each in synced) - found["commit"])
    return table


def lines(tables: dict[str, Table], cycles: dict[str, Cycle]) -> Sequence[str]:
    columns = [(action, how) for action in ACTIONS for how in (ROW, MIX)]
    cells = [
        (step, *(f"{tables[how][action][step]:.1f}" for action, how in columns), _cycle(tables, step), meaning)
        for step, meaning in MEANINGS.items()
    ]
    sums = [sum(tables[how][action][step] for step in STEPS) for action, how in columns]
    total = sum(tables[MIX][action][step] for action in ACTIONS for step in STEPS)
    cells.insert(len(STEPS), ("sum", *(f"{value:.1f}" for value in sums), f"{total:.1f}", "without the disk"))
    headings = (
        "STEP",
        *(f"{action.removesuffix('Message')}, {how.split()[-1]}" for action, how in columns),
        "CYCLE",
        "MEANING",
    )
    whole = cycles[IN_STEP].processor
    return [
        *aligned(headings, cells),
        "",
        f"A cycle of all three, in a mix, takes {whole:.1f} µs of processor when nothing is timed. The steps above are",
        f"{total:.1f} µs; {_rest(whole - total)}.",
        "",
        *aligned(
            ("CASE", "µs of processor a message", "RATIO", "commits a message"),
            [(name, f"{each.processor:.1f}", f"{each.processor / whole:.2f}", f"{each.commits:.3f}")
             for name, each in cycles.items()],
        ),
    ]  # fmt: skip


def _rest(microseconds: float) -> str:
    if microseconds < 0:  # steps are timed by the clock on the wall, a cycle by the processor's
        return "that is more, so the machine was doing something else as well: try again when it is not"
    return f"the other {microseconds:.1f} µs are the connections, the event loop, and making a call of a request"


def _cycle(tables: dict[str, Table], step: str) -> str:
    return f"{sum(tables[MIX][action][step] for action in ACTIONS):.1f}"


def main(argv: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/path.py", description=__doc__, formatter_class=form)
    parser.add_argument("--clients", type=int, default=Size.clients, metavar="N", help="in the mix (default: 64)")
    parser.add_argument("--quick", action="store_true", help="a tiny size, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    arguments = parser.parse_args(argv)
    if arguments.clients < 1:
        parser.error("--clients is a number of at least 1")
    clients = arguments.clients
    size = (
        Size(1, clients, 100, max(300, clients))
        if arguments.quick
        else Size(clients=clients, cycles=max(6000, clients))
    )
    with tempfile.TemporaryDirectory(prefix="penstock-path-") as folder:
        facts = machine(Path(folder))
        print(f"{facts['processors']} processors ({facts['processor']}), {facts['kernel']}, Python {facts['python']}")
        print(f"one bare fdatasync: {facts['fdatasync_us']:.0f} µs; {size.clients} clients in the mix; µs a request\n")
        tables, cycles = measured(size, Path(folder))
    print("\n".join(lines(tables, cycles)))
    if arguments.json:
        figures = {name: asdict(each) for name, each in cycles.items()}
        plain = {"size": asdict(size), "machine": facts, "steps": tables, "cycle": figures}
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(plain)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
