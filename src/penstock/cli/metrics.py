"""`penstock metrics [QUEUE]`: what queues did, window by window, as the server counted it."""

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.cli.answering import answer, harmless
from penstock.cli.client import add_connection, calling, own_client
from penstock.cli.columns import aligned
from penstock.cli.parser import Parser

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
PARTIAL = "*"
COLUMNS = {
    "SENT": ("NumberOfMessagesSent", "Sum"),
    "RECEIVED": ("NumberOfMessagesReceived", "Sum"),
    "DELETED": ("NumberOfMessagesDeleted", "Sum"),
    "EMPTY": ("NumberOfEmptyReceives", "Sum"),
    "BYTES": ("SentMessageSize", "Sum"),
    "VISIBLE": ("ApproximateNumberOfMessagesVisible", "Maximum"),
    "IN FLIGHT": ("ApproximateNumberOfMessagesNotVisible", "Maximum"),
    "DELAYED": ("ApproximateNumberOfMessagesDelayed", "Maximum"),
    "OLDEST": ("ApproximateAgeOfOldestMessage", "Maximum"),
}
"""Heading → the metric, and which of its statistics says most."""


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [QUEUE] [options]"
    parser.description = (
        "Show what queues did, window by window, as the server counted it since it was started: sums of what was\n"
        "sent, received and deleted, and the highest numbers of messages and seconds of age that were seen."
    )
    parser.examples += [
        "penstock metrics",
        "penstock metrics orders --period 300 --since 3h",
        "penstock metrics --account '*' --json",
    ]
    parser.add_argument("queue", metavar="QUEUE", nargs="?", help="the queue's name (default: all of the account's)")
    parser.add_argument(
        "--period", metavar="SECONDS", type=_period, default=60, help="of a window, a multiple of 60 (default: 60)"
    )
    add_since(parser)
    parser.add_argument("--account", metavar="ACCOUNT", help="another account than the caller's, or * for all")
    parser.add_argument("--json", action="store_true", help="print all nine metrics of each window as JSON")
    add_connection(parser)
    parser.set_defaults(run=run)


def _period(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or not int(text) or int(text) % 60:
        raise argparse.ArgumentTypeError("give a multiple of 60 seconds, such as 60 or 300")
    return int(text)


def add_since(parser: Parser) -> None:
    parser.add_argument(
        "--since", metavar="TIME", type=_seconds, default=3600, help="how far back, as in 90s, 15m, 2h (default: 1h)"
    )


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,6})([smhd])", text)
    if not found:
        raise argparse.ArgumentTypeError("give a number with its unit, such as 90s, 15m, 2h or 1d")
    return int(found[1]) * UNITS[found[2]]


def run(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    request = {"Period": arguments.period, "StartTime": round((time.time() - arguments.since) * 1000)}
    request |= {"QueueName": arguments.queue} if arguments.queue else {}
    request |= {"Account": arguments.account} if arguments.account else {}
    windows = calling(lambda: list(_windows(client, request)))
    return answer(arguments, windows, table(windows) if windows else ["Nothing was counted in this time."])


def _windows(client: Any, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for reply in client.get_paginator("get_queue_metrics").paginate(**request):
        yield from reply.get("Windows", [])


def table(windows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One line a window. A metric that was not sampled is a dash."""
    rows = [("BEGIN", "ACCOUNT", "QUEUE", *COLUMNS), *map(_row, windows)]
    columns = [column for column in zip(*rows, strict=True) if column[0] != "ACCOUNT" or len(set(column)) > 2]
    heads, *shown = zip(*columns, strict=True)
    yield from aligned(heads, shown, right=COLUMNS)
    if any(window["Partial"] for window in windows):
        yield f"{PARTIAL} a part is missing: it is not over, or began before the server or what it remembers"


def _row(window: dict[str, Any]) -> tuple[str, ...]:
    begin = datetime.fromtimestamp(window["StartTime"] / 1000, UTC).strftime("%Y-%m-%d %H:%MZ")
    mark = PARTIAL if window["Partial"] else " "
    numbers = (_number(window["Metrics"].get(name), statistic) for name, statistic in COLUMNS.values())
    return begin + mark, window["Account"], harmless(window["QueueName"]), *numbers


def _number(statistics: dict[str, int] | None, which: str) -> str:
    return "-" if statistics is None else str(statistics[which])
