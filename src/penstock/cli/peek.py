"""`penstock peek QUEUE`: messages as they lie in the queue. Nothing is hidden, counted or changed by looking."""

import argparse
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.cli.answering import answer, harmless
from penstock.cli.client import add_connection, calling, own_client
from penstock.cli.parser import Parser, count

PAGE = 100


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} QUEUE [options]"
    parser.description = "Show messages of a queue, oldest first and in every state, without receiving them."
    parser.examples += ["penstock peek orders", "penstock peek orders -n 500 --json"]
    parser.add_argument("queue", metavar="QUEUE", help="the queue's name or URL")
    parser.add_argument("-n", dest="number", metavar="N", type=count, default=10, help="how many (default: 10)")
    parser.add_argument("--json", action="store_true", help="print whole messages as JSON")
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    messages = calling(lambda: list(_messages(client, arguments.queue, arguments.number)))
    return answer(arguments, messages, lines_of(messages))


def _messages(client: Any, queue: str, number: int) -> Iterator[dict[str, Any]]:
    page = {"MaxItems": number, "PageSize": min(number, PAGE)}
    for reply in client.get_paginator("peek_messages").paginate(QueueUrl=queue, PaginationConfig=page):
        yield from reply.get("Messages", [])


def lines_of(messages: Sequence[dict[str, Any]]) -> Iterable[str]:
    return table(messages, shutil.get_terminal_size().columns) if messages else ["The queue is empty."]


def table(messages: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    """One line a message, cut to the width of the screen. A column that nobody fills is left out."""
    rows = [("MESSAGE ID", "SENT", "RECEIVED", "GROUP", "BODY"), *map(_row, messages)]
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns[:-1]]
    for cells in zip(*columns, strict=True):
        line = "  ".join(f"{cell:{wide}}" for cell, wide in zip(cells, widths, strict=False))
        room = max(20, width - len(line) - 2)
        body = cells[-1] if len(cells[-1]) <= room else cells[-1][: room - 1] + "…"
        yield f"{line}  {body}"


def _row(message: dict[str, Any]) -> tuple[str, str, str, str, str]:
    attributes = message.get("Attributes", {})
    sent = datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    group = harmless(attributes.get("MessageGroupId", ""))
    return message["MessageId"], sent, attributes["ApproximateReceiveCount"], group, harmless(message["Body"])
