"""AddPermission and RemovePermission: editing a queue's policy one labelled statement at a time."""

import json
from typing import Any

from penstock.core.actions import OWNER_ACTIONS, OWNER_ONLY, SHARED_ACTIONS, UNKNOWN_ACTION
from penstock.core.attributes import check_policy
from penstock.core.errors import ServiceError, invalid_value
from penstock.core.limits import Limits
from penstock.core.naming import is_account
from penstock.core.queue import Queue


def with_permission(queue: Queue, label: str, accounts: list[str], actions: list[str], limits: Limits) -> str:
    """The queue's policy with one statement more, as Amazon writes it."""
    policy = _policy(queue)
    if any(statement.get("Sid") == label for statement in policy["Statement"]):
        raise invalid_value(label, "Label", "Already exists.")
    most = limits.max_actions_per_statement
    if len(actions) > most:
        raise ServiceError("OverLimit", f"{len(actions)} Actions were found, maximum allowed is {most}.")
    for action in actions:
        if action not in ("*", *SHARED_ACTIONS):
            reason = OWNER_ONLY if action in OWNER_ACTIONS else UNKNOWN_ACTION
            raise invalid_value(f"SQS:{action}", "ActionName", reason)
    for account in accounts:
        if not is_account(account):
            raise unverified(account)
    statement = {
        "Sid": label,
        "Effect": "Allow",
        "Principal": {"AWS": _one_or_many([f"arn:aws:iam::{account}:root" for account in accounts])},
        "Action": _one_or_many([f"SQS:{action}" for action in actions]),
        "Resource": queue.arn,
    }
    policy["Statement"].append(statement)
    number, most = len(policy["Statement"]), limits.max_policy_statements
    if number > most:
        raise ServiceError("OverLimit", f"{number} Statements were found, maximum allowed is {most}.")
    written = _written(policy)
    check_policy(written)
    return written


def unverified(account: str) -> ServiceError:
    return invalid_value(f"[{account}]", "PrincipalId", "Unable to verify.")


def without_permission(queue: Queue, label: str) -> str:
    """The queue's policy with one statement less; empty when none is left."""
    policy = _policy(queue)
    left = [statement for statement in policy["Statement"] if statement.get("Sid") != label]
    if len(left) == len(policy["Statement"]):
        raise invalid_value(label, "Label", "can't find label.")
    return _written(policy | {"Statement": left}) if left else ""


def _policy(queue: Queue) -> dict[str, Any]:
    stored = queue.attributes.get("Policy")
    policy: dict[str, Any] = json.loads(stored) if stored else {}
    statements = policy.get("Statement", [])
    return {
        "Version": policy.get("Version", "2008-10-17"),
        "Id": policy.get("Id", f"{queue.arn}/SQSDefaultPolicy"),
        "Statement": statements if isinstance(statements, list) else [statements],
    }


def _one_or_many(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def _written(policy: dict[str, Any]) -> str:
    return json.dumps(policy, separators=(",", ":"), ensure_ascii=False)
