"""Temporary credentials for oneself (GetSessionToken), and for someone one vouches for (GetFederationToken)."""

from penstock.api.call import Call
from penstock.api.sts.credentials import HOUR, given_out, narrowing, refuse_codes, span
from penstock.aws import sts
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind, Principal
from penstock.core.session import Ticket, federated_arn

USUAL_SECONDS = 12 * HOUR


async def get_session_token(call: Call, request: sts.GetSessionTokenRequest) -> sts.GetSessionTokenResponse:
    owner = _owner(call)
    refuse_codes(request)
    issued, expires = span(call, _seconds(owner, request.DurationSeconds))
    ticket = Ticket(owner.account, owner.kind, owner.owner, _owner_id(call), issued, expires)
    return sts.GetSessionTokenResponse(Credentials=given_out(call, ticket))


async def get_federation_token(call: Call, request: sts.GetFederationTokenRequest) -> sts.GetFederationTokenResponse:
    """Without a policy the federated user may do nothing but what queues' own policies allow him."""
    owner, name = _owner(call), request.Name
    narrowed = narrowing(call, request, owner.account)
    issued, expires = span(call, _seconds(owner, request.DurationSeconds))
    ticket = Ticket(
        owner.account,
        Kind.FEDERATED,
        owner.owner,
        _owner_id(call),
        issued,
        expires,
        name,
        narrowed.policies or (),
        narrowed.policy_arns,
        narrowed.tags,
    )
    return sts.GetFederationTokenResponse(
        Credentials=given_out(call, ticket),
        FederatedUser=sts.FederatedUser(
            FederatedUserId=f"{owner.account}:{name}", Arn=federated_arn(owner.account, name)
        ),
        PackedPolicySize=narrowed.size,
    )


def _owner(call: Call) -> Principal:
    """The caller, with a permanent key: a session is not made longer by another."""
    if call.principal.session is not None:
        raise ServiceError("AccessDenied", f"Cannot call {call.action} with session credentials")
    return call.principal


def _owner_id(call: Call) -> str:
    return call.principal.user_id if call.principal.owner else call.access_key


def _seconds(owner: Principal, asked: int | None) -> int:
    """An account itself has sessions of an hour at most, whatever it asks for."""
    seconds = asked or USUAL_SECONDS
    return seconds if owner.owner else min(seconds, HOUR)
