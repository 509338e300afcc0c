"""`penstock policy ACTION`: who may do what with which queue, without writing JSON."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.cli.answering import answer, harmless
from penstock.cli.client import account_and_region, calling, iam_client
from penstock.cli.columns import NOTHING, aligned
from penstock.cli.grants import VERBS, Grant
from penstock.cli.holders import Holder, groups_of
from penstock.cli.parser import CommandError, Parser
from penstock.cli.queue_policy import told_of
from penstock.cli.subcommands import Subcommand, add_subcommands

HEADS = ("FROM", "POLICY", "EFFECT", "ACTIONS", "ON", "IF")
WHY_HEADS = ("ACTION", "DECISION", "BECAUSE OF")
SOURCES = {"ResourcePolicy": "the queue's policy"}
Row = tuple[str, str, dict[str, Any]]
"""Whose it is, the name of its policy, and the statement."""
DECISIONS = {"allowed": "allowed", "explicitDeny": "denied", "implicitDeny": "denied: nothing allows it"}


def build(parser: Parser) -> None:
    parser.description = (
        "Say who may do what with which queue, and ask why. WHO is a user's name, group/NAME or role/NAME. WHAT is\n"
        f"{', '.join(VERBS)}, or an action such as sqs:PurgeQueue. QUEUE is a name,\n"
        "in which * stands for anything, or an ARN. A deny wins over every allow."
    )
    parser.examples += [
        "penstock policy allow anna send orders",
        "penstock policy deny group/interns purge '*'",
        "penstock policy why anna send orders",
    ]
    add_subcommands(parser, ACTIONS)


def allow(arguments: argparse.Namespace) -> int:
    return _grant(arguments, "Allow")


def deny(arguments: argparse.Namespace) -> int:
    return _grant(arguments, "Deny")


def _grant(arguments: argparse.Namespace, effect: str) -> int:
    grant, holder = Grant(arguments.what, arguments.queue).check(), Holder.of(iam_client(arguments), arguments.who)
    document = grant.document(effect, *account_and_region(arguments))
    name = grant.name(effect)
    calling(lambda: holder.put(name, document))
    may = "may now" if effect == "Allow" else "may no longer"
    return answer(
        arguments,
        holder.named | {"PolicyName": name, "PolicyDocument": json.loads(document)},
        [f"{holder} {may} {arguments.what} {arguments.queue}: policy {name}."],
    )


# What there is


def list_(arguments: argparse.Namespace) -> int:
    holder = Holder.of(iam_client(arguments), arguments.who)
    rows = calling(lambda: list(_rows(holder)))
    reply = [dict(zip(("From", "PolicyName", "Statement"), row, strict=True)) for row in rows]
    return answer(arguments, reply, table(rows) if rows else [f"{holder} has no policy."])


def table(rows: Sequence[Row]) -> Iterator[str]:
    cells = [(origin, name, *_statement(statement)) for origin, name, statement in rows]
    shown = len(HEADS) if any("Condition" in statement for _, _, statement in rows) else len(HEADS) - 1
    yield from aligned(HEADS[:shown], [row[:shown] for row in cells])


def _rows(holder: Holder) -> Iterator[Row]:
    """Each statement that holds for it: its own, and those of the groups it is in."""
    client = holder.client
    groups = groups_of(client, holder.name) if holder.kind == "user" else []
    for one in (holder, *(Holder(client, "group", group) for group in groups)):
        for name in one.inline():
            yield from ((str(one), name, statement) for statement in _statements(one.document(name)))
        for policy in one.attached():
            version = client.get_policy(PolicyArn=policy.arn)["Policy"]["DefaultVersionId"]
            found = client.get_policy_version(PolicyArn=policy.arn, VersionId=version)["PolicyVersion"]["Document"]
            yield from ((f"{one}, attached", policy.name, statement) for statement in _statements(found))


def _statements(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = document["Statement"]
    return found if isinstance(found, list) else [found]


def _statement(statement: dict[str, Any]) -> tuple[str, str, str, str]:
    conditions = [
        f"{operator} {key}={_several(values)}"
        for operator, keys in statement.get("Condition", {}).items()
        for key, values in keys.items()
    ]
    return (
        statement["Effect"],
        _either(statement, "Action"),
        _either(statement, "Resource"),
        harmless(" and ".join(conditions)) or NOTHING,
    )


def _either(statement: dict[str, Any], member: str) -> str:
    if member in statement:
        return _several(statement[member])
    return f"all but {_several(statement.get(f'Not{member}', ''))}"


def _several(values: Any) -> str:
    return harmless(", ".join(map(str, values)) if isinstance(values, list) else str(values))


# Taking back


def remove(arguments: argparse.Namespace) -> int:
    holder = Holder.of(iam_client(arguments), arguments.who)
    wanted = [arguments.what]
    if arguments.queue:
        grant = Grant(arguments.what, arguments.queue).check()
        wanted = [grant.name("Allow"), grant.name("Deny")]
    inline, attached = calling(lambda: (holder.inline(), holder.attached()))
    own = [name for name in inline if name in wanted]
    hung = [policy for policy in attached if {policy.name, policy.arn} & set(wanted)]
    if not own and not hung:
        there = ", ".join([*inline, *(policy.name for policy in attached)]) or "none"
        raise CommandError(f"{holder} has no policy {' or '.join(wanted)}; it has: {there}")
    for name in own:
        calling(lambda name=name: holder.delete(name))  # type: ignore[misc]
    for policy in hung:
        calling(lambda policy=policy: holder.detach(policy.arn))  # type: ignore[misc]
    gone = [*own, *(policy.name for policy in hung)]
    return answer(arguments, gone, [f"{holder} no longer has {', '.join(gone)}."])


# Asking why


def why(arguments: argparse.Namespace) -> int:
    grant, holder = Grant(arguments.what, arguments.queue).check(), Holder.of(iam_client(arguments), arguments.who)
    resource = grant.arn(*account_and_region(arguments))
    told, said = calling(lambda: told_of(arguments, holder, resource))
    results = calling(lambda: _simulated(holder, list(grant.essential), resource, told))
    if said:
        sys.stderr.write(f"penstock: {said}\n")
    return answer(arguments, results, aligned(WHY_HEADS, [_why_row(result) for result in results]))


def _simulated(holder: Holder, actions: list[str], resource: str, told: dict[str, Any]) -> list[dict[str, Any]]:
    ask = {"PolicySourceArn": holder.arn, "ActionNames": actions, "ResourceArns": [resource]} | told
    replies = holder.client.get_paginator("simulate_principal_policy").paginate(**ask)
    return [result for reply in replies for result in reply["EvaluationResults"]]


def _why_row(result: dict[str, Any]) -> tuple[str, str, str]:
    sources = [SOURCES.get(one["SourcePolicyId"], one["SourcePolicyId"]) for one in result.get("MatchedStatements", [])]
    missing = result.get("MissingContextValues", [])
    reasons = [*dict.fromkeys(sources), *([f"depends on {', '.join(missing)}"] if missing else [])]
    decision = result["EvalDecision"]
    return result["EvalActionName"], DECISIONS.get(decision, decision), ", ".join(reasons) or NOTHING


def _add_who(parser: Parser) -> None:
    parser.add_argument("who", metavar="WHO", help="a user's name, group/NAME or role/NAME")


def _add_grant(parser: Parser) -> None:
    _add_who(parser)
    parser.add_argument("what", metavar="WHAT", help=f"{', '.join(VERBS)}, or an action such as sqs:PurgeQueue")
    parser.add_argument("queue", metavar="QUEUE", help="its name, with * for anything, or its ARN")


def _add_remove(parser: Parser) -> None:
    _add_who(parser)
    parser.add_argument("what", metavar="WHAT", help="what was allowed or denied, or the name or ARN of a policy")
    parser.add_argument("queue", metavar="QUEUE", nargs="?", help="with which queue")


ACTIONS = {
    "allow": Subcommand(
        "Let someone do something with a queue, or with all whose names fit.",
        "WHO WHAT QUEUE",
        _add_grant,
        allow,
        ("penstock policy allow anna send orders", "penstock policy allow group/workers receive 'orders-*'"),
    ),
    "deny": Subcommand(
        "Forbid it, whatever else allows it.",
        "WHO WHAT QUEUE",
        _add_grant,
        deny,
        ("penstock policy deny anna purge '*'",),
    ),
    "list": Subcommand(
        "List the statements that hold for someone, with those of its groups.",
        "WHO",
        _add_who,
        list_,
        ("penstock policy list anna", "penstock policy list group/senders --json"),
    ),
    "remove": Subcommand(
        "Take back what was allowed or denied, or take a policy off by its name.",
        "WHO WHAT [QUEUE]",
        _add_remove,
        remove,
        ("penstock policy remove anna send orders", "penstock policy remove anna AuditorsOnly"),
    ),
    "why": Subcommand(
        "Say whether someone may, and which policy decides; nothing is done.",
        "WHO WHAT QUEUE",
        _add_grant,
        why,
        ("penstock policy why anna send orders",),
    ),
}
