"""What Amazon's IAM has and Penstock has not: passwords, devices, certificates, instance profiles, aliases.

Tools ask for them before they delete a user or a role, and when they read one: there are none, and that is the answer.
"""

from typing import Any

from penstock.api.call import Call, Operation
from penstock.api.iam.nouns import ROLES, user_meant
from penstock.api.iam.refusals import no_such
from penstock.aws.iam import SERVICE

LISTS = {
    "ListAccountAliases": "AccountAliases",
    "ListInstanceProfiles": "InstanceProfiles",
    "ListInstanceProfilesForRole": "InstanceProfiles",
    "ListMFADevices": "MFADevices",
    "ListVirtualMFADevices": "VirtualMFADevices",
    "ListSSHPublicKeys": "SSHPublicKeys",
    "ListSigningCertificates": "Certificates",
    "ListServiceSpecificCredentials": "ServiceSpecificCredentials",
}


def _check_owner(call: Call, request: Any) -> None:
    """Whoever has none of these must be there."""
    directory = call.site.identities.directory
    if hasattr(request, "RoleName"):
        ROLES.asked(call, directory, request)
    elif getattr(request, "UserName", None):
        user_meant(call, directory, request.UserName)


def _empty(action: str, member: str) -> Operation:
    async def empty(call: Call, request: Any) -> Any:
        _check_owner(call, request)
        return SERVICE.types[f"{action}Response"](**{member: [], "IsTruncated": False})

    return empty


async def no_login_profile(call: Call, request: Any) -> Any:
    user = user_meant(call, call.site.identities.directory, request.UserName)
    raise no_such(f"Login Profile for User {user.name if user else 'root'} cannot be found.")


OPERATIONS: dict[str, Operation] = {
    **{action: _empty(action, member) for action, member in LISTS.items()},
    "GetLoginProfile": no_login_profile,
    "DeleteLoginProfile": no_login_profile,
}
