"""Access keys: two for a user, so that one can be changed while the other works. A secret is told once, then sealed."""

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.nouns import user_meant
from penstock.api.iam.paging import page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import invalid_input, no_such, over_quota
from penstock.aws import iam
from penstock.core.directory import AccessKey, Directory, named
from penstock.core.identifiers import new_key

STATUSES = {"Active": True, "Inactive": False}
NEVER = "N/A"


def _owner(call: Call, directory: Directory, name: str | None) -> str:
    """Whose keys are meant: a user's name, or nothing for the account's own."""
    user = user_meant(call, directory, name)
    return user.name if user else ""


def _missing(access_key: str) -> Exception:
    return no_such(f"The Access Key with id {access_key} cannot be found.")


def _key(call: Call, directory: Directory, access_key: str, owner: str) -> AccessKey:
    key = directory.keys.get(access_key)
    if key is None or (key.account, named(key.user)) != (call.principal.account, named(owner)):
        raise _missing(access_key)
    return key


async def create_access_key(call: Call, request: iam.CreateAccessKeyRequest) -> iam.CreateAccessKeyResponse:
    identities, account = call.site.identities, call.principal.account
    most = QUOTAS["AccessKeysPerUserQuota"]
    async with identities.changing() as directory:
        owner = _owner(call, directory, request.UserName)
        if len(directory.keys_of(account, owner)) >= most:
            raise over_quota("AccessKeysPerUser", most)
        access_key, secret = new_key()
        sealed = identities.sealed(access_key, secret)
        key = AccessKey(account=account, name=access_key, created=call.now(), user=owner, secret=sealed)
        await identities.save(key)
    return iam.CreateAccessKeyResponse(
        AccessKey=iam.AccessKey(
            UserName=owner or None,
            AccessKeyId=access_key,
            Status="Active",
            SecretAccessKey=secret,
            CreateDate=shown.moment(key.created),
        )
    )


async def list_access_keys(call: Call, request: iam.ListAccessKeysRequest) -> iam.ListAccessKeysResponse:
    directory = call.site.identities.directory
    keys = directory.keys_of(call.principal.account, _owner(call, directory, request.UserName))
    found = page(request, keys, lambda key: f"{key.created:015}{key.name}")
    return iam.ListAccessKeysResponse(AccessKeyMetadata=[shown.key(key) for key in found.items], **found.rest)


async def update_access_key(call: Call, request: iam.UpdateAccessKeyRequest) -> None:
    if request.Status not in STATUSES:
        raise invalid_input(f"The status {request.Status} cannot be set: use Active or Inactive.")
    async with call.site.identities.changing() as directory:
        key = _key(call, directory, request.AccessKeyId, _owner(call, directory, request.UserName))
        await call.site.identities.save(replace(key, active=STATUSES[request.Status]))


async def delete_access_key(call: Call, request: iam.DeleteAccessKeyRequest) -> None:
    async with call.site.identities.changing() as directory:
        key = _key(call, directory, request.AccessKeyId, _owner(call, directory, request.UserName))
        await call.site.identities.save(removed=[key])


async def get_access_key_last_used(
    call: Call, request: iam.GetAccessKeyLastUsedRequest
) -> iam.GetAccessKeyLastUsedResponse:
    """Another account's key is as good as none."""
    key = call.site.identities.directory.keys.get(request.AccessKeyId)
    if key is None or key.account != call.principal.account:
        raise _missing(request.AccessKeyId)
    return iam.GetAccessKeyLastUsedResponse(
        UserName=key.user or None,
        AccessKeyLastUsed=iam.AccessKeyLastUsed(
            LastUsedDate=shown.moment(key.used) if key.used is not None else None,
            ServiceName=key.used_service or NEVER,
            Region=key.used_region or NEVER,
        ),
    )


OPERATIONS: dict[str, Operation] = {
    "CreateAccessKey": create_access_key,
    "ListAccessKeys": list_access_keys,
    "UpdateAccessKey": update_access_key,
    "DeleteAccessKey": delete_access_key,
    "GetAccessKeyLastUsed": get_access_key_last_used,
}
