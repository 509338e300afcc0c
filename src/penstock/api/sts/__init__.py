"""AWS STS: who am I, and temporary credentials. Nothing of them is kept: see `core.session`."""

from penstock.api.call import Operation
from penstock.api.sts.questions import decode_authorization_message, get_access_key_info, get_caller_identity
from penstock.api.sts.roles import assume_role
from penstock.api.sts.tokens import get_federation_token, get_session_token
from penstock.aws.sts import SERVICE

OPERATIONS: dict[str, Operation] = {
    "AssumeRole": assume_role,
    "DecodeAuthorizationMessage": decode_authorization_message,
    "GetAccessKeyInfo": get_access_key_info,
    "GetCallerIdentity": get_caller_identity,
    "GetFederationToken": get_federation_token,
    "GetSessionToken": get_session_token,
}

__all__ = ["OPERATIONS", "SERVICE"]
