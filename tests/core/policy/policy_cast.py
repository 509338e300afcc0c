"""Who and what the tests of policies are about: an account with a queue, another account, callers of every kind."""

import json
from typing import Any

from penstock.core.identity import Kind, Principal, anonymous, root_of
from penstock.core.policy import Ask, Context, Policy, Use, read_policy

OWNER, STRANGER = "111122223333", "444455556666"
QUEUE = f"arn:aws:sqs:us-east-1:{OWNER}:orders"
ANYTHING: dict[str, Any] = {"Action": "*", "Resource": "*"}


def callers(account: str = OWNER) -> dict[str, Principal]:
    return {
        "root": root_of(account),
        "user": Principal(account, f"arn:aws:iam::{account}:user/staff/anna", "AIDAANNA", Kind.USER, "anna"),
        "role": Principal(account, f"arn:aws:sts::{account}:assumed-role/Clerk/s1", "AROACLERK:s1", Kind.ROLE, "Clerk"),
        "federated": Principal(
            account, f"arn:aws:sts::{account}:federated-user/bob", f"{account}:bob", Kind.FEDERATED, "anna"
        ),
        "anonymous": anonymous("203.0.113.9"),
    }


def behind(account: str = OWNER) -> dict[str, str]:
    """The ARNs that sessions come from."""
    return {
        "role": f"arn:aws:iam::{account}:role/service/Clerk",
        "federated": f"arn:aws:iam::{account}:user/staff/anna",
    }


def document(*statements: dict[str, Any], version: str = "2012-10-17") -> str:
    return json.dumps({"Version": version, "Statement": list(statements)})


def policy(use: Use, *statements: dict[str, Any], name: str = "", version: str = "2012-10-17") -> Policy:
    return read_policy(document(*statements, version=version), use, name)


def allow(**elements: Any) -> dict[str, Any]:
    return {"Effect": "Allow"} | _whole(elements)


def deny(**elements: Any) -> dict[str, Any]:
    return {"Effect": "Deny"} | _whole(elements)


def _whole(elements: dict[str, Any]) -> dict[str, Any]:
    """The elements, with everything for the actions and resources that they do not speak of."""
    spoken = {name.removeprefix("Not") for name in elements}
    return {name: value for name, value in ANYTHING.items() if name not in spoken} | elements


def ask(who: Principal, action: str = "sqs:SendMessage", resource: str = QUEUE, context: Context | None = None) -> Ask:
    return Ask(who, action, resource, context or {})
