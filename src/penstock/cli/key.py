"""`penstock key ACTION`: what users sign their calls with. A secret is shown once, when its key is made."""

import argparse
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from penstock.cli.answering import answer
from penstock.cli.asking import add_asking, ask
from penstock.cli.client import calling, iam_client
from penstock.cli.columns import NOTHING, aligned
from penstock.cli.holders import keys_of, pages
from penstock.cli.parser import CommandError, Parser
from penstock.cli.subcommands import Subcommand, add_subcommands

HEADS = ("KEY", "USER", "STATUS", "CREATED", "LAST USED", "FOR")
KEY = "AKIA2B4C6D8E0F2G4H6I"


def build(parser: Parser) -> None:
    parser.description = (
        "Make, list, switch off and remove access keys of users. A user has two at most, so that one can be in use\n"
        "while the other is changed: add the new one, move the clients, deactivate the old one, and remove it."
    )
    parser.examples += ["penstock key add anna", "penstock key list anna", f"penstock key deactivate {KEY}"]
    add_subcommands(parser, ACTIONS)


def told(key: dict[str, Any]) -> list[str]:
    return ["", *exports(key), "", f"This is the key of {key['UserName']}. Its secret is not shown again."]


def exports(key: dict[str, str]) -> list[str]:
    """A new key, as a shell takes it."""
    variables = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    return [f"  export {name}={shlex.quote(value)}" for name, value in variables.items()]


def add(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    key = calling(lambda: client.create_access_key(UserName=arguments.user))["AccessKey"]
    return answer(arguments, key, told(key)[1:])


def list_(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    keys = calling(lambda: list(_keys(client, arguments.user)))
    table = aligned(HEADS, [_row(key) for key in keys])
    return answer(arguments, keys, table if keys else ["There is no key."])


def _keys(client: Any, user: str | None) -> Iterator[dict[str, Any]]:
    users = [user] if user else [found["UserName"] for found in pages(client, "list_users")]
    for name in users:
        for key in keys_of(client, name):
            used = client.get_access_key_last_used(AccessKeyId=key["AccessKeyId"])["AccessKeyLastUsed"]
            yield key | {"LastUsed": used}


def _row(key: dict[str, Any]) -> tuple[str, ...]:
    used = key["LastUsed"]
    known = used.get("LastUsedDate")
    service = used.get("ServiceName", "N/A") if known else NOTHING
    return key["AccessKeyId"], key["UserName"], key["Status"], when(key["CreateDate"]), when(known), service


def when(time: datetime | None) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ") if time else NOTHING


def remove(arguments: argparse.Namespace) -> int:
    client, key = iam_client(arguments), arguments.key
    owner = _owner(client, key)
    if arguments.dry_run:
        return answer(arguments, owner, [f"{key} of {owner['UserName']}"])
    ask(arguments, [f"{key} of {owner['UserName']}"], "Remove it?", "nothing was removed")
    calling(lambda: client.delete_access_key(**owner))
    return answer(arguments, owner, [f"{key} of {owner['UserName']} was removed."])


def deactivate(arguments: argparse.Namespace) -> int:
    return _set(arguments, "Inactive")


def activate(arguments: argparse.Namespace) -> int:
    return _set(arguments, "Active")


def _set(arguments: argparse.Namespace, status: str) -> int:
    client = iam_client(arguments)
    given = _owner(client, arguments.key) | {"Status": status}
    calling(lambda: client.update_access_key(**given))
    return answer(arguments, given, [f"{arguments.key} of {given['UserName']} is {status.lower()}."])


def _owner(client: Any, key: str) -> dict[str, str]:
    """The key and whose it is, as operations on it want them."""
    user = calling(lambda: client.get_access_key_last_used(AccessKeyId=key)).get("UserName")
    if not user:
        raise CommandError(f"{key} is no user's key")
    return {"UserName": user, "AccessKeyId": key}


def _add_user(parser: Parser) -> None:
    parser.add_argument("user", metavar="USER", help="the user's name")


def _add_maybe_user(parser: Parser) -> None:
    parser.add_argument("user", metavar="USER", nargs="?", help="whose (default: every user's)")


def _add_key(parser: Parser) -> None:
    parser.add_argument("key", metavar="KEY", help="the access key's id")


def _add_remove(parser: Parser) -> None:
    _add_key(parser)
    add_asking(parser)


ACTIONS = {
    "add": Subcommand("Make a key for a user, and print it.", "USER", _add_user, add, ("penstock key add anna",)),
    "list": Subcommand(
        "List keys, and when each was last used.",
        "[USER]",
        _add_maybe_user,
        list_,
        ("penstock key list", "penstock key list anna --json"),
    ),
    "deactivate": Subcommand(
        "Switch a key off: calls with it are refused at once.",
        "KEY",
        _add_key,
        deactivate,
        (f"penstock key deactivate {KEY}",),
    ),
    "activate": Subcommand("Switch a key on again.", "KEY", _add_key, activate, (f"penstock key activate {KEY}",)),
    "remove": Subcommand("Remove a key.", "KEY", _add_remove, remove, (f"penstock key remove {KEY} --yes",)),
}
