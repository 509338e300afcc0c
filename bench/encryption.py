"""What it costs that messages lie on disk encrypted: a queue that is encrypted against one that is not, in turn.

    python bench/encryption.py                 about two minutes
    python bench/encryption.py --quick         some seconds: shows that it works, measures little
    python bench/encryption.py --json out.json

PROCESSOR: microseconds for each message that is sent, received and deleted, in one process without sockets and without
waiting for the disk (as bench/path.py has it): the least of the rounds. OVER SOCKETS: messages a second of a server as
a user starts it, with the load client of `penstock bench`: the median of the rounds. RATIO is the speed with encryption
to the speed without. Set TMPDIR to the disk that you want to measure.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec
import uvloop
from inside import Load, running
from turns import Figures, in_turn

from penstock.bench import own_server
from penstock.bench.modes import MODES, measured
from penstock.bench.report import aligned
from penstock.bench.results import machine
from penstock.bench.session import Options
from penstock.bench.target import Target
from penstock.bench.watch import Watch

ON, OFF = {"SqsManagedSseEnabled": "true"}, {"SqsManagedSseEnabled": "false"}
CLIENTS = 64
INSIDE = {"256 bytes": (256, 1), "256 bytes, in tens": (256, 10), "64 KiB": (65_536, 1)}
"""How large bodies are, and how many are in a call."""
SOCKETS = ("cycle", "cycle10", "large")
LONGEST_SECONDS = 60.0


class Size(NamedTuple):
    rounds: int = 7
    cycles: int = 6000
    socket_rounds: int = 9
    seconds: float = 2.0


QUICK = Size(1, CLIENTS * 2, 1, 0.1)


class Row(NamedTuple):
    where: str
    case: str
    encrypted: float
    clear: float
    unit: str
    ratio: float


async def cycle(folder: Path, cycles: int, case: str, attributes: dict[str, str]) -> Figures:
    bytes_each, batch = INSIDE[case]
    cycles = max(CLIENTS, cycles // batch // (10 if bytes_each > 256 else 1))
    async with running(folder, os.environ, "OFF", attributes) as server:
        load = Load(server, CLIENTS, cycles, batch=batch, body=b"x" * bytes_each)
        started = time.thread_time()
        await load.run()
        taken = time.thread_time() - started - load.seconds
    return {case: taken / cycles / batch * 1e6}


def processor(size: Size, folder: Path) -> list[Row]:
    rows, number = [], count()
    for case in INSIDE:

        def one(attributes: dict[str, str], case: str = case) -> Callable[[], Figures]:
            return lambda: uvloop.run(cycle(folder / str(next(number)), size.cycles, case, attributes))

        encrypted, clear = in_turn(size.rounds, one(ON), one(OFF))[case]
        rows.append(Row("processor", case, encrypted, clear, "µs", clear / encrypted))
    return rows


def over_sockets(size: Size, folder: Path) -> list[Row]:
    rows = []
    with own_server.running(folder, dict(os.environ)) as own:
        for mode in SOCKETS:

            def one(attributes: dict[str, str], mode: str = mode) -> Callable[[], Figures]:
                return lambda: {mode: speed(mode, own.target, size.seconds, attributes)}

            encrypted, clear = in_turn(size.socket_rounds, one(ON), one(OFF), median)[mode]
            rows.append(Row("over sockets", mode, encrypted, clear, "messages/s", encrypted / clear))
    return rows


def speed(mode: str, target: Target, seconds: float, attributes: dict[str, str]) -> float:
    connections, size = MODES[mode].connections, MODES[mode].size
    (point,) = measured(
        mode, target, Options(connections, seconds, size, 0.2, attributes=tuple(attributes.items())), Watch(None)
    )
    if point.violations:
        sys.exit(f"{mode}: {point.problems}")
    if not point.messages and seconds < LONGEST_SECONDS:
        return speed(mode, target, seconds * 4, attributes)  # a busy machine may do nothing in so short a time
    return point.per_second


def main(argv: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/encryption.py", description=__doc__, formatter_class=form)
    parser.add_argument("--quick", action="store_true", help="a tiny size, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    arguments = parser.parse_args(argv)
    size = QUICK if arguments.quick else Size()
    with tempfile.TemporaryDirectory(prefix="penstock-encryption-") as folder:
        facts = machine(Path(folder))
        print(f"{facts['processors']} processors ({facts['processor']}), {facts['kernel']}, Python {facts['python']}\n")
        server = Path(folder) / "server"
        server.mkdir()
        rows = [*processor(size, Path(folder)), *over_sockets(size, server)]
    headings = ("WHERE", "CASE", "ENCRYPTED", "IN CLEAR", "UNIT", "RATIO")
    cells = [(r.where, r.case, f"{r.encrypted:,.1f}", f"{r.clear:,.1f}", r.unit, f"{r.ratio:.2f}") for r in rows]
    print("\n".join(aligned(headings, cells)))
    if arguments.json:
        plain = {"machine": facts, "rows": [row._asdict() for row in rows]}
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(plain)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
