"""What the operations that give out credentials have in common: how long they are good, how far they are narrowed, and
how they look in a reply."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from penstock.api.call import Call
from penstock.api.iam.documents import checked
from penstock.api.iam.shown import moment
from penstock.aws import sts
from penstock.core.errors import ServiceError, invalid_parameter
from penstock.core.session import Ticket

HOUR = 3600
MOST_POLICY_ARNS = 10
PACKED_BYTES = 4096
"""What policies and tags may take of a token, so that a request with it stays well below what headers may have."""


class Narrowing(NamedTuple):
    """What a session is narrowed to, and the tags it has. `size` is a percentage of what they may take."""

    policies: tuple[str, ...] | None
    policy_arns: tuple[str, ...]
    tags: dict[str, str]
    size: int | None


def narrowing(call: Call, request: Any, account: str) -> Narrowing:
    """Of a request with a Policy, PolicyArns and Tags, for a session in `account`."""
    arns = tuple(given.arn or "" for given in request.PolicyArns or ())
    _check_arns(call, arns, account)
    if request.Policy is not None:
        checked(request.Policy)
    policies = (request.Policy,) if request.Policy is not None else () if arns else None
    tags = _tags(request.Tags or ())
    return Narrowing(policies, arns, tags, packed_size(policies, arns, tags))


def packed_size(policies: tuple[str, ...] | None, arns: tuple[str, ...], tags: dict[str, str]) -> int | None:
    if not (policies or arns or tags):
        return None
    size = -(-100 * len(msgspec.msgpack.encode((policies, arns, tags))) // PACKED_BYTES)
    if size > 100:
        raise ServiceError(
            "PackedPolicyTooLargeException",
            f"Packed policy consumes {size}% of allotted space, please use smaller policy.",
        )
    return size


def _check_arns(call: Call, arns: tuple[str, ...], account: str) -> None:
    if len(arns) > MOST_POLICY_ARNS:
        raise invalid_parameter(f"PolicyArns may name at most {MOST_POLICY_ARNS} policies.")
    for arn in arns:
        policy = call.site.identities.directory.policy_by_arn.get(arn)
        if policy is None or policy.account != account:
            raise invalid_parameter(f"Policy {arn} does not exist or is not attachable in account {account}.")


def _tags(given: Iterable[sts.Tag]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for tag in given:
        if tag.Key.lower() in {key.lower() for key in tags}:
            raise invalid_parameter("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
        if tag.Key.lower().startswith("aws:"):
            raise invalid_parameter("Tag keys that start with aws: are reserved.")
        tags[tag.Key] = tag.Value
    return tags


def refuse_codes(request: Any) -> None:
    """Nobody has a device that makes one-time codes here, so no code can be right."""
    if request.SerialNumber is not None or request.TokenCode is not None:
        raise ServiceError("AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code. ")


def given_out(call: Call, ticket: Ticket) -> sts.Credentials:
    made = call.site.identities.issue(ticket)
    return sts.Credentials(
        AccessKeyId=made.access_key,
        SecretAccessKey=made.secret,
        SessionToken=made.token,
        Expiration=moment(ticket.expires),
    )


def span(call: Call, seconds: int) -> tuple[int, int]:
    """When a session begins and ends, by the clock that signatures are judged by; to the second, as it is told."""
    issued = call.arrived // 1000 * 1000
    return issued, issued + seconds * 1000
