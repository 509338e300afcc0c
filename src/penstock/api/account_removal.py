"""DeleteAccount: an account, and by force everything that is in it.

First its keys go, with its users and all that is told of it, in one change: from then on nobody can add to it. Then its
queues go, some at a time. Where that is cut short the account is still listed, without keys, and can be deleted again.
Last goes what outlives queues: their metrics and move tasks.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from penstock.api.account_census import LEFT, MADE, Census
from penstock.api.accounts import check_account
from penstock.api.call import Call, Operation
from penstock.api.sqs.queues import remove
from penstock.aws import penstock
from penstock.core.directory import AccessKey, Group, ManagedPolicy, Role, User
from penstock.core.errors import QueueGone, ServiceError
from penstock.core.queue import Queue

QUEUES_AT_ONCE = 100
"""Share a commit or two; others have their turn in between."""
WHY_NOT = {"root": "it is the server's root account", "settings": "the settings file declares it: take it out there"}


async def delete_account(call: Call, request: penstock.DeleteAccountRequest) -> penstock.DeleteAccountResult:
    account, identities = check_account(request.AccountId), call.site.identities
    async with identities.changing() as directory:
        census = await Census.of(call.site)
        described = census.describe(account)
        if (origin := census.origin(account)) not in (MADE, LEFT):
            raise ServiceError("UnsupportedOperation", f"Account {account} cannot be deleted: {WHY_NOT[origin]}.")
        contents = await _contents(call, census, account)
        if not request.DryRun:
            if not request.Force:
                _check_empty(account, contents, len(directory.keys_of(account, "")))
            await identities.save(removed=list(directory.everything_of(account)))
    if request.Force and not request.DryRun:
        await _remove_all(call, await _queues_of(call, account))
    if not request.DryRun:
        await call.site.store.forget_account(account)
    return penstock.DeleteAccountResult(Account=described, Deleted=not request.DryRun, Contents=contents)


def _check_empty(account: str, contents: penstock.AccountContents, own_keys: int) -> None:
    """Its own keys are a part of it, and nothing that is in it."""
    held = {
        "queues": contents.Queues,
        "users": contents.Users,
        "groups": contents.Groups,
        "roles": contents.Roles,
        "policies": contents.Policies,
        "keys of users": (contents.Keys or 0) - own_keys,
    }
    if any(held.values()):
        told = ", ".join(f"{number} {what}" for what, number in held.items() if number)
        raise ServiceError(
            "DeleteConflictException",
            f"Cannot delete account {account}, because it is not empty: {told}. Delete them first, or give Force.",
        )


async def _contents(call: Call, census: Census, account: str) -> penstock.AccountContents:
    messages = size = 0
    for number, queue in enumerate(await _queues_of(call, account)):
        if number % QUEUES_AT_ONCE == 0:
            await asyncio.sleep(0)
        with suppress(QueueGone):
            counts = await call.site.store.counts(queue.id, call.now())
            messages += counts.held
            size += counts.bytes
    users, groups, roles, policies, keys = (
        census.entities[kind, account] for kind in (User, Group, Role, ManagedPolicy, AccessKey)
    )
    return penstock.AccountContents(
        Queues=census.queues[account], Messages=messages, Bytes=size,
        Users=users, Groups=groups, Roles=roles, Policies=policies, Keys=keys,
    )  # fmt: skip


async def _queues_of(call: Call, account: str) -> Sequence[Queue]:
    return [queue for queue in await call.site.store.all_queues() if queue.key.account == account]


async def _remove_all(call: Call, queues: Sequence[Queue]) -> None:
    async def gone(queue: Queue) -> None:
        with suppress(QueueGone):
            await remove(call, queue)

    for start in range(0, len(queues), QUEUES_AT_ONCE):
        await asyncio.gather(*map(gone, queues[start : start + QUEUES_AT_ONCE]))


OPERATIONS: dict[str, Operation] = {"DeleteAccount": delete_account}
