"""AWS STS: who am I."""

from penstock.api.call import Call, Operation
from penstock.aws import sts
from penstock.aws.sts import SERVICE


async def get_caller_identity(call: Call, request: sts.GetCallerIdentityRequest) -> sts.GetCallerIdentityResponse:
    who = call.principal
    return sts.GetCallerIdentityResponse(UserId=who.user_id, Account=who.account, Arn=who.arn)


OPERATIONS: dict[str, Operation] = {"GetCallerIdentity": get_caller_identity}

__all__ = ["OPERATIONS", "SERVICE"]
