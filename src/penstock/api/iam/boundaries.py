"""Boundaries: the managed policy that says the most a user or a role can be allowed."""

from typing import Any

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam.nouns import POLICIES, ROLES, USERS, Noun
from penstock.core.directory import Bounded, Directory


def bounding(call: Call, directory: Directory, arn: str | None) -> str | None:
    """The ARN, if there is such a policy."""
    if arn is None:
        return None
    return POLICIES.at(call, directory, arn, "Scope ARN: {} does not exist or is not attachable.").arn


def operations(noun: Noun[Bounded]) -> dict[str, Operation]:
    async def put(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            entity = noun.asked(call, directory, request)
            boundary = bounding(call, directory, request.PermissionsBoundary)
            await call.site.identities.save(replace(entity, boundary=boundary))

    async def delete(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            entity = noun.asked(call, directory, request)
            await call.site.identities.save(replace(entity, boundary=None))

    return {f"Put{noun.word}PermissionsBoundary": put, f"Delete{noun.word}PermissionsBoundary": delete}


OPERATIONS: dict[str, Operation] = {**operations(USERS), **operations(ROLES)}
