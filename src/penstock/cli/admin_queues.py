"""Queues of any account, for operators: listed, deleted, purged, looked into."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from penstock.cli.answering import answer, harmless
from penstock.cli.asking import ask
from penstock.cli.client import Connection, calling, own_client
from penstock.cli.columns import NOTHING, aligned, lasting, many, sized
from penstock.cli.parser import CommandError
from penstock.cli.peek import PAGE, lines_of
from penstock.config import environment

HEADS = (
    "ACCOUNT", "REGION", "QUEUE", "VISIBLE", "IN FLIGHT", "DELAYED", "BYTES", "OLDEST", "CREATED", "SENT", "RECEIVED"
)  # fmt: skip
ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "name": lambda queue: (queue["Account"], queue["Region"], queue["QueueName"]),
    "depth": lambda queue: -held(queue),
    "bytes": lambda queue: -queue["Bytes"],
    "age": lambda queue: -queue.get("AgeOfOldestMessage", -1),
    "use": lambda queue: max(queue.get("LastSentTimestamp", 0), queue.get("LastReceivedTimestamp", 0)),
}
"""What comes first: the fullest, the biggest, the oldest, the longest unused."""


def held(queue: dict[str, Any]) -> int:
    return int(queue["VisibleMessages"] + queue["InFlightMessages"] + queue["DelayedMessages"])


def queues(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    wanted = {
        "Account": "*" if arguments.account == "all" else arguments.account,
        "Region": getattr(arguments, "region", None),
        "QueueNamePrefix": arguments.prefix,
    }
    given = {name: value for name, value in wanted.items() if value}
    pages = calling(lambda: list(client.get_paginator("list_all_queues").paginate(**given)))
    found = sorted((queue for page in pages for queue in page["Queues"]), key=ORDERS[arguments.sort])
    since = pages[0]["CountingSince"]
    return answer(arguments, found, table(found, since, time.time()) if found else ["There is no such queue."])


def table(found: Sequence[dict[str, Any]], since: int, now: float) -> Iterator[str]:
    yield from aligned(HEADS, [_row(queue, now) for queue in found], right=HEADS[3:])
    started = lasting(round(now - since / 1000))
    yield (
        f"{many(len(found), 'queue')}, {many(sum(map(held, found)), 'message')}, "
        f"{sized(sum(queue['Bytes'] for queue in found))}. Times are ago; - is not since the server was started, "
        f"{started} ago."
    )


def _row(queue: dict[str, Any], now: float) -> tuple[str, ...]:
    numbers = (f"{queue[name]:,}" for name in ("VisibleMessages", "InFlightMessages", "DelayedMessages"))
    times = (_ago(queue.get(f"{what}Timestamp"), now) for what in ("Created", "LastSent", "LastReceived"))
    place = queue["Account"], queue["Region"], harmless(queue["QueueName"])
    return *place, *numbers, sized(queue["Bytes"]), lasting(queue.get("AgeOfOldestMessage")), *times


def _ago(at: int | None, now: float) -> str:
    return NOTHING if at is None else lasting(max(0, round(now - at / 1000)))


def named(arguments: argparse.Namespace) -> str:
    """The ARN of the queue that is meant: given as such, as URL, as ACCOUNT/NAME, or as NAME with --account."""
    given: str = arguments.queue
    if given.startswith("arn:"):
        return given
    path = given.partition("://")[2].partition("/")[2] if "://" in given else given
    parts = path.strip("/").split("/")
    if len(parts) == 1 and arguments.account:
        parts = [arguments.account, *parts]
    if len(parts) != 2 or not all(parts):
        raise CommandError(f"{given}: say whose queue it is: an ARN, a URL, ACCOUNT/NAME, or --account")
    region = Connection.of(arguments, environment()).region
    return f"arn:aws:sqs:{region}:{parts[0]}:{parts[1]}"


def delete(arguments: argparse.Namespace) -> int:
    return _take(arguments, own_client(arguments).admin_delete_queue, "Delete this queue?", "was deleted")


def purge(arguments: argparse.Namespace) -> int:
    return _take(arguments, own_client(arguments).admin_purge_queue, "Delete all its messages?", "was purged")


def _take(arguments: argparse.Namespace, operation: Callable[..., Any], question: str, done: str) -> int:
    arn = named(arguments)
    reply = calling(lambda: operation(QueueArn=arn, DryRun=True))
    if not arguments.dry_run:
        ask(arguments, [told(reply["Queue"])], question, f"nothing {done}")
        reply = calling(lambda: operation(QueueArn=arn))
    return answer(arguments, reply, [told(reply["Queue"]) + ("" if arguments.dry_run else f": {done}")])


def told(queue: dict[str, Any]) -> str:
    now = time.time()
    sent, received = (_ago(queue.get(f"Last{what}Timestamp"), now) for what in ("Sent", "Received"))
    use = f"last sent {sent} ago, last received {received} ago".replace(f"{NOTHING} ago", "not since the start")
    return f"{queue['QueueArn']} ({many(held(queue), 'message')}, {sized(queue['Bytes'])}, {use})"


def peek(arguments: argparse.Namespace) -> int:
    client, arn = own_client(arguments), named(arguments)
    size = {"PageSize": min(arguments.number, PAGE)}
    pages = client.get_paginator("admin_peek_messages").paginate(QueueArn=arn, PaginationConfig=size)
    every = (message for page in pages for message in page.get("Messages", []))
    messages = calling(lambda: list(islice(every, arguments.number)))
    return answer(arguments, messages, lines_of(messages))
