"""Managed policies: documents with a name of their own, that hang on many. Their versions are in `versions`."""

from collections import Counter

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.attachments import holders
from penstock.api.iam.documents import checked, size_of
from penstock.api.iam.nouns import HOLDERS, POLICIES, by_name
from penstock.api.iam.paging import page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import over_quota
from penstock.api.iam.tags import checked_tags
from penstock.aws import iam
from penstock.core.directory import Bounded, Directory, ManagedPolicy, Version
from penstock.core.errors import ServiceError


def managed_document(text: str) -> str:
    most = QUOTAS["PolicySizeQuota"]
    if size_of(text) > most:
        raise over_quota("PolicySize", most)
    return checked(text)


def uses(directory: Directory, account: str) -> tuple[Counter[str], Counter[str]]:
    """On how many each policy hangs, and for how many it is the boundary: one look at everyone."""
    attached, bounding = Counter[str](), Counter[str]()
    for noun in HOLDERS:
        for entity in directory.all_of(noun.kind, account):
            attached.update(entity.attached)
            if isinstance(entity, Bounded) and entity.boundary:
                bounding[entity.boundary] += 1
    return attached, bounding


async def create_policy(call: Call, request: iam.CreatePolicyRequest) -> iam.CreatePolicyResponse:
    async with call.site.identities.changing() as directory:
        new = POLICIES.new(call, directory, request)
        now = new["created"]
        policy = ManagedPolicy(
            **new,
            versions={"v1": Version(managed_document(request.PolicyDocument), now)},
            default="v1",
            description=request.Description or "",
            updated=now,
            tags=checked_tags({}, request.Tags or []),
        )
        await call.site.identities.save(policy)
    return iam.CreatePolicyResponse(Policy=shown.policy(policy, 0, 0))


async def get_policy(call: Call, request: iam.GetPolicyRequest) -> iam.GetPolicyResponse:
    directory = call.site.identities.directory
    policy = POLICIES.asked(call, directory, request)
    attached, bounding = uses(directory, policy.account)
    return iam.GetPolicyResponse(Policy=shown.policy(policy, attached[policy.arn], bounding[policy.arn]))


async def list_policies(call: Call, request: iam.ListPoliciesRequest) -> iam.ListPoliciesResponse:
    directory, account = call.site.identities.directory, call.principal.account
    attached, bounding = uses(directory, account)
    used = {"PermissionsPolicy": attached, "PermissionsBoundary": bounding}.get(
        request.PolicyUsageFilter or "", attached + bounding
    )
    only_used = request.OnlyAttached or request.PolicyUsageFilter is not None
    policies = () if request.Scope == "AWS" else directory.all_of(ManagedPolicy, account)
    within = (
        policy
        for policy in policies
        if policy.path.startswith(request.PathPrefix or "/") and (used[policy.arn] or not only_used)
    )
    found = page(request, within, by_name)
    shows = [shown.policy(policy, attached[policy.arn], bounding[policy.arn], whole=False) for policy in found.items]
    return iam.ListPoliciesResponse(Policies=shows, **found.rest)


async def delete_policy(call: Call, request: iam.DeletePolicyRequest) -> None:
    async with call.site.identities.changing() as directory:
        policy = POLICIES.asked(call, directory, request)
        if any(holders(directory, policy)):
            raise ServiceError("DeleteConflictException", "Cannot delete a policy attached to entities.")
        if len(policy.versions) > 1:
            raise ServiceError(
                "DeleteConflictException",
                "This policy has more than one version. Before you delete a policy, you must delete the policy's "
                "versions. The default version is deleted with the policy.",
            )
        await call.site.identities.save(removed=[policy])


OPERATIONS: dict[str, Operation] = {
    "CreatePolicy": create_policy,
    "GetPolicy": get_policy,
    "ListPolicies": list_policies,
    "DeletePolicy": delete_policy,
}
