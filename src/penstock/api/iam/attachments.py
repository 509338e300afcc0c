"""Managed policies on users, groups and roles: three operations, made for each of them; and who has a policy."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.nouns import GROUPS, HOLDERS, POLICIES, ROLES, USERS, Noun, by_name
from penstock.api.iam.paging import page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import no_such, over_quota
from penstock.aws import iam
from penstock.core.directory import Bounded, Directory, Holder, ManagedPolicy, named


def operations(noun: Noun[Holder]) -> dict[str, Operation]:
    async def attach(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            holder = noun.asked(call, directory, request)
            missing = "Policy {} does not exist or is not attachable."
            policy = POLICIES.at(call, directory, request.PolicyArn, missing)
            if policy.arn in holder.attached:
                return
            most = QUOTAS[f"AttachedPoliciesPer{noun.word}Quota"]
            if len(holder.attached) >= most:
                raise over_quota(f"PoliciesPer{noun.word}", most)
            await call.site.identities.save(replace(holder, attached=(*holder.attached, policy.arn)))

    async def detach(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            holder, arn = noun.asked(call, directory, request), request.PolicyArn
            if arn not in holder.attached:
                raise no_such(f"Policy {arn} was not found.")
            rest = tuple(other for other in holder.attached if other != arn)
            await call.site.identities.save(replace(holder, attached=rest))

    async def attached(call: Call, request: Any) -> Any:
        directory, prefix = call.site.identities.directory, request.PathPrefix or "/"
        holder = noun.asked(call, directory, request)
        policies = [directory.policy_by_arn[arn] for arn in holder.attached if arn in directory.policy_by_arn]
        within = (policy for policy in policies if policy.path.startswith(prefix))
        found = page(request, within, by_name)
        return noun.reply(
            "ListAttached{}PoliciesResponse",
            AttachedPolicies=shown.attached(directory, tuple(policy.arn for policy in found.items)),
            **found.rest,
        )

    return {
        f"Attach{noun.word}Policy": attach,
        f"Detach{noun.word}Policy": detach,
        f"ListAttached{noun.word}Policies": attached,
    }


Holding = tuple[Noun[Holder], Holder]


def holders(
    directory: Directory, policy: ManagedPolicy, attached: bool = True, bounds: bool = True
) -> Iterator[Holding]:
    """Those on whom it hangs, and those for whom it is the boundary."""
    arn = policy.arn
    for noun in HOLDERS:
        for entity in directory.all_of(noun.kind, policy.account):
            boundary = isinstance(entity, Bounded) and entity.boundary == arn
            if (attached and arn in entity.attached) or (bounds and boundary):
                yield noun, entity


async def list_entities_for_policy(
    call: Call, request: iam.ListEntitiesForPolicyRequest
) -> iam.ListEntitiesForPolicyResponse:
    directory, prefix = call.site.identities.directory, request.PathPrefix or "/"
    policy, usage = POLICIES.asked(call, directory, request), request.PolicyUsageFilter
    held = holders(directory, policy, usage != "PermissionsBoundary", usage != "PermissionsPolicy")
    within = (
        (noun, entity)
        for noun, entity in held
        if entity.path.startswith(prefix) and request.EntityFilter in (None, noun.word)
    )
    found = page(request, within, lambda pair: f"{pair[0].word} {named(pair[1].name)}")
    return iam.ListEntitiesForPolicyResponse(
        PolicyGroups=[
            iam.PolicyGroup(GroupName=one.name, GroupId=one.id) for noun, one in found.items if noun is GROUPS
        ],
        PolicyUsers=[iam.PolicyUser(UserName=one.name, UserId=one.id) for noun, one in found.items if noun is USERS],
        PolicyRoles=[iam.PolicyRole(RoleName=one.name, RoleId=one.id) for noun, one in found.items if noun is ROLES],
        **found.rest,
    )


OPERATIONS: dict[str, Operation] = {
    **{name: operation for noun in HOLDERS for name, operation in operations(noun).items()},
    "ListEntitiesForPolicy": list_entities_for_policy,
}
