"""Amazon's rules of evaluation, told again in plain sentences for one request. It shares nothing with the evaluator.

A case says what each policy does about the request, not how it is written. The answer is what the refusal ends with, or
nothing when the request is allowed.
"""

from typing import NamedTuple


class Case(NamedTuple):
    caller: str
    """root, user, role (a session of one), federated, anonymous"""
    account: str
    """same, cross"""
    identity: str
    """allow, deny, none"""
    resource: str
    """allow-principal (the caller's own ARN), allow-behind (the role or user it comes from), allow-account, allow-star,
    deny, none"""
    boundary: str
    """none, allow, not (it is there and does not allow), deny"""
    session: str
    """none, allow, not, deny"""


def refusal(case: Case) -> str:
    if case.caller == "anonymous":
        return refusal_of_a_stranger(case)

    # An explicit deny in any policy is the end of it.
    if case.identity == "deny":
        return "with an explicit deny in an identity-based policy"
    if case.boundary == "deny":
        return "with an explicit deny in a permissions boundary"
    if case.session == "deny":
        return "with an explicit deny in a session policy"
    if case.resource == "deny":
        return "with an explicit deny in a resource-based policy"

    if case.account == "cross":
        # Someone there must have let this caller in, by whatever name, …
        if case.resource == "none":
            return no("resource-based policy")
        # … and here it must be allowed to go.
        return refusal_by_the_identity_side(case)

    # In one account the resource's policy is enough for a caller that it names itself, or as one of everybody.
    if case.resource in ("allow-principal", "allow-star"):
        return ""
    # Naming the role, or the user who federated, gives its sessions what boundary and session policy leave of it.
    if case.resource == "allow-behind":
        return refusal_by_the_limits(case)
    # Naming the account says no more than that the account's own policies decide.
    return refusal_by_the_identity_side(case)


def refusal_of_a_stranger(case: Case) -> str:
    """It has no policies of its own, so nothing but the resource's can speak for or against it."""
    if case.resource == "deny":
        return "with an explicit deny in a resource-based policy"
    if case.resource == "allow-star":
        return ""
    return no("resource-based policy")


def refusal_by_the_identity_side(case: Case) -> str:
    if case.caller == "root":
        return ""
    if case.identity != "allow":
        return no("identity-based policy")
    return refusal_by_the_limits(case)


def refusal_by_the_limits(case: Case) -> str:
    if case.boundary == "not":
        return no("permissions boundary")
    if case.session == "not":
        return no("session policy")
    # A federated user has only what is in the policy of its session; without one that is nothing.
    if case.caller == "federated" and case.session == "none":
        return no("session policy")
    return ""


def no(kind: str) -> str:
    return f"because no {kind} allows the sqs:sendmessage action"
