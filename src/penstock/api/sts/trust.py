"""Whether a caller may assume a role: the role's trust policy is to it what a queue's policy is to a queue.

A trust policy that names the caller is enough within an account; one that names the account leaves it to the caller's
own policies; from another account both must allow it. A role that is not there is refused as one that trusts nobody
is, in the same words and with the same work: nobody learns by asking which roles there are.
"""

import re
from collections import ChainMap
from collections.abc import Iterator
from functools import lru_cache

from penstock.api.call import Call
from penstock.api.circumstances import Circumstances
from penstock.aws import sts
from penstock.core.directory import Role
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind
from penstock.core.policy import Ask, Policy, PolicyError, Use, decide, read_policy

_ROLE = re.compile(r"arn:aws:iam::([0-9]{12}):role/(?:[!-~]+/)?([\w+=,.@-]{1,64})", re.ASCII)
_ASSUME, _TAG, _SET_SOURCE = "sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"
_NOBODY = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"sts:*"}]}'


def role_named(call: Call, arn: str) -> tuple[str, Role | None]:
    """The account that the ARN names, and the role if there is one."""
    found = _ROLE.fullmatch(arn)
    if found is None:
        raise ServiceError("ValidationError", f"{arn} is invalid")
    role = call.site.identities.directory.role(found[1], found[2])
    return found[1], role if role and role.arn == arn else None


def check_trust(call: Call, request: sts.AssumeRoleRequest, account: str, role: Role | None) -> Role:
    who = call.principal
    if who.kind is Kind.ROOT:
        raise ServiceError("AccessDenied", "Roles may not be assumed by root accounts.")
    trust = _compiled(role.trust if role else _NOBODY)
    grants = call.site.identities.grants(who)
    context = ChainMap(dict(_said(request)), Circumstances(call, None, account, request.RoleArn))  # type: ignore[arg-type]
    for action in _needed(request):
        decision = decide(Ask(who, action, request.RoleArn, context), grants, trust, account)
        if not decision.allowed or who.kind is Kind.FEDERATED:
            raise _refusal(call, action, request.RoleArn)
    given = who.session.source_identity if who.session else ""
    if given and request.SourceIdentity not in (None, given):
        raise _refusal(call, _SET_SOURCE, request.RoleArn)
    assert role is not None, "nobody may assume a role that is not there"
    return role


def _needed(request: sts.AssumeRoleRequest) -> Iterator[str]:
    yield _ASSUME
    if request.Tags:
        yield _TAG
    if request.SourceIdentity:
        yield _SET_SOURCE


def _said(request: sts.AssumeRoleRequest) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """What conditions of trust policies can ask of an AssumeRole beside what they can ask of any request."""
    yield "sts:rolesessionname", request.RoleSessionName
    if request.ExternalId is not None:
        yield "sts:externalid", request.ExternalId
    if request.SourceIdentity is not None:
        yield "sts:sourceidentity", request.SourceIdentity
    if request.TransitiveTagKeys:
        yield "sts:transitivetagkeys", tuple(request.TransitiveTagKeys)


@lru_cache(maxsize=256)
def _compiled(trust: str) -> Policy:
    """What cannot be read trusts nobody."""
    try:
        return read_policy(trust, Use.TRUST)
    except PolicyError:
        return read_policy(_NOBODY, Use.TRUST)


def _refusal(call: Call, action: str, arn: str) -> ServiceError:
    who = call.principal.arn or "anonymous"
    return ServiceError("AccessDenied", f"User: {who} is not authorized to perform: {action} on resource: {arn}")
