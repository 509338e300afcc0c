"""`penstock group ACTION`: users who may do the same."""

import argparse
from collections.abc import Iterator
from typing import Any

from penstock.cli.answering import answer
from penstock.cli.asking import add_asking, ask
from penstock.cli.client import calling, iam_client
from penstock.cli.columns import NOTHING, aligned
from penstock.cli.holders import Holder, pages
from penstock.cli.key import when
from penstock.cli.parser import Parser
from penstock.cli.subcommands import Subcommand, add_subcommands

HEADS = ("GROUP", "USERS", "POLICIES", "CREATED")


def build(parser: Parser) -> None:
    parser.description = (
        "Make, list and remove groups of the account. What `penstock policy allow group/NAME …` says holds for every\n"
        "user in it; `penstock user join` and `penstock user leave` say who that is."
    )
    parser.examples += ["penstock group add senders", "penstock policy allow group/senders send orders"]
    add_subcommands(parser, ACTIONS)


def _add_name(parser: Parser) -> None:
    parser.add_argument("name", metavar="GROUP", help="the group's name")


def add(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    made = calling(lambda: client.create_group(GroupName=arguments.name))["Group"]
    return answer(arguments, made, [f"{made['Arn']} was made."])


def list_(arguments: argparse.Namespace) -> int:
    client = iam_client(arguments)
    groups = calling(lambda: list(_groups(client)))
    table = aligned(HEADS, [_row(group) for group in groups])
    return answer(arguments, groups, table if groups else ["There is no group."])


def _groups(client: Any) -> Iterator[dict[str, Any]]:
    for group in pages(client, "list_groups"):
        yield group | _content(client, group["GroupName"])


def _content(client: Any, name: str) -> dict[str, list[str]]:
    holder = Holder(client, "group", name)
    return {
        "Users": [user["UserName"] for user in pages(client, "get_group", GroupName=name)],
        "Policies": [*holder.inline(), *(policy.name for policy in holder.attached())],
    }


def _row(group: dict[str, Any]) -> tuple[str, ...]:
    lists = (", ".join(group[name]) or NOTHING for name in ("Users", "Policies"))
    return group["GroupName"], *lists, when(group["CreateDate"])


def _add_remove(parser: Parser) -> None:
    _add_name(parser)
    add_asking(parser)


def remove(arguments: argparse.Namespace) -> int:
    client, name = iam_client(arguments), arguments.name
    content = calling(lambda: _content(client, name))
    users, policies = content["Users"], content["Policies"]
    lines = [f"group {name}"]
    lines += [f"  users, who stay: {', '.join(users)}"] if users else []
    lines += [f"  policies: {', '.join(policies)}"] if policies else []
    if arguments.dry_run:
        return answer(arguments, content, lines)
    ask(arguments, lines, "Remove it?", "nothing was removed")
    calling(lambda: _remove(client, name, users))
    return answer(arguments, content, [f"The group {name} was removed."])


def _remove(client: Any, name: str, users: list[str]) -> None:
    """Members first: whatever interrupts the rest, a deny of the group is gone no sooner than what it allows."""
    for user in users:
        client.remove_user_from_group(UserName=user, GroupName=name)
    Holder(client, "group", name).strip()
    client.delete_group(GroupName=name)


ACTIONS = {
    "add": Subcommand("Make a group.", "GROUP", _add_name, add, ("penstock group add senders",)),
    "list": Subcommand(
        "List groups, who is in them and their policies.", "", lambda parser: None, list_, ("penstock group list",)
    ),
    "remove": Subcommand(
        "Remove a group with its policies; the users in it stay.",
        "GROUP",
        _add_remove,
        remove,
        ("penstock group remove senders --dry-run", "penstock group remove senders --yes"),
    ),
}
