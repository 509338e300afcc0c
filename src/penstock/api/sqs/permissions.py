"""AddPermission and RemovePermission."""

from penstock.api.call import Call
from penstock.api.principals import is_known
from penstock.api.sqs.attributes import alter
from penstock.aws import sqs
from penstock.core.errors import missing_parameter
from penstock.core.naming import check_label
from penstock.core.permission import unverified, with_permission, without_permission


async def add_permission(call: Call, request: sqs.AddPermissionRequest) -> None:
    queue = call.queue()
    for name, value in (
        ("Label", request.Label),
        ("AWSAccountIds", request.AWSAccountIds),
        ("ActionName", request.Actions),
    ):
        if not value:
            raise missing_parameter(name)
    check_label(request.Label, call.site.limits)
    policy = with_permission(queue, request.Label, request.AWSAccountIds, request.Actions, call.site.limits)
    for account in request.AWSAccountIds:
        if not is_known(call, account):
            raise unverified(account)
    await alter(call, queue, queue.attributes | {"Policy": policy})


async def remove_permission(call: Call, request: sqs.RemovePermissionRequest) -> None:
    queue = call.queue()
    policy = without_permission(queue, request.Label)
    without = {name: value for name, value in queue.attributes.items() if name != "Policy"}
    await alter(call, queue, without | {"Policy": policy} if policy else without)
