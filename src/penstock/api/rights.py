"""What every operation needs a right to: the action in policies, what it is about, and to whom it can be given.

One row an operation; a server that has an operation without a row does not start. It refuses to know who is calling:
`api.authorise` decides. Two kinds of operations need no row here, because a table of their service's module has them:
OPERATORS are about the server as a whole, and so the root account's; RESOURCES are about things of the caller's
account, and give the ARN of each, CALLED what a refusal calls it, ALSO both of a second thing, TAGGING the operation
that sets tags of a thing.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from penstock.api.call import Call
from penstock.core.move import TaskHandle
from penstock.core.queue import QueueKey
from penstock.core.session import federated_arn


class Target(NamedTuple):
    """What a request is about, and the account that it belongs to. `queue` is set if it is a queue, there or not.
    `called` is what a refusal calls it, if that is not its ARN."""

    arn: str
    owner: str
    queue: QueueKey | None = None
    called: str = ""


About = Callable[[Call], Target]
Resource = Callable[[Call, Any], str]


class Right(NamedTuple):
    """`action` is its name in policies. `about` is None for the queue that the request names. A right that is not
    `shared` cannot be given to another account, whatever a queue's policy says. `anonymous`: a queue's policy can give
    it to those who do not say who they are. `with_it` are actions that are needed as well, on the same thing, and
    `tagging` is one that is needed if the request brings tags; `also` is a second thing that the same action is
    about."""

    action: str
    about: About | None = None
    shared: bool = False
    anonymous: bool = False
    with_it: tuple[str, ...] = ()
    tagging: str = ""
    also: About | None = None


FREE = Right("")
"""Needs no right: whoever has proved who they are may, and no policy can deny it. Or the operation decides itself."""


def the_queue(call: Call) -> Target:
    """The one that the request names; without any it is about them all."""
    key = call.resource
    return Target(key.arn, key.account, key) if key else everything(call)


def everything(call: Call) -> Target:
    """All that is in the caller's account."""
    return Target("*", call.principal.account)


def the_server(call: Call) -> Target:
    """What is of all accounts is the root account's."""
    return Target("*", call.site.root_account)


def queue_of_task(call: Call) -> Target:
    """The queue that a task moves from, which only its handle says."""
    handle = TaskHandle.read(call.request.TaskHandle)
    key = QueueKey.from_arn(handle.source_arn) if handle else None
    return Target(key.arn, key.account, key) if key else everything(call)


def metrics(call: Call) -> Target:
    """An account's own are for itself to give; those of others are the server's."""
    if call.request.Account not in (None, call.principal.account):
        return the_server(call)
    return the_queue(call)._replace(queue=None)


def federated_user(call: Call) -> Target:
    account = call.principal.account
    return Target(federated_arn(account, call.request.Name), account)


def _sqs(action: str, **more: Any) -> Right:
    return Right(f"sqs:{action}", **more)


def _open(action: str) -> Right:
    return _sqs(action, shared=True, anonymous=True)


RIGHTS: dict[str, dict[str, Right]] = {
    "sqs": {
        "AddPermission": _sqs("AddPermission"),
        "CancelMessageMoveTask": _sqs("CancelMessageMoveTask", about=queue_of_task),
        "ChangeMessageVisibility": _open("ChangeMessageVisibility"),
        "ChangeMessageVisibilityBatch": _open("ChangeMessageVisibility"),
        "CreateQueue": _sqs("CreateQueue", tagging="sqs:TagQueue"),
        "DeleteMessage": _open("DeleteMessage"),
        "DeleteMessageBatch": _open("DeleteMessage"),
        "DeleteQueue": _sqs("DeleteQueue"),
        "GetQueueAttributes": _open("GetQueueAttributes"),
        "GetQueueUrl": _sqs("GetQueueUrl", shared=True),
        "ListDeadLetterSourceQueues": _open("ListDeadLetterSourceQueues"),
        "ListMessageMoveTasks": _sqs("ListMessageMoveTasks"),
        "ListQueueTags": _sqs("ListQueueTags"),
        "ListQueues": _sqs("ListQueues", about=everything),
        "PurgeQueue": _open("PurgeQueue"),
        "ReceiveMessage": _open("ReceiveMessage"),
        "RemovePermission": _sqs("RemovePermission"),
        "SendMessage": _open("SendMessage"),
        "SendMessageBatch": _open("SendMessage"),
        "SetQueueAttributes": _sqs("SetQueueAttributes"),
        "StartMessageMoveTask": _sqs(
            "StartMessageMoveTask", with_it=("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
        ),
        "TagQueue": _sqs("TagQueue"),
        "UntagQueue": _sqs("UntagQueue"),
    },
    "sts": {
        "AssumeRole": FREE,
        "DecodeAuthorizationMessage": Right("sts:DecodeAuthorizationMessage", about=everything),
        "GetAccessKeyInfo": Right("sts:GetAccessKeyInfo", about=everything),
        "GetCallerIdentity": FREE,
        "GetFederationToken": Right("sts:GetFederationToken", about=federated_user, tagging="sts:TagSession"),
        "GetSessionToken": FREE,
    },
    "cloudwatch": {
        "GetMetricData": Right("cloudwatch:GetMetricData", about=everything),
        "GetMetricStatistics": Right("cloudwatch:GetMetricStatistics", about=everything),
        "ListMetrics": Right("cloudwatch:ListMetrics", about=everything),
    },
    "penstock": {
        "PeekMessages": Right("penstock:PeekMessages"),
        "GetQueueMetrics": Right("penstock:GetQueueMetrics", about=metrics),
    },
}


def rights_of(services: Mapping[str, ModuleType]) -> dict[tuple[str, str], Right]:
    """By service and operation. An operation without a row is a KeyError."""
    found: dict[tuple[str, str], Right] = {}
    for service, module in services.items():
        rows = {name: Right(f"{service}:{name}", about=the_server) for name in getattr(module, "OPERATORS", ())}
        rows |= _of_their_own(service, module)
        rows |= RIGHTS.get(service, {})
        found |= {(service, operation): rows[operation] for operation in module.OPERATIONS}
    return found


def _of_their_own(service: str, module: ModuleType) -> dict[str, Right]:
    first, called, second, tagging = (
        getattr(module, table, {}) for table in ("RESOURCES", "CALLED", "ALSO", "TAGGING")
    )
    return {
        name: Right(
            f"{service}:{name}",
            _about(resource, called[name]),
            tagging=f"{service}:{tagging[name]}" if name in tagging else "",
            also=_about(*second[name]) if name in second else None,
        )
        for name, resource in first.items()
    }


def _about(resource: Resource, called: Resource) -> About:
    def about(call: Call) -> Target:
        return Target(resource(call, call.request), call.principal.account, called=called(call, call.request))

    return about
