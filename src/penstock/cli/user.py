"""`penstock user ACTION`: people and programs that call with keys of their own."""

import argparse
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from penstock.cli.answering import answer
from penstock.cli.asking import add_asking, ask
from penstock.cli.client import calling, iam_client
from penstock.cli.columns import NOTHING, aligned
from penstock.cli.holders import Holder, groups_of, keys_of, pages
from penstock.cli.key import told, when
from penstock.cli.parser import Parser
from penstock.cli.subcommands import Subcommand, add_subcommands

HEADS = ("USER", "GROUPS", "KEYS", "CREATED")


def build(parser: Parser) -> None:
    parser.description = (
        "Make, list and remove users of the account. A user may do nothing until `penstock policy allow` says so, for\n"
        "the user or for a group it is in, and calls with a key that `penstock key add` makes."
    )
    parser.examples += ["penstock user add anna --group senders --key", "penstock user list"]
    add_subcommands(parser, ACTIONS)


def _add_name(parser: Parser) -> None:
    parser.add_argument("name", metavar="USER", help="the user's name")


def _add_add(parser: Parser) -> None:
    _add_name(parser)
    parser.add_argument("--group", metavar="GROUP", action="append", default=[], help="put it into this group; repeat")
    parser.add_argument("--key", action="store_true", help="make a key for it too, and print it")


def add(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    made = calling(lambda: _made(client, arguments.name, arguments.group))
    key = calling(lambda: client.create_access_key(UserName=arguments.name))["AccessKey"] if arguments.key else None
    groups = f", in {', '.join(arguments.group)}" if arguments.group else ""
    return answer(
        arguments,
        made | {"Groups": arguments.group} | ({"AccessKey": key} if key else {}),
        [f"{made['Arn']} was made{groups}.", *(told(key) if key else ())],
    )


def _made(client: Any, name: str, groups: list[str]) -> dict[str, Any]:
    """With all of its groups, or not at all."""
    for group in groups:
        client.get_group(GroupName=group, MaxItems=1)
    made: dict[str, Any] = client.create_user(UserName=name)["User"]
    try:
        for group in groups:
            client.add_user_to_group(UserName=name, GroupName=group)
    except ClientError:
        for group in groups_of(client, name):
            client.remove_user_from_group(UserName=name, GroupName=group)
        client.delete_user(UserName=name)
        raise
    return made


def list_(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    users = calling(lambda: list(_users(client)))
    table = aligned(HEADS, [_row(user) for user in users])
    return answer(arguments, users, table if users else ["There is no user."])


def _users(client: Any) -> Iterator[dict[str, Any]]:
    for user in pages(client, "list_users"):
        name = user["UserName"]
        yield user | {"Groups": groups_of(client, name), "AccessKeys": keys_of(client, name)}


def _row(user: dict[str, Any]) -> tuple[str, ...]:
    states = [key["Status"] for key in user["AccessKeys"]]
    off = f", {states.count('Inactive')} inactive" if "Inactive" in states else ""
    groups = ", ".join(user["Groups"]) or NOTHING
    return user["UserName"], groups, f"{states.count('Active')}{off}", when(user["CreateDate"])


def _add_remove(parser: Parser) -> None:
    _add_name(parser)
    add_asking(parser)


def remove(arguments: argparse.Namespace) -> int:
    client, name = iam_client(arguments), arguments.name
    calling(lambda: client.get_user(UserName=name))
    going = calling(lambda: _going(client, name))
    lines = [f"user {name}", *(f"  {what}: {', '.join(some)}" for what, some in going.items() if some)]
    if arguments.dry_run:
        return answer(arguments, going, lines)
    ask(arguments, lines, "Remove all this?", "nothing was removed")
    calling(lambda: _remove(client, name))
    return answer(arguments, going, [f"The user {name} was removed."])


def _going(client: Any, name: str) -> dict[str, list[str]]:
    holder = Holder(client, "user", name)
    return {
        "keys": [key["AccessKeyId"] for key in keys_of(client, name)],
        "groups": groups_of(client, name),
        "own policies": holder.inline(),
        "attached policies": [policy.name for policy in holder.attached()],
    }


def _remove(client: Any, name: str) -> None:
    """Its keys first: from then on it can do nothing, whatever interrupts the rest."""
    for key in keys_of(client, name):
        client.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
    for group in groups_of(client, name):
        client.remove_user_from_group(UserName=name, GroupName=group)
    Holder(client, "user", name).strip()
    client.delete_user(UserName=name)


def _add_membership(parser: Parser) -> None:
    _add_name(parser)
    parser.add_argument("group", metavar="GROUP", help="the group's name")


def join(arguments: argparse.Namespace) -> int:
    return _move(arguments, "add_user_to_group", "is now in")


def leave(arguments: argparse.Namespace) -> int:
    return _move(arguments, "remove_user_from_group", "is no longer in")


def _move(arguments: argparse.Namespace, operation: str, words: str) -> int:
    client, given = iam_client(arguments), {"UserName": arguments.name, "GroupName": arguments.group}
    calling(lambda: getattr(client, operation)(**given))
    return answer(arguments, given, [f"{arguments.name} {words} {arguments.group}."])


ACTIONS = {
    "add": Subcommand(
        "Make a user.",
        "USER",
        _add_add,
        add,
        ("penstock user add anna --group senders", "penstock user add worker --key"),
    ),
    "list": Subcommand(
        "List users, their groups and how many keys they have.",
        "",
        lambda parser: None,
        list_,
        ("penstock user list", "penstock user list --json"),
    ),
    "remove": Subcommand(
        "Remove a user, with its keys, memberships and policies.",
        "USER",
        _add_remove,
        remove,
        ("penstock user remove anna --dry-run", "penstock user remove anna --yes"),
    ),
    "join": Subcommand(
        "Put a user into a group.", "USER GROUP", _add_membership, join, ("penstock user join anna senders",)
    ),
    "leave": Subcommand(
        "Take a user out of a group.", "USER GROUP", _add_membership, leave, ("penstock user leave anna senders",)
    ),
}
