"""May this caller do this? Decided for every request, between understanding it and running it.

The row of `api.rights` says what is needed, the caller's policies and the queue's say whether it is given, and
`core.policy` decides. The queue that was looked up for it stays with the call.

A refusal never tells whether a queue exists to someone who may not know: it is worded as if there were none, unless
that caller would then have been let through. Both decisions are made for whoever is refused, queue or no queue.
"""

from collections.abc import Awaitable, Callable

from penstock.api.call import Call
from penstock.api.circumstances import Circumstances
from penstock.api.rights import FREE, Right, Target, the_queue
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind
from penstock.core.policy import Ask, Decision, Policy, Use, decide, read_policy, refusal_text
from penstock.core.queue import UNREADABLE, Queue, QueueKey

Authorise = Callable[[Call], Awaitable[None]]

IDLE = read_policy(
    '{"Statement":{"Effect":"Deny","Principal":"*","Action":"sqs:Nothing","Resource":"*"}}', Use.RESOURCE
)
"""Says nothing. It is heard before a refusal where there is no policy, so that this takes no less time."""


async def authorise(call: Call) -> None:
    right: Right = call.right
    principal, key = call.principal, call.resource
    if right.about is None and key is not None:
        queue = call.found = await call.site.store.find_queue(key)
        if principal.kind is Kind.ROOT and principal.account == key.account and (queue is None or queue.policy is None):
            return
        target = Target(key.arn, key.account, key)
    elif right is FREE:
        return
    else:
        target = (right.about or the_queue)(call)
        queue = await call.site.store.find_queue(target.queue) if target.queue else None
    _decide(call, right, target, queue)
    for action in right.with_it:
        _decide(call, Right(action), target, queue)


def require(call: Call, action: str, key: QueueKey, queue: Queue | None) -> None:
    """For an operation that does something to a second queue as well, which may not be there."""
    _decide(call, Right(action), Target(key.arn, key.account, key), queue)


def _decide(call: Call, right: Right, target: Target, queue: Queue | None) -> None:
    principal, owner = call.principal, target.owner
    policy = queue.policy if queue and (right.shared or principal.account == owner) else None
    if policy is UNREADABLE and principal.kind is Kind.ROOT and principal.account == owner:
        return
    decision = _decision(call, right, target, queue, policy)
    if not decision.allowed:
        blind = _decision(call, right, target, None, None)
        if policy is None:
            _decision(call, right, target, None, IDLE)
        ask = Ask(principal, right.action, target.arn)
        raise ServiceError("AccessDenied", refusal_text(ask, decision if blind.allowed else blind))


def _decision(call: Call, right: Right, target: Target, queue: Queue | None, policy: Policy | None) -> Decision:
    circumstances = Circumstances(call, queue, target.owner)
    ask = Ask(call.principal, right.action, target.arn, circumstances)
    return decide(ask, call.site.identities.grants(call.principal), policy, target.owner)
