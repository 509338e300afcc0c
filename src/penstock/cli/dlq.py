"""`penstock dlq redrive PLAN`: carry out what the job `dlq` planned and a person chose."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from penstock.cli.asking import ask
from penstock.cli.client import add_connection, sqs_client
from penstock.cli.parser import CommandError, Parser, count
from penstock.cli.redrive import Picking, Server, Show, move_all
from penstock.pipeline.plan import Group, Plan, PlanError, parse

SHOWN = 10
"""Ids that are named of messages which were not found."""
WIDTH = 24


def build(parser: Parser) -> None:
    parser.usage = f"{parser.prog} ACTION [options]"
    parser.description = "Bring dead letters back to where they came from."
    parser.examples += ["penstock dlq redrive redrive-plan.json --dry-run"]
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions", prog=parser.prog)
    child = actions.add_parser(
        "redrive",
        help="Carry out a plan of `penstock pipeline dlq`.",
        description=(
            "Bring the chosen groups of a plan back, as `penstock pipeline dlq` wrote it and somebody edited it. It\n"
            "may be stopped and repeated: what is moved is not moved again. Exit status 1 if some were not found."
        ),
    )
    child.usage = f"{child.prog} PLAN [options]"
    child.examples = [
        "penstock dlq redrive redrive-plan.json --dry-run",
        "penstock dlq redrive redrive-plan.json --rate 50 --yes",
    ]
    child.add_argument("plan", metavar="PLAN", type=Path, help="the file of the plan")
    child.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    child.add_argument(
        "--rate", metavar="N", type=count, help="messages a second, at most (default: as fast as it goes)"
    )
    child.add_argument("--yes", action="store_true", help="do not ask first")
    add_connection(child)
    child.set_defaults(run=redrive)


def redrive(arguments: argparse.Namespace) -> int:
    groups = _chosen(arguments.plan)
    server = Server(sqs_client(arguments), threading.Event(), arguments.rate)
    if arguments.dry_run:
        for group in groups:
            print(f"{_way(group)}: {_amount(group)}; the queue holds {server.held(group.dead_letter_queue):,}")
        return 0
    ask(arguments, (f"{_way(group)}: {_amount(group)}" for group in groups), "Move them?", "nothing was moved")
    with _stopped_by_ctrl_c(server.stop):
        missing = sum(
            [_carry_out(server, list(some)) for _, some in groupby(groups, lambda one: one.dead_letter_queue)]
        )
    if server.stop.is_set():
        raise KeyboardInterrupt
    return 1 if missing else 0


def _chosen(path: Path) -> list[Group]:
    try:
        plan: Plan = parse(path.read_text())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except (PlanError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from None
    chosen = [group for group in plan.groups if group.chosen and group.messages]
    if not chosen:
        raise CommandError(f'{path}: no group is chosen; set "chosen" to true for those that are to go back')
    return sorted(chosen, key=lambda group: (group.dead_letter_queue, group.whole))


@contextmanager
def _stopped_by_ctrl_c(stop: threading.Event) -> Iterator[None]:
    """A message that is sent is also deleted before the command ends."""
    before = signal.signal(signal.SIGINT, lambda number, where: stop.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _carry_out(server: Server, groups: Sequence[Group]) -> int:
    """All of one dead-letter queue, in one pass for those of which some messages go; how many were not found."""
    missing = 0
    parts = [group for group in groups if not group.whole]
    if parts and not server.stop.is_set():
        missing += _pick(server, parts)
    for group in groups:
        if group.whole and not server.stop.is_set():
            moved = move_all(server, group.dead_letter_queue, group.destination, _progress(_way(group), group.count))
            print(f"{_way(group)}: moved {moved:,} messages, of {group.count:,} in the plan")
            missing += max(0, group.count - moved)
    return missing


def _pick(server: Server, groups: Sequence[Group]) -> int:
    urls = {arn: server.url(arn) for arn in {group.destination for group in groups}}
    wanted = {name: urls[group.destination] for group in groups for name in group.messages}
    picking = Picking(server, groups[0].dead_letter_queue, wanted)
    try:
        picking.run(_progress(_name(groups[0].dead_letter_queue), len(wanted)))
    finally:
        for group in groups:
            moved = picking.moved & set(group.messages)
            print(f"{_way(group)}: moved {len(moved):,} of {len(group.messages):,} messages")
    missing = [name for name in wanted if name not in picking.moved]
    if missing and not server.stop.is_set():
        more = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        print(f"{_name(groups[0].dead_letter_queue)}: not found: {', '.join(missing[:SHOWN])}{more}")
    return len(missing)


def _progress(name: str, total: int) -> Show:
    """A bar, if somebody is looking."""
    if not sys.stderr.isatty():
        return lambda moved: None

    def show(moved: int) -> None:
        share = min(1.0, moved / total) if total else 1.0
        end = "\n" if share == 1 else ""
        sys.stderr.write(f"\r\033[K{name} {'█' * round(WIDTH * share):░<{WIDTH}} {moved:,} of {total:,}{end}")
        sys.stderr.flush()

    return show


def _way(group: Group) -> str:
    return f"{group.signature} {_name(group.dead_letter_queue)} → {_name(group.destination)}"


def _amount(group: Group) -> str:
    return (
        f"all messages, {group.count:,} when the plan was made" if group.whole else f"{len(group.messages):,} messages"
    )


def _name(arn: str) -> str:
    return arn.rpartition(":")[2]
