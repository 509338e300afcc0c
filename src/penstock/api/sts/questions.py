"""Operations of STS that give nothing out: who am I, whose key is this, and what did a refusal mean."""

from penstock.api.call import Call
from penstock.aws import sts
from penstock.core.errors import ServiceError
from penstock.core.session import account_of_key


async def get_caller_identity(call: Call, request: sts.GetCallerIdentityRequest) -> sts.GetCallerIdentityResponse:
    who = call.principal
    return sts.GetCallerIdentityResponse(UserId=who.user_id, Account=who.account, Arn=who.arn)


async def get_access_key_info(call: Call, request: sts.GetAccessKeyInfoRequest) -> sts.GetAccessKeyInfoResponse:
    """An id is no secret: it stands in every request and in logs."""
    key = call.site.identities.get(request.AccessKeyId)
    account = key.principal.account if key else account_of_key(request.AccessKeyId)
    if account is None:
        raise ServiceError("ValidationError", f"Invalid AccessKeyId: {request.AccessKeyId}")
    return sts.GetAccessKeyInfoResponse(Account=account)


async def decode_authorization_message(
    call: Call, request: sts.DecodeAuthorizationMessageRequest
) -> sts.DecodeAuthorizationMessageResponse:
    raise ServiceError(
        "InvalidAuthorizationMessageException",
        "The message is not one of this server's: it writes its refusals in clear, and encodes none.",
    )
