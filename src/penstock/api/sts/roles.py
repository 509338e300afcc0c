"""AssumeRole: temporary credentials of a role, for whom the role trusts."""

from penstock.api.call import Call
from penstock.api.sts.credentials import HOUR, Narrowing, given_out, narrowing, packed_size, refuse_codes, span
from penstock.api.sts.trust import check_trust, role_named
from penstock.aws import sts
from penstock.core.directory import Role
from penstock.core.errors import ServiceError, invalid_parameter
from penstock.core.identity import Kind
from penstock.core.session import Ticket, assumed_role_arn


async def assume_role(call: Call, request: sts.AssumeRoleRequest) -> sts.AssumeRoleResponse:
    account, role = role_named(call, request.RoleArn)
    role = check_trust(call, request, account, role)
    refuse_codes(request)
    if request.ProvidedContexts:
        raise invalid_parameter("ProvidedContexts are not taken by this server.")
    seconds = _seconds(call, role, request.DurationSeconds)
    narrowed = _with_passed_on(call, request, narrowing(call, request, role.account))
    transitive = {*(request.TransitiveTagKeys or ()), *_passed_on(call)}
    session = call.principal.session
    source = (session.source_identity if session else "") or request.SourceIdentity or ""
    issued, expires = span(call, seconds)
    ticket = Ticket(
        role.account,
        Kind.ROLE,
        role.name,
        role.id,
        issued,
        expires,
        request.RoleSessionName,
        narrowed.policies,
        narrowed.policy_arns,
        narrowed.tags,
        tuple(sorted(transitive)),
        source,
    )
    return sts.AssumeRoleResponse(
        Credentials=given_out(call, ticket),
        AssumedRoleUser=sts.AssumedRoleUser(
            AssumedRoleId=f"{role.id}:{ticket.name}", Arn=assumed_role_arn(role.account, role.name, ticket.name)
        ),
        PackedPolicySize=narrowed.size,
        SourceIdentity=source or None,
    )


def _seconds(call: Call, role: Role, asked: int | None) -> int:
    """An hour unless asked otherwise. A role that assumes a role gets an hour at most, or sessions would never end."""
    seconds = HOUR if asked is None else asked
    if call.principal.kind is Kind.ROLE and seconds > HOUR:
        raise ServiceError(
            "ValidationError",
            "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
        )
    if seconds > role.most_session_seconds:
        raise ServiceError(
            "ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
        )
    return seconds


def _passed_on(call: Call) -> dict[str, str]:
    return dict(call.principal.session.passed_on) if call.principal.session else {}


def _with_passed_on(call: Call, request: sts.AssumeRoleRequest, narrowed: Narrowing) -> Narrowing:
    """The tags that the caller's own session hands down are in the new one, and stay as they are."""
    inherited = _passed_on(call)
    taken = {key.lower() for key in inherited}
    if not set(request.TransitiveTagKeys or ()) <= narrowed.tags.keys():
        raise invalid_parameter("The specified transitive tag key must be included in the requested tags.")
    if any(key.lower() in taken for key in narrowed.tags):
        raise invalid_parameter(
            "One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key "
            "from the calling session."
        )
    tags = inherited | narrowed.tags
    return narrowed._replace(tags=tags, size=packed_size(narrowed.policies, narrowed.policy_arns, tags))
