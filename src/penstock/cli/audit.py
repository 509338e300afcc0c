"""`penstock audit`: what the audit log says; `penstock audit verify`: whether it is as it was written."""

import argparse
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.cli.answering import answer, harmless
from penstock.cli.client import add_connection, calling, own_client
from penstock.cli.columns import NOTHING, aligned, many
from penstock.cli.metrics import add_since
from penstock.cli.parser import CommandError, Parser
from penstock.config import environment

HEADS = ("TIME", "RESULT", "WHO", "FROM", "ACTION", "ON", "TIMES", "REQUEST")
RESULTS = ("ok", "denied", "failed", "unknown")


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [verify] [options]"
    parser.description = (
        "Show refused calls, changes of identities, what administrators did, and who read the journal or messages,\n"
        "oldest first; the server is asked, as its root account. With verify, the files in the data directory are\n"
        "read, of a server that runs or not, and every line is checked: none was edited, removed or put in."
    )
    parser.examples += [
        "penstock audit --since 1h",
        "penstock audit --since 7d --account 111122223333 --action CreateUser --json",
        "penstock audit --result denied --principal anna",
        "penstock audit verify --data /var/lib/penstock",
    ]
    parser.add_argument("what", metavar="verify", nargs="?", choices=["verify"], help="check the files instead")
    add_since(parser)
    parser.add_argument("--account", metavar="ACCOUNT", help="only what it did, or what was done to what is its own")
    parser.add_argument("--action", metavar="ACTION", help="only this action, as in CreateUser or iam:CreateUser")
    parser.add_argument("--principal", metavar="WHO", help="only what this one did, given by name or ARN")
    parser.add_argument("--result", metavar="RESULT", choices=RESULTS, help=f"only what went so: {', '.join(RESULTS)}")
    parser.add_argument("--json", action="store_true", help="print whole entries as JSON")
    parser.add_argument("--known", metavar="HASH", default="", help="verify: a hash noted before, which must be there")
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    return verify(arguments) if arguments.what else look(arguments)


def look(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    wanted = {name: getattr(arguments, name.lower()) for name in ("Account", "Action", "Principal", "Result")}
    request = {"StartTime": round((time.time() - arguments.since) * 1000)}
    request |= {name: value for name, value in wanted.items() if value}
    events = calling(lambda: list(_events(client, request)))
    return answer(arguments, events, table(events) if events else ["There is nothing in this time."])


def _events(client: Any, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for reply in client.get_paginator("lookup_audit_events").paginate(**request):
        yield from reply.get("Events", [])


def table(events: Sequence[dict[str, Any]]) -> Iterator[str]:
    return aligned(HEADS, [_row(event) for event in events], right=["TIMES"])


def _row(event: dict[str, Any]) -> list[str]:
    at = datetime.fromtimestamp(event["Timestamp"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    cells = (
        event.get("ErrorCode", event["Result"]),
        event.get("Principal") or event.get("AccessKeyId"),
        event.get("SourceAddress"),
        ":".join(filter(None, (event.get("Service"), event.get("Action")))) or event["Kind"],
        event.get("Resource"),
        str(event["Count"]),
        event.get("RequestId"),
    )
    return [at, *(harmless(cell) if cell else NOTHING for cell in cells)]


def verify(arguments: argparse.Namespace) -> int:
    from penstock.audit import verification
    from penstock.audit.files import Files

    directory = Path(getattr(arguments, "data", None) or environment().get("PENSTOCK_DATA", "./data")) / "audit"
    if not directory.is_dir():
        raise CommandError(f"there is no audit log at {directory}; name the server's directory with --data")
    try:
        report = verification.verify(Files(directory), arguments.known)
    except PermissionError:
        raise CommandError(f"{directory} may be read by its owner alone") from None
    for problem in report.problems:
        print(problem)
    print(
        f"{many(report.lines, 'line')} in {many(report.files, 'file')}, the last with number {report.end.seq} and the "
        f"hash {report.end.hash}: {many(len(report.problems), 'problem') if report.problems else 'all is well'}."
    )
    return 1 if report.problems else 0
