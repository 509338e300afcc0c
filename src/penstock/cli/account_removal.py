"""The end of an account and of everything in it: `penstock account remove`, or `penstock admin delete-account`."""

import argparse
from collections.abc import Iterator
from typing import Any

from penstock.cli.admin_queues import told
from penstock.cli.answering import answer, harmless
from penstock.cli.asking import add_asking, ask
from penstock.cli.client import calling, own_client
from penstock.cli.columns import many, sized
from penstock.cli.parser import Parser

SHOWN = 20
"""Queues that are named of those that would go."""
KINDS = {"Users": "user", "Groups": "group", "Roles": "role", "Keys": "key"}


def add_removal(parser: Parser) -> None:
    parser.add_argument("account", metavar="ACCOUNT", help="its twelve digits")
    add_asking(parser)


def remove(arguments: argparse.Namespace) -> int:
    client, account = own_client(arguments), arguments.account
    reply = calling(lambda: client.delete_account(AccountId=account, DryRun=True))
    if not arguments.dry_run:
        ask(arguments, _going(client, reply), "Delete all of it?", "nothing was deleted")
        reply = calling(lambda: client.delete_account(AccountId=account, Force=True))
    return answer(arguments, reply, _going(client, reply) if arguments.dry_run else [f"{_summary(reply)}: deleted"])


def _going(client: Any, reply: dict[str, Any]) -> Iterator[str]:
    """What the account has, and the first of its queues by name."""
    yield _summary(reply)
    if reply["Contents"]["Queues"]:
        account = reply["Account"]["AccountId"]
        found = calling(lambda: client.list_all_queues(Account=account, MaxResults=SHOWN))["Queues"]
        yield from (f"  {told(queue)}" for queue in found)
        if (more := reply["Contents"]["Queues"] - len(found)) > 0:
            yield f"  and {many(more, 'more queue')}"


def _summary(reply: dict[str, Any]) -> str:
    account, held = reply["Account"], reply["Contents"]
    title = f" ({harmless(account['Title'])})" if "Title" in account else ""
    parts = [f"{many(held['Queues'], 'queue')} with {many(held['Messages'], 'message')} ({sized(held['Bytes'])})"]
    parts += [many(held[name], kind) for name, kind in KINDS.items() if held[name]]
    parts += [f"{held['Policies']:,} managed policies"] if held["Policies"] else []
    return f"Account {account['AccountId']}{title}: {', '.join(parts)}"
