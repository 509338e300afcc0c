"""`penstock account ACTION`: accounts of the server, made, bounded and ended by its operator."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.cli.account_removal import add_removal, remove
from penstock.cli.answering import answer, harmless
from penstock.cli.asking import ask
from penstock.cli.client import calling, own_client
from penstock.cli.columns import NOTHING, aligned
from penstock.cli.key import exports
from penstock.cli.parser import Parser
from penstock.cli.subcommands import Subcommand, add_subcommands

HEADS = ("ACCOUNT", "TITLE", "ORIGIN", "QUEUES", "QUOTA", "USERS", "KEYS", "CREATED")
QUOTAS = {"none": 0, "default": None}


def build(parser: Parser) -> None:
    parser.description = "Make, list, bound and delete accounts, as an operator: with a key of the root account."
    parser.examples += ["penstock account add --title shop", "penstock account list"]
    add_subcommands(parser, ACTIONS)


def _add_new(parser: Parser) -> None:
    parser.add_argument("--id", metavar="ACCOUNT", help="its twelve digits (default: made up)")
    parser.add_argument("--title", metavar="TEXT", help="what people call it")
    parser.add_argument("--max-queues", metavar="N", type=_quota, help="the most queues it may have, or none")


def _quota(text: str) -> int | None:
    if text in QUOTAS:
        return QUOTAS[text]
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 2**31:
        raise argparse.ArgumentTypeError("give a whole number, 1 or more, or none, or default")
    return int(text)


def add(arguments: argparse.Namespace) -> int:
    wanted = {"AccountId": arguments.id, "Title": arguments.title, "MaxQueues": arguments.max_queues}
    given = {name: value for name, value in wanted.items() if value is not None}
    client = own_client(arguments)
    reply = calling(lambda: client.create_account(**given))
    about = f"Account {reply['Account']['AccountId']} is made. Its root key:"
    return answer(arguments, reply, _told(reply["RootKey"], about))


def _told(key: dict[str, str], about: str) -> list[str]:
    return [about, "", *exports(key), "", "The secret is not shown again."]


def show(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    pages = calling(lambda: list(client.get_paginator("list_accounts").paginate()))
    found = [account for page in pages for account in page["Accounts"]]
    return answer(arguments, found, table(found))


def table(accounts: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield from aligned(HEADS, [_row(account) for account in accounts], right=("QUEUES", "QUOTA", "USERS", "KEYS"))


def _row(account: dict[str, Any]) -> tuple[str, ...]:
    created = account.get("CreatedTimestamp")
    day = NOTHING if created is None else datetime.fromtimestamp(created / 1000, UTC).strftime("%Y-%m-%d")
    most = f"{account['MaxQueues']:,}" if account["MaxQueues"] else "none"
    numbers = (f"{account[name]:,}" for name in ("Users", "Keys"))
    title = harmless(account.get("Title", NOTHING))
    return account["AccountId"], title, account["Origin"], f"{account['Queues']:,}", most, *numbers, day


def _add_quota(parser: Parser) -> None:
    parser.add_argument("account", metavar="ACCOUNT", help="its twelve digits")
    parser.add_argument(
        "most", metavar="N", type=_quota, help="the most queues it may have; none, or default for the server's setting"
    )


def quota(arguments: argparse.Namespace) -> int:
    client = own_client(arguments)
    given = {} if arguments.most is None else {"MaxQueues": arguments.most}
    reply = calling(lambda: client.set_account_quota(AccountId=arguments.account, **given))
    return answer(arguments, reply, table([reply]))


def _add_rotation(parser: Parser) -> None:
    parser.add_argument("account", metavar="ACCOUNT", help="its twelve digits")
    parser.add_argument("--keep-old", action="store_true", help="leave the older key good, until the next rotation")
    parser.add_argument("--yes", action="store_true", help="do not ask first")


def rotate(arguments: argparse.Namespace) -> int:
    client, account = own_client(arguments), arguments.account
    if not arguments.keep_old:
        going = [f"Whoever uses an older root key of account {account} is refused from then on."]
        ask(arguments, going, "Rotate it?", "no key was changed")
    reply = calling(lambda: client.rotate_root_key(AccountId=account, KeepOld=arguments.keep_old))
    removed = ", ".join(reply["RemovedAccessKeyIds"])
    refused = f" No longer good: {removed}." if removed else ""
    return answer(arguments, reply, _told(reply["RootKey"], f"Account {account} has a new root key.{refused}"))


ACTIONS = {
    "add": Subcommand(
        "Make an account, and show its root key.",
        "",
        _add_new,
        add,
        ("penstock account add --title shop --max-queues 100", "penstock account add --id 111122223333 --json"),
    ),
    "list": Subcommand(
        "List the accounts, and what each has.", "", lambda parser: None, show, ("penstock account list",)
    ),
    "remove": Subcommand(
        "Delete an account, with everything in it.",
        "ACCOUNT",
        add_removal,
        remove,
        ("penstock account remove 111122223333 --dry-run", "penstock account remove 111122223333 --yes"),
    ),
    "quota": Subcommand(
        "Say how many queues an account may have.",
        "ACCOUNT N",
        _add_quota,
        quota,
        ("penstock account quota 111122223333 100", "penstock account quota 111122223333 default"),
    ),
    "rotate-key": Subcommand(
        "Give an account a new root key, and show it.",
        "ACCOUNT",
        _add_rotation,
        rotate,
        ("penstock account rotate-key 111122223333", "penstock account rotate-key 111122223333 --keep-old"),
    ),
}
