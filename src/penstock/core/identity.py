"""Who is calling."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """`user_id` is what receivers see as a message's SenderId."""

    account: str
    arn: str
    user_id: str


NOBODY = Principal("", "", "")
"""Who calls, until we know."""


def root_of(account: str) -> Principal:
    return Principal(account, f"arn:aws:iam::{account}:root", account)
