"""Accounts as operators see them: made, listed, bounded, given another root key.

What the settings declare is theirs: it is listed here, and its keys are changed there. A secret is in the reply that
made it and nowhere else. How an account ends is in `account_removal`.
"""

import asyncio
import heapq

import msgspec

from penstock.api.account_census import Census
from penstock.api.call import Call, Operation, Site
from penstock.api.listing import page, token_of
from penstock.aws import penstock
from penstock.core.directory import AccessKey, Account
from penstock.core.errors import ServiceError, invalid_value
from penstock.core.identifiers import new_account, new_key
from penstock.core.naming import is_account

LONGEST_TITLE = 128
MOST_ROOT_KEYS = 2


async def create_account(call: Call, request: penstock.CreateAccountRequest) -> penstock.CreateAccountResult:
    title, quota, identities = _title(request.Title), _quota(request.MaxQueues), call.site.identities
    async with identities.changing():
        taken = (await Census.of(call.site)).ids
        account = _free(taken) if request.AccountId is None else check_account(request.AccountId)
        if account in taken:
            raise ServiceError("EntityAlreadyExistsException", f"There is an account {account} already.")
        await call.site.store.forget_account(account)  # metrics may have been put since one of this id was deleted
        key, shown = _new_root_key(call.site, account, call.now())
        made = Account(account=account, name=account, created=call.now(), title=title, most_queues=quota)
        await identities.save(made, key)
        return penstock.CreateAccountResult(
            Account=(await Census.of(call.site)).describe(account),
            RootKey=shown,
        )


def _free(taken: set[str]) -> str:
    while (account := new_account()) in taken:
        pass
    return account


async def list_accounts(call: Call, request: penstock.ListAccountsRequest) -> penstock.ListAccountsResult:
    most, after = page(request.MaxResults, request.NextToken)
    census = await Census.of(call.site)
    found = heapq.nsmallest(most + 1, (account for account in census.ids if (account,) > after))
    return penstock.ListAccountsResult(
        Accounts=[census.describe(account) for account in found[:most]],
        NextToken=token_of((found[most - 1],)) if len(found) > most else None,
    )


async def set_account_quota(call: Call, request: penstock.SetAccountQuotaRequest) -> penstock.AccountDescription:
    """Any account may have one; of those that nobody made here, a record holds nothing else."""
    account, quota, identities = check_account(request.AccountId), _quota(request.MaxQueues), call.site.identities
    async with identities.changing() as directory:
        census = await Census.of(call.site)
        census.describe(account)
        known = directory.accounts.get(account) or Account(account=account, name=account, created=call.now())
        await identities.save(msgspec.structs.replace(known, most_queues=quota))
        return census.describe(account)


async def rotate_root_key(call: Call, request: penstock.RotateRootKeyRequest) -> penstock.RotateRootKeyResult:
    """To its end, also when its caller has left: the root account's key must be in its file, or nobody has it."""
    return await asyncio.shield(asyncio.ensure_future(_rotated(call, request)))


async def _rotated(call: Call, request: penstock.RotateRootKeyRequest) -> penstock.RotateRootKeyResult:
    account, site = check_account(request.AccountId), call.site
    async with site.identities.changing() as directory:
        census = await Census.of(site)
        census.describe(account)
        if census.declared_keys[account]:
            raise ServiceError(
                "UnsupportedOperation",
                f"The keys of account {account} are in the server's settings: change them there.",
            )
        old = directory.keys_of(account, "")
        if request.KeepOld and len(old) >= MOST_ROOT_KEYS:
            raise ServiceError(
                "LimitExceededException", f"Account {account} has {len(old)} root keys: rotate without KeepOld."
            )
        key, shown = _new_root_key(site, account, call.now())
        removed = [] if request.KeepOld else old
        await site.identities.save(key, removed=removed)
        if account == site.root_account:
            site.root_key_changed(shown.AccessKeyId or "", shown.SecretAccessKey or "")
    return penstock.RotateRootKeyResult(
        AccountId=account, RootKey=shown, RemovedAccessKeyIds=[one.name for one in removed]
    )


def _new_root_key(site: Site, account: str, now: int) -> tuple[AccessKey, penstock.RootKey]:
    name, secret = new_key()
    key = AccessKey(account=account, name=name, created=now, secret=site.identities.sealed(name, secret))
    return key, penstock.RootKey(AccessKeyId=name, SecretAccessKey=secret)


def check_account(given: str) -> str:
    if not is_account(given):
        raise invalid_value(given, "AccountId", "Must be 12 digits.")
    return given


def _quota(given: int | None) -> int | None:
    if given is not None and given < 0:
        raise invalid_value(given, "MaxQueues", "Must be 0 or more, if provided.")
    return given


def _title(given: str | None) -> str:
    title = given or ""
    if len(title) > LONGEST_TITLE or not title.isprintable():
        raise invalid_value(title, "Title", f"Must be at most {LONGEST_TITLE} characters that can be printed.")
    return title


OPERATIONS: dict[str, Operation] = {
    "CreateAccount": create_account,
    "ListAccounts": list_accounts,
    "SetAccountQuota": set_account_quota,
    "RotateRootKey": rotate_root_key,
}
