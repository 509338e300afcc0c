"""`penstock bench scale`: does it hold at the size that was asked for?"""

import argparse
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.parser import CommandError, Parser, count
from penstock.config import environment

if TYPE_CHECKING:
    from penstock.bench.scale.plan import Plan
    from penstock.bench.scale.server import ScaleServer
    from penstock.bench.target import Target
    from penstock.bench.watch import Watch

EXAMPLES = (
    "penstock bench scale --scale 0.01",
    "penstock bench scale --accounts 100 --queues 100 --messages 1000 --in-flight 500 --json scale.json",
)
SIZES = ("accounts", "queues", "messages", "in_flight", "storm", "parked", "size", "seconds", "connections")


def add_arguments(parser: Parser) -> None:
    from penstock.bench.scale.plan import PHASES, Plan

    group = parser.add_argument_group(
        "scale", "a run of its own: fills a store, works on it, kills the server, checks; --seconds is 60 here"
    )
    for name, text in (
        ("accounts", "accounts, each with a key"),
        ("queues", "queues of each account; one in ten is FIFO"),
        ("messages", "messages of each queue"),
        ("in_flight", "of these, how many are received and not deleted"),
        ("storm", "visibility timeouts that end in the same second"),
        ("parked", "receives that wait at once"),
    ):
        default = getattr(Plan, name)
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(flag, metavar="N", type=count, help=f"{text} (default: {default:,})")
    group.add_argument(
        "--scale",
        metavar="SHARE",
        type=_share,
        help="a share of all that: accounts and queues by its root each, storm and parked by itself (default: 1)",
    )
    group.add_argument(
        "--phases", metavar="NAME,…", type=_phases, help=f"which of {', '.join(PHASES)} (default: all; most need load)"
    )
    group.add_argument("--keys", metavar="FILE", type=Path, help="with --endpoint: a line “KEY-ID SECRET” per account")
    group.add_argument("--strict", action="store_true", help="times and sizes that do not hold are failures too")


def run(arguments: argparse.Namespace, target: "Target | None", watch: "Watch | None") -> int:
    """`target` and `watch` are those of --endpoint."""
    from penstock.bench.progress import progress
    from penstock.bench.results import machine
    from penstock.bench.scale.report import ScaleReport
    from penstock.bench.scale.run import run as run_scale
    from penstock.bench.scale.tables import lines
    from penstock.bench.target import BenchError

    if arguments.protocol != "json" or arguments.no_sign:
        arguments.parser.error("scale signs its requests and speaks JSON only")
    plan = _plan(arguments)
    with tempfile.TemporaryDirectory(prefix="penstock-scale-") as name, progress() as tell:
        folder = Path(name)
        report = ScaleReport(shlex.join(["penstock", "bench", *sys.argv[2:]]), machine(folder), asdict(plan))
        _say(f"{plan.every_queue:,} queues of {plan.accounts:,} accounts, {plan.every_message:,} messages")
        try:
            with _server(arguments, plan, folder, target, watch) as server:
                run_scale(plan, server, report, tell, _say)
        except BenchError as error:
            raise CommandError(str(error)) from None
    print()
    print("\n".join(lines(report)))
    if arguments.json:
        report.write(arguments.json)
    return 1 if report.failed(strict=arguments.strict) else 0


def _say(line: str) -> None:
    print(line, flush=True)


def _plan(arguments: argparse.Namespace) -> "Plan":
    from penstock.bench.scale.plan import Plan

    given = {name: getattr(arguments, name) for name in SIZES if getattr(arguments, name) is not None}
    whole = replace(Plan(), **given)
    if arguments.scale is not None:
        kept = {name: given[name] for name in ("accounts", "queues", "storm", "parked") if name in given}
        whole = replace(whole.scaled(arguments.scale), **kept)
    if whole.in_flight > whole.messages:
        arguments.parser.error(f"--in-flight {whole.in_flight} is more than --messages {whole.messages}")
    return whole.of_phases(arguments.phases) if arguments.phases else whole


@contextmanager
def _server(
    arguments: argparse.Namespace, plan: "Plan", folder: Path, target: "Target | None", watch: "Watch | None"
) -> Iterator["ScaleServer"]:
    from penstock.bench.scale.server import OwnServer, ScaleServer, made_keys

    if target is not None and watch is not None:
        keys = _keys(arguments.keys) if arguments.keys else [(target.access_key, target.secret_key)]
        yield ScaleServer(target, keys, watch)
        return
    own = OwnServer(folder / "loaded", environment(), made_keys(plan.accounts), plan.parked)
    try:
        yield own.start()
    finally:
        own.stop()


def _keys(path: Path) -> list[tuple[str, str]]:
    try:
        rows = [line.split() for line in path.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from None
    if not rows or any(len(row) != 2 for row in rows):
        raise CommandError(f"{path}: give a key's id and its secret in each line")
    return [(access_key, secret_key) for access_key, secret_key in rows]


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 100:
        raise argparse.ArgumentTypeError("give a number above 0, such as 0.01")
    return share


def _phases(text: str) -> set[str]:
    from penstock.bench.scale.plan import PHASES

    wanted = set(text.split(","))
    if unknown := sorted(wanted - set(PHASES)):
        raise argparse.ArgumentTypeError(f"there is no phase {unknown[0]!r}; there are {', '.join(PHASES)}")
    return wanted
