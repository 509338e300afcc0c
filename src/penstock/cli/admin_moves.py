"""Move tasks of any account, for operators: which are running, and the end of one."""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.cli.answering import answer
from penstock.cli.asking import ask
from penstock.cli.client import calling, own_client
from penstock.cli.columns import NOTHING, aligned, lasting
from penstock.cli.parser import CommandError

HEADS = ("TASK", "STATUS", "FROM", "TO", "MOVED", "OF", "RATE", "STARTED", "FAILURE")


def moves(arguments: argparse.Namespace) -> int:
    client, account = own_client(arguments), "*" if arguments.account == "all" else arguments.account
    wanted = {"Account": account} | ({"QueueArn": arguments.of} if arguments.of else {})
    tasks = calling(lambda: client.list_all_move_tasks(**wanted))["MoveTasks"]
    return answer(arguments, tasks, table(tasks, time.time()) if tasks else ["There is no such move task."])


def table(tasks: Sequence[dict[str, Any]], now: float) -> Iterator[str]:
    """One line a task. Nothing said of why one failed is said of all of them where none did."""
    rows = [_row(task, now) for task in tasks]
    shown = len(HEADS) if any(task.get("FailureReason") for task in tasks) else len(HEADS) - 1
    yield from aligned(HEADS[:shown], [row[:shown] for row in rows], right=HEADS[4:8])


def _row(task: dict[str, Any], now: float) -> tuple[str, ...]:
    rate = task.get("MaxNumberOfMessagesPerSecond")
    return (
        task["TaskId"],
        task["Status"],
        _queue(task["SourceArn"]),
        _queue(task["DestinationArn"]) if "DestinationArn" in task else "where they died",
        f"{task['MessagesMoved']:,}",
        f"{task['MessagesToMove']:,}",
        f"{rate}/s" if rate else NOTHING,
        f"{lasting(max(0, round(now - task['StartedTimestamp'] / 1000)))} ago",
        task.get("FailureReason", NOTHING),
    )


def _queue(arn: str) -> str:
    return "/".join(arn.split(":")[4:])


def cancel(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    running = calling(lambda: client.list_all_move_tasks())["MoveTasks"]
    chosen = [task for task in running if task["TaskId"] == arguments.task]
    if not chosen:
        raise CommandError(f"no move task {arguments.task} is running; see penstock admin moves")
    going = list(table(chosen, time.time()))
    if arguments.dry_run:
        return answer(arguments, chosen[0], going)
    ask(arguments, going, "End this task? What it has moved stays moved.", "the task goes on")
    reply = calling(lambda: client.admin_cancel_move_task(TaskId=arguments.task))
    return answer(arguments, reply, [f"{arguments.task}: ends, {reply['MessagesMoved']:,} messages were moved"])
