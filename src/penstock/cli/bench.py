"""`penstock bench [MODE …]`: how fast is an SQS endpoint, and does it answer rightly?"""

import argparse
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from penstock import __version__
from penstock.cli import bench_scale
from penstock.cli.parser import CommandError, Parser, count
from penstock.config import environment

if TYPE_CHECKING:
    from penstock.bench.results import Server
    from penstock.bench.session import Options
    from penstock.bench.target import Target
    from penstock.bench.watch import Watch

USUAL = ("cycle", "cycle10", "fifo", "longpoll")
QUICK_SECONDS, SECONDS = 2.0, 5.0
PROTOCOLS = "json for AWS JSON 1.0, query for the older one (default: json)"
SCALE, SCALE_SUMMARY = (
    "scale",
    "10,000 queues, 10 million messages, half in flight: costs, memory, disk, kill -9, checks",
)
LOCAL = ("127.0.0.1", "localhost", "::1")


def build(parser: Parser) -> None:
    from penstock.bench.modes import MODES

    width = max(map(len, MODES))
    summaries = {name: mode.summary for name, mode in MODES.items()} | {SCALE: SCALE_SUMMARY}
    lines = "\n".join(f"  {name:{width}}  {summary}" for name, summary in summaries.items())
    parser.usage = f"{parser.prog} [MODE …] [options]"
    parser.description = (
        "Measure an SQS endpoint, and check what it answers: every send acknowledged, bodies as they were sent,\n"
        "nothing lost, twice or out of order. Without --endpoint a server is started for it in a temporary directory.\n"
        "The exit status is 1 if a check fails.\n\n"
        f"modes ({', '.join(USUAL)} unless named; `all` for all but scale):\n{lines}"
    )
    parser.examples += [
        "penstock bench",
        "penstock bench cycle --connections 64 --seconds 10",
        "penstock bench backlog --steps 0,10000,100000 --plots ./plots --json results.json",
        "penstock bench all --quick --endpoint http://127.0.0.1:9324 --data ./data",
        *bench_scale.EXAMPLES,
    ]
    parser.add_argument("modes", metavar="MODE", nargs="*", help="what to measure")
    load = parser.add_argument_group("load")
    for flag, metavar, kind, text in (
        ("--connections", "N", count, "how many connections, one request on each at a time (default: the mode's)"),
        (
            "--seconds",
            "S",
            _seconds,
            f"how long to measure each point (default: {SECONDS:.0f}; {QUICK_SECONDS:.0f} with --quick)",
        ),
        ("--warmup", "S", _seconds, "how long to run before measuring (default: 0.5)"),
        ("--size", "BYTES", count, "the size of a body (default: 256; of `large` 1 MiB)"),
        ("--steps", "N,N,…", _steps, "the depths of backlog and inflight, the numbers of queues and connections"),
        ("--groups", "N", count, "the groups of fifo (default: 100)"),
    ):
        load.add_argument(flag, metavar=metavar, type=kind, help=text)
    load.add_argument("--quick", action="store_true", help="short measurements and few steps")
    where = parser.add_argument_group("endpoint")
    for flag, metavar, text in (
        ("--endpoint", "URL", "the server to measure, http://HOST:PORT or https:// (default: one of its own)"),
        ("--region", "REGION", "the region to sign for (default: AWS_REGION, or us-east-1)"),
        ("--data", "DIRECTORY", "the server's data directory: for the credentials in it and for bytes on disk"),
    ):
        where.add_argument(flag, metavar=metavar, help=text)
    where.add_argument(
        "--pid",
        metavar="PID",
        type=count,
        help="the server's process, for its CPU and memory (default: whoever listens there)",
    )
    where.add_argument("--protocol", choices=("json", "query"), default="json", metavar="NAME", help=PROTOCOLS)
    where.add_argument("--no-sign", action="store_true", help="send requests without signatures")
    bench_scale.add_arguments(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", metavar="FILE", type=Path, help="write the results to this file")
    output.add_argument("--plots", metavar="DIRECTORY", type=Path, help="draw the results as SVG into this directory")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    from penstock.bench.plots import draw
    from penstock.bench.report import tables
    from penstock.bench.results import Results, machine
    from penstock.bench.target import BenchError

    signal.signal(signal.SIGTERM, _leave)
    if SCALE in arguments.modes:
        return _scale(arguments)
    names = _modes(arguments)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        described = machine(Path(folder))
        try:
            server = _measure(arguments, names, Path(folder))
        except BenchError as error:
            raise CommandError(str(error)) from None
    results = Results(shlex.join(["penstock", "bench", *sys.argv[2:]]), described, [server])
    print("{processors} processors, {processor}, {kernel}; one fdatasync takes {fdatasync_us} µs".format(**described))
    print("\n".join(tables(results)).rstrip())
    if arguments.json:
        results.write(arguments.json)
    if arguments.plots:
        print("Drew", ", ".join(str(path) for path in draw(results, arguments.plots)))
    return 1 if any(point.violations for point in server.points) else 0


def _leave(number: int, where: FrameType | None) -> None:
    """As with Ctrl-C: no server of its own, and no queue on another's, is left behind."""
    sys.exit(128 + number)


def _scale(arguments: argparse.Namespace) -> int:
    if arguments.modes != [SCALE]:
        arguments.parser.error("scale is a run of its own: name no other mode beside it")
    if not arguments.endpoint:
        return bench_scale.run(arguments, None, None)
    with _endpoint(arguments, Path()) as (target, watch):
        return bench_scale.run(arguments, target, watch)


def _modes(arguments: argparse.Namespace) -> list[str]:
    from penstock.bench.modes import MODES

    named: list[str] = arguments.modes or list(USUAL)
    if unknown := [name for name in named if name not in (*MODES, "all")]:
        arguments.parser.error(f"there is no mode {unknown[0]!r}; there are {', '.join((*MODES, SCALE))}")
    return list(MODES) if "all" in named else named


def _measure(arguments: argparse.Namespace, names: list[str], folder: Path) -> "Server":
    from penstock.bench.modes import MODES, measured
    from penstock.bench.progress import progress
    from penstock.bench.results import Server

    title = arguments.endpoint or f"Penstock {__version__}"
    server = Server("endpoint" if arguments.endpoint else "penstock", title, signs=not arguments.no_sign)
    with progress() as tell:
        for name in names:
            with _endpoint(arguments, folder / name) as (target, watch):
                options = _options(arguments, MODES[name].options(SECONDS, quick=arguments.quick))
                server.points += measured(name, target, options, watch, tell)
    return server


def _options(arguments: argparse.Namespace, options: "Options") -> "Options":
    if arguments.quick:
        options = replace(options, seconds=QUICK_SECONDS)
    given = {name: getattr(arguments, name) for name in ("connections", "seconds", "warmup", "size", "steps", "groups")}
    return replace(options, **{name: value for name, value in given.items() if value is not None})


@contextmanager
def _endpoint(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple["Target", "Watch"]]:
    """The endpoint that was named, or a server of its own, new for each mode."""
    from penstock.bench.own_server import running
    from penstock.bench.watch import Watch, pid_listening_on

    if not arguments.endpoint:
        folder.mkdir()
        with running(folder, environment()) as own:
            target = replace(own.target, protocol=arguments.protocol, sign=not arguments.no_sign)
            yield target, Watch(own.pid, folder / "data")
        return
    target = _target(arguments)
    pid = arguments.pid or (pid_listening_on(target.port) if target.host in LOCAL else None)
    yield target, Watch(pid, Path(arguments.data) if arguments.data else None)


def _target(arguments: argparse.Namespace) -> "Target":
    from penstock.bench.own_server import allow_many_files
    from penstock.bench.target import at

    allow_many_files()
    target = replace(at(arguments.endpoint), protocol=arguments.protocol, sign=not arguments.no_sign)
    environ = environment()
    region = arguments.region or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or target.region
    keys = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if arguments.data and not all(keys):
        from penstock.cli.client import kept_credentials

        keys = kept_credentials(Path(arguments.data)) or keys
    access_key, secret_key = keys
    return replace(
        target,
        region=region,
        ca_file=environ.get("AWS_CA_BUNDLE"),
        access_key=access_key or target.access_key,
        secret_key=secret_key or target.secret_key,
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86_400:
        raise argparse.ArgumentTypeError("give a number of seconds")
    return seconds


def _steps(text: str) -> tuple[int, ...]:
    steps = text.replace("_", "").split(",")
    if not all(step.isascii() and step.isdigit() for step in steps):
        raise argparse.ArgumentTypeError("give whole numbers, separated by commas")
    return tuple(sorted(map(int, steps)))
