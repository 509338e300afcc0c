"""How Amazon tells a caller that it may not."""

from penstock.core.policy.decision import Ask, Decision, Reason

_WHY = {
    Reason.IDENTITY_DENIES: "with an explicit deny in an identity-based policy",
    Reason.BOUNDARY_DENIES: "with an explicit deny in a permissions boundary",
    Reason.SESSION_DENIES: "with an explicit deny in a session policy",
    Reason.RESOURCE_DENIES: "with an explicit deny in a resource-based policy",
    Reason.IDENTITY_SILENT: "because no identity-based policy allows the {action} action",
    Reason.BOUNDARY_SILENT: "because no permissions boundary allows the {action} action",
    Reason.SESSION_SILENT: "because no session policy allows the {action} action",
    Reason.RESOURCE_SILENT: "because no resource-based policy allows the {action} action",
}


def refusal_text(ask: Ask, decision: Decision) -> str:
    """SQS writes its actions in lower case here, other services as they are called."""
    vendor = ask.action.partition(":")[0].lower()
    action = ask.action.lower() if vendor == "sqs" else ask.action
    where = f" on resource: {ask.resource}" if ask.resource else ""
    why = _WHY[decision.reason].format(action=action)
    return f"User: {ask.principal.arn or 'anonymous'} is not authorized to perform: {action}{where} {why}"
