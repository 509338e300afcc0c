"""`penstock demo`: a server, traffic for half a minute, and the pipeline over it, up to a page to look at.

Everything stays in one folder, so that the tables can be looked at afterwards. A second run adds to the first.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from penstock.cli import demo_traffic
from penstock.cli.parser import CommandError, Parser
from penstock.pipeline.catalogue import JOBS
from penstock.pipeline.session import NotReady, check

LISTENS = re.compile(r"^Penstock \S+ listens on (http://\S+)$", re.MULTILINE)
START_SECONDS = 30
SETTLED_SECONDS = 5
"""After which queues hold as much as they will."""
ROOT = "000000000000"
CONFIG = Path(__file__).with_name("demo.toml")
"""The accounts and queues. Keys of an account are made from its number: nobody else reaches this server."""


def build(parser: Parser) -> None:
    parser.description = (
        "Start a server, send, receive and fail for a while, bring the journal into tables with Spark, and make a\n"
        "page of them. Ends by itself, opens nothing, and prints where the page is."
    )
    parser.examples += ["penstock demo", "penstock demo --folder /tmp/demo --seconds 60"]
    parser.add_argument("--folder", metavar="PATH", default="demo", help="where everything is kept (default: ./demo)")
    parser.add_argument("--seconds", metavar="N", type=int, default=20, help="of traffic, at least (default: 20)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        check()
    except NotReady as error:
        raise CommandError(str(error)) from None
    folder = Path(arguments.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with server(folder) as url:
        seconds = until_a_gauge(arguments.seconds, time.time())
        print(f"demo: {seconds} s of traffic at {url}, in {folder}", flush=True)
        sent = demo_traffic.run(url, seconds)
        print(f"demo: {sent:,} messages sent", flush=True)
        published(folder)
    for job in ("land", "metrics", "report"):
        if job in JOBS:
            pipeline(folder, job)
    print(f"demo: the page is {folder / 'tables' / 'report.html'}; `penstock pipeline shell --out {folder / 'tables'}`")
    return 0


def until_a_gauge(seconds: int, now: float) -> int:
    """The server gauges its queues as a minute begins: without one the page has no depths."""
    left = 60 - round(now) % 60
    return max(seconds, left + 2 if left >= SETTLED_SECONDS else left + 62)


def published(folder: Path) -> None:
    """Wait until the last segment is; jobs read no other."""
    deadline = time.monotonic() + START_SECONDS
    while _unpublished(folder / "data" / "journal"):
        if time.monotonic() > deadline:
            raise CommandError(f"demo: the journal in {folder} is not published")
        time.sleep(0.1)


def _unpublished(journal: Path) -> bool:
    try:
        return any(file.stat().st_size for file in journal.rglob("_open-*.jsonl"))
    except FileNotFoundError:  # it was published just now
        return True


def pipeline(folder: Path, job: str) -> None:
    words = [sys.executable, "-m", "penstock", "pipeline", job, "--out", str(folder / "tables"), "--master", "local[2]"]
    names = {option.name for option in chain(JOBS[job].own, *JOBS[job].groups)}
    if "journal" in names:
        words += ["--journal", str(folder / "data" / "journal")]
    words += [f"--{name}" for name in ("once", "final") if name in names]
    print(f"demo: penstock {' '.join(words[3:])}", flush=True)
    done = subprocess.run(words, check=False)
    if done.returncode:
        raise CommandError(f"demo: {job} ended with status {done.returncode}")


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Its address; stopped as an operator would."""
    log = folder / "server.log"
    words = [sys.executable, "-m", "penstock", "serve", "--config", str(CONFIG), "--listen", "127.0.0.1:0"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    access_key, secret_key = demo_traffic.keys(ROOT)
    environ |= {"PENSTOCK_ROOT_ACCESS_KEY": access_key, "PENSTOCK_ROOT_SECRET_KEY": secret_key}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*words, "--data", str(folder / "data")], env=environ, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield announced(process, log)
    finally:
        process.terminate()
        process.wait()


def announced(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := LISTENS.search(log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise CommandError(f"demo: the server did not start: see {log}")
