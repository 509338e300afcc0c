"""May this caller do this? Decided for every request, between understanding it and running it.

The row of `api.rights` says what is needed, the caller's policies and the queue's say whether it is given, and
`core.policy` decides. The queue that was looked up for it stays with the call.

A refusal never tells whether a queue exists to someone who may not know: it is worded as if there were none, unless
that caller would then have been let through. Both decisions are made for whoever is refused, queue or no queue, and the
gateway answers a refusal at a time that does not depend on how long they took.
"""

from collections.abc import Awaitable, Callable

from penstock.api.call import Call
from penstock.api.circumstances import Circumstances, finder, tags_brought
from penstock.api.rights import FREE, Right, Target, the_queue
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind
from penstock.core.policy import Ask, Decision, Policy, Use, decide, read_policy, refusal_text
from penstock.core.queue import UNREADABLE, Queue, QueueKey

Authorise = Callable[[Call], Awaitable[None]]

CONDITIONS = slice(5, None)
"""Where in a question the values of conditions are."""
LONGEST_REMEMBERED = 1000
"""Characters of them all: some are as the caller writes them, and there may be many."""

IDLE = read_policy(
    '{"Statement":{"Effect":"Deny","Principal":"*","Action":"sqs:Nothing","Resource":"*"}}', Use.RESOURCE
)
"""Says nothing. It is heard where there is no policy, so that this takes no less time."""
ABSENT = Queue(-1, QueueKey("", "", ""))
"""Asked about in place of a queue that is not there, for the same reason. Nothing is ever remembered of it."""


async def authorise(call: Call) -> None:
    right: Right = call.right
    if right.tagging and tags_brought(call):
        right = right._replace(with_it=(*right.with_it, right.tagging))
    principal, key = call.principal, call.resource
    queue = call.found = await call.site.store.find_queue(key) if key is not None else None
    if right.about is None and key is not None:
        if principal.account == key.account and principal.kind is Kind.ROOT and (queue is None or queue.policy is None):
            return
        if _question(call, right, queue or ABSENT) in call.site.identities.allowed:
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
    if right.also is not None:
        _decide(call, right, right.also(call), None)
    if queue is not None:
        question = _question(call, right, queue)
        if len(str(question[CONDITIONS])) <= LONGEST_REMEMBERED:
            call.site.identities.remember(question)


def holds_for_all(call: Call) -> bool:
    """Of a caller who was let in: whether the queue and the policies are all that it depended on, and nothing of the
    request itself. Then whoever asks the same is let in, too, until one of them changes."""
    queue = call.found
    if queue is None:
        return False
    return not call.site.identities.standing(call.principal).asked and not (queue.policy and queue.policy.keys)


def require(call: Call, action: str, key: QueueKey, queue: Queue | None) -> None:
    """For an operation that does something to a second queue as well, which may not be there."""
    _decide(call, Right(action), Target(key.arn, key.account, key), queue)


def _question(call: Call, right: Right, queue: Queue) -> tuple[object, ...]:
    """All that the answer depends on. Times are whole seconds, and so the same in many requests."""
    standing, policy = call.site.identities.standing(call.principal), queue.policy
    asked = standing.asked if policy is None or not policy.keys else (*standing.asked, *policy.keys)
    if not asked:
        return standing, policy, right.action, right.with_it, queue.id
    circumstances = Circumstances(call, queue, queue.key.account)
    return standing, policy, right.action, right.with_it, queue.id, *[finder(key)(circumstances) for key in asked]


def _decide(call: Call, right: Right, target: Target, queue: Queue | None) -> None:
    principal, owner = call.principal, target.owner
    policy = queue.policy if queue and (right.shared or principal.account == owner) else None
    if policy is UNREADABLE and principal.kind is Kind.ROOT and principal.account == owner:
        return
    decision = _decision(call, right, target, queue, policy or IDLE)
    if not decision.allowed:
        blind = _decision(call, right, target, None, IDLE)
        ask = Ask(principal, right.action, target.called or target.arn)
        raise ServiceError("AccessDenied", refusal_text(ask, decision if blind.allowed else blind))


def _decision(call: Call, right: Right, target: Target, queue: Queue | None, policy: Policy) -> Decision:
    circumstances = Circumstances(call, queue, target.owner, target.arn)
    ask = Ask(call.principal, right.action, target.arn, circumstances)
    return decide(ask, call.site.identities.grants(call.principal), policy, target.owner)
