"""`penstock journal ACTION`: look at the journal, in its directory or over the network, and check that it is whole."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.cli.answering import harmless
from penstock.cli.columns import NOTHING, aligned, many
from penstock.cli.journal_source import source_of
from penstock.cli.options import add_settings, loaded
from penstock.cli.parser import CommandError, Parser, count
from penstock.config import Settings, database_path

PLACE = ("data", "store", "journal_directory")
SCANNED = 100_000
"""How many events back the last ones of a queue are looked for."""
TOLD_FIRST = ("ts_ms", "seq", "event", "region", "account", "queue", "message_id", "node")


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} ACTION [options]"
    parser.description = (
        "Look at the journal: every acknowledged change, one event each. The files in the data directory are read, of\n"
        "a server that runs or not; with --endpoint-url the server is asked, as its root account."
    )
    parser.examples += [
        "penstock journal tail --queue orders --follow",
        "penstock journal verify --data /var/lib/penstock",
    ]
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions", prog=parser.prog)
    for name, summary, run, examples in (
        ("tail", "Show the last events, and go on with those that come.", tail, TAIL_EXAMPLES),
        ("segments", "List the files of the journal.", segments, ["penstock journal segments --json"]),
        ("readers", "List the registered readers and how far each is.", readers, ["penstock journal readers"]),
        ("verify", "Check that the journal is whole and agrees with the store.", verify, ["penstock journal verify"]),
    ):
        child = actions.add_parser(name, help=summary, description=summary)
        child.examples = examples
        if name == "tail":
            _add_tail(child)
        if name != "verify":
            child.add_argument("--json", action="store_true", help="print JSON, one line each")
            _add_remote(child)
        add_settings(child, PLACE)
        child.set_defaults(run=run)


TAIL_EXAMPLES = [
    "penstock journal tail -n 50",
    "penstock journal tail --queue orders --follow",
    "penstock journal tail --from 1 --json > events.jsonl",
]


def _add_tail(parser: Parser) -> None:
    parser.add_argument("--queue", metavar="QUEUE", help="only events of this queue, given by its name or ARN")
    parser.add_argument("-n", dest="number", metavar="N", type=count, default=10, help="how many (default: 10)")
    parser.add_argument("--from", dest="since", metavar="SEQ", type=count, help="all from this number on, not the last")
    parser.add_argument("--follow", action="store_true", help="go on until Ctrl-C with the events that come")
    parser.add_argument("--node", metavar="NODE", help="another node than the one being written")


def _add_remote(parser: Parser) -> None:
    group = parser.add_argument_group("connection")
    group.add_argument("--endpoint-url", metavar="URL", help="ask this server, instead of reading files")
    group.add_argument("--region", metavar="REGION", default=argparse.SUPPRESS, help="the region to sign for")


def tail(arguments: argparse.Namespace) -> int:
    source = source_of(arguments, loaded(arguments).settings)
    node, last = source.newest(arguments.node)
    back = SCANNED if arguments.queue else arguments.number
    seq = arguments.since or max(1, last - back + 1)
    latest: deque[bytes] = deque(maxlen=None if arguments.since else arguments.number)
    more = True
    while more or arguments.follow:
        chunk = source.read(node, seq, arguments.queue, wait=not more)
        latest += chunk.lines.splitlines()
        seq, more = chunk.next, chunk.more
        if arguments.since or not more:
            for line in latest:
                print(_shown(line, arguments.json))
            sys.stdout.flush()
            latest.clear()
    return 0


def _shown(line: bytes, as_json: bool) -> str:
    if as_json:
        return line.decode()
    event: dict[str, Any] = json.loads(line)
    at = datetime.fromtimestamp(event["ts_ms"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    rest = " ".join(f"{name}={_value(value)}" for name, value in event.items() if name not in TOLD_FIRST)
    place = f"{event['account']}/{event.get('queue', '')}"
    return f"{at}Z {event['seq']:>10} {event['event']:<18} {place} {event.get('message_id', '-')} {rest}".rstrip()


def _value(value: object) -> str:
    return harmless(json.dumps(value, ensure_ascii=False))


def segments(arguments: argparse.Namespace) -> int:
    rows = source_of(arguments, loaded(arguments).settings).segments()
    _print(rows, arguments.json, "There is no segment yet.")
    return 0


def readers(arguments: argparse.Namespace) -> int:
    rows = source_of(arguments, loaded(arguments).settings).readers()
    _print(rows, arguments.json, "There is no registered reader.")
    return 0


def _print(rows: list[dict[str, Any]], as_json: bool, nothing: str) -> None:
    if as_json:
        for row in rows:
            print(json.dumps(row))
    elif rows:
        heads = [name.upper() for name in rows[0]]
        print("\n".join(aligned(heads, [[_cell(value) for value in row.values()] for row in rows])))
    else:
        print(nothing)


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={number}" for name, number in value.items()) or NOTHING
    return NOTHING if value is None else str(value)


def verify(arguments: argparse.Namespace) -> int:
    settings = loaded(arguments).settings
    from penstock.journal.segments import Segments
    from penstock.journal.verification import Verification

    directory, started = settings.journal_directory, time.monotonic()
    if not directory.is_dir():
        raise CommandError(f"there is no journal at {directory}; name the server's directory with --data")
    files = Segments(directory)
    verification = Verification(files)
    report = verification.report
    own = _verify_store(settings, verification)
    for node in files.nodes():
        if node != own:
            verification.files(node)
    for problem in report.problems:
        print(problem)
    print(
        f"{many(report.events, 'event')} in {many(report.segments, 'segment')} of {many(report.nodes, 'node')}, "
        f"{many(report.queues, 'queue')} compared with the store, in {time.monotonic() - started:.1f} seconds: "
        f"{many(len(report.problems), 'problem') if report.problems else 'all is well'}."
    )
    return 1 if report.problems else 0


def _verify_store(settings: Settings, verification: Any) -> str:
    """Compare with a copy of the embedded store: to open the store itself could change it. The node that is its."""
    path = database_path(settings)
    if path is None or not path.exists():
        print("There is no embedded store here to compare with: only the files are checked.")
        return ""
    import apsw

    from penstock.core.store import StoreError
    from penstock.stores.sqlite import SqliteStore
    from penstock.stores.sqlite.file import copy

    async def compare(database: Path) -> str:
        from penstock.journal.keeping import NODE

        store = SqliteStore(database)
        await store.open()
        try:
            await verification.store(store)
            return (await store.keep(NODE, b"")).decode()
        finally:
            await store.close()

    try:
        with tempfile.TemporaryDirectory(prefix="penstock-verify-", dir=path.parent) as folder:
            copy(path, Path(folder) / path.name)
            return asyncio.run(compare(Path(folder) / path.name))
    except (StoreError, apsw.Error, OSError) as error:
        raise CommandError(f"the store could not be copied, to be compared: {error}") from None
