"""The versions of a managed policy: five at most, one of them in force."""

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.nouns import POLICIES
from penstock.api.iam.paging import page
from penstock.api.iam.policies import managed_document
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import no_such
from penstock.aws import iam
from penstock.core.directory import ManagedPolicy, Version
from penstock.core.errors import ServiceError


def _check_there(policy: ManagedPolicy, version: str) -> None:
    if version not in policy.versions:
        raise no_such(f"Policy {policy.arn} version {version} does not exist or is not attachable.")


async def create_policy_version(
    call: Call, request: iam.CreatePolicyVersionRequest
) -> iam.CreatePolicyVersionResponse:  # fmt: skip
    now, most = call.now(), QUOTAS["VersionsPerPolicyQuota"]
    async with call.site.identities.changing() as directory:
        policy = POLICIES.asked(call, directory, request)
        document = managed_document(request.PolicyDocument)
        if len(policy.versions) >= most:
            raise ServiceError(
                "LimitExceededException",
                f"A managed policy can have up to {most} versions. Before you create a new version, you must delete an "
                "existing version.",
            )
        name = f"v{policy.last + 1}"
        policy = replace(
            policy,
            versions=policy.versions | {name: Version(document, now)},
            default=name if request.SetAsDefault else policy.default,
            last=policy.last + 1,
            updated=now,
        )
        await call.site.identities.save(policy)
    return iam.CreatePolicyVersionResponse(PolicyVersion=shown.version(policy, name, whole=False))


async def get_policy_version(call: Call, request: iam.GetPolicyVersionRequest) -> iam.GetPolicyVersionResponse:
    policy = POLICIES.asked(call, call.site.identities.directory, request)
    _check_there(policy, request.VersionId)
    return iam.GetPolicyVersionResponse(PolicyVersion=shown.version(policy, request.VersionId))


async def list_policy_versions(call: Call, request: iam.ListPolicyVersionsRequest) -> iam.ListPolicyVersionsResponse:
    """The newest first."""
    policy = POLICIES.asked(call, call.site.identities.directory, request)
    found = page(request, policy.versions, lambda name: f"{10**9 - int(name[1:]):010}")
    versions = [shown.version(policy, name, whole=False) for name in found.items]
    return iam.ListPolicyVersionsResponse(Versions=versions, **found.rest)


async def set_default_policy_version(call: Call, request: iam.SetDefaultPolicyVersionRequest) -> None:
    async with call.site.identities.changing() as directory:
        policy = POLICIES.asked(call, directory, request)
        _check_there(policy, request.VersionId)
        await call.site.identities.save(replace(policy, default=request.VersionId, updated=call.now()))


async def delete_policy_version(call: Call, request: iam.DeletePolicyVersionRequest) -> None:
    async with call.site.identities.changing() as directory:
        policy = POLICIES.asked(call, directory, request)
        _check_there(policy, request.VersionId)
        if request.VersionId == policy.default:
            raise ServiceError("DeleteConflictException", "Cannot delete the default version of a policy.")
        rest = {name: version for name, version in policy.versions.items() if name != request.VersionId}
        await call.site.identities.save(replace(policy, versions=rest, updated=call.now()))


OPERATIONS: dict[str, Operation] = {
    "CreatePolicyVersion": create_policy_version,
    "GetPolicyVersion": get_policy_version,
    "ListPolicyVersions": list_policy_versions,
    "SetDefaultPolicyVersion": set_default_policy_version,
    "DeletePolicyVersion": delete_policy_version,
}
