"""May this caller do this? One place to ask; the rule so far is that an account has its own queues and no others."""

from collections.abc import Callable

from penstock.api.call import Call
from penstock.core.errors import ServiceError

Authorise = Callable[[Call], None]


def own_account_only(call: Call) -> None:
    """The same answer whether the foreign queue exists or not."""
    if call.resource is not None and call.resource.account != call.principal.account:
        action = f"sqs:{call.action.lower()}"
        raise ServiceError(
            "AccessDenied",
            f"User: {call.principal.arn} is not authorized to perform: {action} on resource: {call.resource.arn} "
            f"because no resource-based policy allows the {action} action",
        )
