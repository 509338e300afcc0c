"""May they, and why? Asked of the evaluator that decides for real, with policies that there are or might be.

A simulation knows of a request what it is told: the caller, and the context entries. It looks at no queue.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.api.call import Call, Operation
from penstock.api.grants import Held, boundary_of, held_by
from penstock.api.iam.paging import stretch
from penstock.api.iam.refusals import invalid_input
from penstock.api.iam.sources import brought, entity_at, heard, keys_of
from penstock.aws import iam
from penstock.core.directory import User
from penstock.core.identity import Kind, Principal
from penstock.core.policy import Ask, Context, Decision, Grants, Use, decide

MOST_AT_ONCE = 20_000
"""So many statements are asked in one call; the rest is on further pages."""

_ACTION = re.compile(r"[A-Za-z0-9-]+:[A-Za-z0-9]+")
_CALLER = re.compile(r"arn:aws:(?:iam|sts)::([0-9]{12}):(user|role|assumed-role)/.+")
_OWNER = re.compile(r"(?:arn:aws:iam::)?([0-9]{12})(?::root)?")


@dataclass(frozen=True)
class Case:
    """Who asks, and every policy that has a say."""

    principal: Principal
    identity: Sequence[Held]
    boundary: Sequence[Held]
    resource: Held | None
    owner: str
    context: Context

    @cached_property
    def everything(self) -> list[Held]:
        return [*self.identity, *self.boundary, *([self.resource] if self.resource else ())]

    @cached_property
    def missing(self) -> list[str]:
        return [key for key in keys_of(self.everything) if key.lower() not in self.context]

    @cached_property
    def kinds(self) -> dict[str, str]:
        return {one.policy.name: one.kind for one in self.everything}

    def ask(self, action: str, resource: str) -> iam.EvaluationResult:
        ask = Ask(self.principal, action, resource, self.context)
        boundary = self.boundary[0].policy if self.boundary else None
        grants = Grants(tuple(one.policy for one in self.identity), boundary)
        decision = decide(ask, grants, self.resource.policy if self.resource else None, self.owner)
        allowed = decide(ask, Grants((boundary,))).allowed if boundary else None
        return iam.EvaluationResult(
            EvalActionName=action,
            EvalResourceName=resource,
            EvalDecision=_word(decision),
            MatchedStatements=[
                iam.Statement(SourcePolicyId=match.policy, SourcePolicyType=self.kinds[match.policy])
                for match in decision.matched
            ],
            MissingContextValues=self.missing,
            PermissionsBoundaryDecisionDetail=None
            if allowed is None
            else iam.PermissionsBoundaryDecisionDetail(AllowedByPermissionsBoundary=allowed),
        )


def _word(decision: Decision) -> str:
    return "allowed" if decision.allowed else "explicitDeny" if decision.reason.explicit else "implicitDeny"


def _caller(call: Call, arn: str | None) -> Principal:
    """Somebody without a name, if none is given."""
    account = call.principal.account
    if arn is None:
        return Principal(account, f"arn:aws:iam::{account}:user/simulated", "", Kind.USER)
    found = _CALLER.fullmatch(arn)
    if found is None:
        raise invalid_input(f"Invalid CallerArn: {arn} is not the ARN of a user or a role.")
    user = call.site.identities.directory.user(account, arn.rpartition("/")[2])
    if user and user.arn == arn:
        return user.principal
    kind = Kind.USER if found[2] == "user" else Kind.ROLE
    return Principal(found[1], arn, "", kind, arn.rpartition("/")[2])


def _context(principal: Principal, entries: Sequence[iam.ContextEntry]) -> dict[str, str | tuple[str, ...]]:
    """What the request says, and what is true of the caller anyway."""
    known: dict[str, str | tuple[str, ...]] = {
        "aws:principalarn": principal.arn,
        "aws:principalaccount": principal.account,
    }
    if principal.owner and principal.kind is Kind.USER:
        known["aws:username"] = principal.owner
    if principal.user_id:
        known["aws:userid"] = principal.user_id
    known |= {f"aws:principaltag/{key.lower()}": value for key, value in principal.tags.items()}
    for entry in entries:
        values = tuple(entry.ContextKeyValues or ())
        known[(entry.ContextKeyName or "").lower()] = values[0] if len(values) == 1 else values
    return known


def _resource_policy(request: Any, principal_known: bool) -> Held | None:
    if request.ResourcePolicy is None:
        return None
    if not principal_known:
        raise invalid_input("CallerArn is needed with ResourcePolicy: name the user that calls.")
    return heard(request.ResourcePolicy, "ResourcePolicy", "resource", Use.RESOURCE)


def _case(request: Any, principal: Principal, identity: Sequence[Held], boundary: Sequence[Held]) -> Case:
    owner = _OWNER.fullmatch(request.ResourceOwner) if request.ResourceOwner else None
    if request.ResourceOwner and owner is None:
        raise invalid_input(f"Invalid ResourceOwner: {request.ResourceOwner} is not the ARN of an account.")
    if len(boundary) > 1:
        raise invalid_input("There is one permissions boundary at most.")
    return Case(
        principal=principal,
        identity=identity,
        boundary=boundary,
        resource=_resource_policy(request, bool(principal.owner)),
        owner=owner[1] if owner else "",
        context=_context(principal, request.ContextEntries or ()),
    )


def _results(request: Any, case: Case) -> iam.SimulatePolicyResponse:
    """One for each action and resource; only those that are shown are worked out, and no more than others can wait
    for."""
    for action in request.ActionNames:
        if not _ACTION.fullmatch(action):
            raise invalid_input(f"Invalid action name: {action} is not written service:Action.")
    statements = sum(len(one.policy.statements) for one in case.everything)
    actions, resources = request.ActionNames, request.ResourceArns or ["*"]
    found = stretch(request, len(actions) * len(resources), most=MOST_AT_ONCE // (statements + 1) + 1)
    pairs = (divmod(position, len(resources)) for position in found.items)
    results = [case.ask(actions[action], resources[resource]) for action, resource in pairs]
    return iam.SimulatePolicyResponse(EvaluationResults=results, **found.rest)


def _refuse_unknown(request: Any, *members: str) -> None:
    """What would change the answer, and is not looked at, is not let through."""
    for member in members:
        if getattr(request, member):
            raise invalid_input(f"{member} is not supported.")


async def simulate_principal_policy(
    call: Call, request: iam.SimulatePrincipalPolicyRequest
) -> iam.SimulatePolicyResponse:
    _refuse_unknown(request, "PolicyExclusionList")
    directory = call.site.identities.directory
    source = entity_at(call, directory, request.PolicySourceArn)
    bound = boundary_of(source, directory)
    caller = request.CallerArn or (request.PolicySourceArn if isinstance(source, User) else None)
    return _results(
        request,
        _case(
            request,
            _caller(call, caller),
            [*held_by(source, directory), *brought(request.PolicyInputList, "PolicyInputList")],
            brought(request.PermissionsBoundaryPolicyInputList, "PermissionsBoundaryPolicyInputList")
            or ([bound] if bound else []),
        ),
    )


async def simulate_custom_policy(call: Call, request: iam.SimulateCustomPolicyRequest) -> iam.SimulatePolicyResponse:
    _refuse_unknown(request, "OrderedOrganizationPolicyInputList")
    return _results(
        request,
        _case(
            request,
            _caller(call, request.CallerArn),
            brought(request.PolicyInputList, "PolicyInputList"),
            brought(request.PermissionsBoundaryPolicyInputList, "PermissionsBoundaryPolicyInputList"),
        ),
    )


async def context_keys_of_principal(
    call: Call, request: iam.GetContextKeysForPrincipalPolicyRequest
) -> iam.GetContextKeysForPolicyResponse:
    directory = call.site.identities.directory
    source = entity_at(call, directory, request.PolicySourceArn)
    policies = [*held_by(source, directory), *brought(request.PolicyInputList, "PolicyInputList")]
    return iam.GetContextKeysForPolicyResponse(ContextKeyNames=keys_of(policies))


async def context_keys_of_policies(
    call: Call, request: iam.GetContextKeysForCustomPolicyRequest
) -> iam.GetContextKeysForPolicyResponse:
    policies = brought(request.PolicyInputList, "PolicyInputList")
    return iam.GetContextKeysForPolicyResponse(ContextKeyNames=keys_of(policies))


OPERATIONS: Mapping[str, Operation] = {
    "SimulatePrincipalPolicy": simulate_principal_policy,
    "SimulateCustomPolicy": simulate_custom_policy,
    "GetContextKeysForPrincipalPolicy": context_keys_of_principal,
    "GetContextKeysForCustomPolicy": context_keys_of_policies,
}
