"""Roles: what somebody may be for a while. Who may, is their trust policy; becoming one is in `api.sts`."""

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.boundaries import bounding
from penstock.api.iam.documents import checked, size_of
from penstock.api.iam.nouns import ROLES, check_bare
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import over_quota
from penstock.api.iam.tags import checked_tags
from penstock.api.principals import check_known
from penstock.aws import iam
from penstock.core.directory import Role
from penstock.core.errors import ServiceError
from penstock.core.policy import UnknownPrincipal, Use

SESSION_SECONDS = 3600


def _trust(call: Call, document: str) -> str:
    most = QUOTAS["AssumeRolePolicySizeQuota"]
    if size_of(document) > most:
        raise over_quota("ACLSizePerRole", most)
    checked(document, Use.TRUST)
    try:
        check_known(call, document, Use.TRUST)
    except UnknownPrincipal as error:
        reason = f'Invalid principal in policy: "AWS":"{error.principal}"'
        raise ServiceError("MalformedPolicyDocumentException", reason) from None
    return document


async def create_role(call: Call, request: iam.CreateRoleRequest) -> iam.CreateRoleResponse:
    async with call.site.identities.changing() as directory:
        role = Role(
            **ROLES.new(call, directory, request),
            trust=_trust(call, request.AssumeRolePolicyDocument),
            description=request.Description or "",
            most_session_seconds=request.MaxSessionDuration or SESSION_SECONDS,
            boundary=bounding(call, directory, request.PermissionsBoundary),
            tags=checked_tags({}, request.Tags or []),
        )
        await call.site.identities.save(role)
    return iam.CreateRoleResponse(Role=shown.role(role))


async def get_role(call: Call, request: iam.GetRoleRequest) -> iam.GetRoleResponse:
    return iam.GetRoleResponse(Role=shown.role(ROLES.asked(call, call.site.identities.directory, request)))


async def list_roles(call: Call, request: iam.ListRolesRequest) -> iam.ListRolesResponse:
    found = ROLES.listed(call, request)
    return iam.ListRolesResponse(Roles=[shown.role(role, whole=False) for role in found.items], **found.rest)


async def update_role(call: Call, request: iam.UpdateRoleRequest) -> iam.UpdateRoleResponse:
    async with call.site.identities.changing() as directory:
        role = ROLES.asked(call, directory, request)
        description = role.description if request.Description is None else request.Description
        seconds = request.MaxSessionDuration or role.most_session_seconds
        await call.site.identities.save(replace(role, description=description, most_session_seconds=seconds))
    return iam.UpdateRoleResponse()


async def update_role_description(
    call: Call, request: iam.UpdateRoleDescriptionRequest
) -> iam.UpdateRoleDescriptionResponse:
    async with call.site.identities.changing() as directory:
        role = replace(ROLES.asked(call, directory, request), description=request.Description)
        await call.site.identities.save(role)
    return iam.UpdateRoleDescriptionResponse(Role=shown.role(role))


async def update_assume_role_policy(call: Call, request: iam.UpdateAssumeRolePolicyRequest) -> None:
    async with call.site.identities.changing() as directory:
        role = ROLES.asked(call, directory, request)
        await call.site.identities.save(replace(role, trust=_trust(call, request.PolicyDocument)))


async def delete_role(call: Call, request: iam.DeleteRoleRequest) -> None:
    async with call.site.identities.changing() as directory:
        role = ROLES.asked(call, directory, request)
        check_bare(role)
        await call.site.identities.save(removed=[role])


OPERATIONS: dict[str, Operation] = {
    "CreateRole": create_role,
    "GetRole": get_role,
    "ListRoles": list_roles,
    "UpdateRole": update_role,
    "UpdateRoleDescription": update_role_description,
    "UpdateAssumeRolePolicy": update_assume_role_policy,
    "DeleteRole": delete_role,
}
