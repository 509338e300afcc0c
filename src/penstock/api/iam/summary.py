"""The account as a whole: how much there is of everything, and all of it."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.documents import encoded
from penstock.api.iam.nouns import GROUPS, POLICIES, ROLES, USERS, Noun
from penstock.api.iam.paging import page
from penstock.api.iam.policies import uses
from penstock.api.iam.quotas import QUOTAS
from penstock.aws import iam
from penstock.core.directory import Directory, Group, Holder, ManagedPolicy, Role, Titled, User, named

NOUNS: tuple[Noun[Titled], ...] = (USERS, GROUPS, ROLES, POLICIES)
FILTERS = {"LocalManagedPolicy": "Policy"}


async def get_account_summary(call: Call, request: Any) -> iam.GetAccountSummaryResponse:
    directory, account = call.site.identities.directory, call.principal.account
    policies = directory.all_of(ManagedPolicy, account)
    counts = {noun.plural: len(directory.all_of(noun.kind, account)) for noun in NOUNS}
    counts["PolicyVersionsInUse"] = sum(len(policy.versions) for policy in policies)
    counts["AccountAccessKeysPresent"] = len(directory.keys_of(account, ""))
    none = {"AccountMFAEnabled": 0, "MFADevices": 0, "MFADevicesInUse": 0, "InstanceProfiles": 0, "Providers": 0}
    return iam.GetAccountSummaryResponse(SummaryMap=counts | none | QUOTAS)


def _policies(holder: Holder) -> list[iam.PolicyDetail]:
    return [iam.PolicyDetail(PolicyName=name, PolicyDocument=encoded(text)) for name, text in holder.inline.items()]


def _user(directory: Directory, user: User) -> iam.UserDetail:
    return iam.UserDetail(
        **shown.titled(user),
        UserPolicyList=_policies(user),
        GroupList=list(user.groups),
        AttachedManagedPolicies=shown.attached(directory, user.attached),
        PermissionsBoundary=shown.boundary(user),
        Tags=shown.tags(user.tags),
    )


def _group(directory: Directory, group: Group) -> iam.GroupDetail:
    return iam.GroupDetail(
        **shown.titled(group),
        GroupPolicyList=_policies(group),
        AttachedManagedPolicies=shown.attached(directory, group.attached),
    )


def _role(directory: Directory, role: Role) -> iam.RoleDetail:
    return iam.RoleDetail(
        **shown.titled(role),
        AssumeRolePolicyDocument=encoded(role.trust),
        InstanceProfileList=[],
        RolePolicyList=_policies(role),
        AttachedManagedPolicies=shown.attached(directory, role.attached),
        PermissionsBoundary=shown.boundary(role),
        Tags=shown.tags(role.tags),
        RoleLastUsed=iam.RoleLastUsed(),
    )


def _policy(policy: ManagedPolicy, attached: int, bounding: int) -> iam.ManagedPolicyDetail:
    return iam.ManagedPolicyDetail(
        **shown.managed(policy, attached, bounding),
        Description=policy.description or None,
        PolicyVersionList=[shown.version(policy, name) for name in policy.versions],
    )


def _wanted(directory: Directory, account: str, filters: list[str] | None) -> Iterator[Titled]:
    words = {FILTERS.get(word, word) for word in filters or ()}
    wanted = [noun for noun in NOUNS if noun.word in words or not words]
    return chain.from_iterable(directory.all_of(noun.kind, account) for noun in wanted)


async def get_account_authorization_details(
    call: Call, request: iam.GetAccountAuthorizationDetailsRequest
) -> iam.GetAccountAuthorizationDetailsResponse:
    directory, account = call.site.identities.directory, call.principal.account
    found = page(
        request,
        _wanted(directory, account, request.Filter),
        lambda entity: f"{entity.key.kind} {named(entity.name)}",
    )
    attached, bounding = uses(directory, account)
    return iam.GetAccountAuthorizationDetailsResponse(
        UserDetailList=[_user(directory, one) for one in found.items if isinstance(one, User)],
        GroupDetailList=[_group(directory, one) for one in found.items if isinstance(one, Group)],
        RoleDetailList=[_role(directory, one) for one in found.items if isinstance(one, Role)],
        Policies=[
            _policy(one, attached[one.arn], bounding[one.arn]) for one in found.items if isinstance(one, ManagedPolicy)
        ],
        **found.rest,
    )


OPERATIONS: dict[str, Operation] = {
    "GetAccountSummary": get_account_summary,
    "GetAccountAuthorizationDetails": get_account_authorization_details,
}
