"""GetQueueAttributes and SetQueueAttributes."""

from collections.abc import Mapping

from penstock.api.call import Call, Site
from penstock.api.principals import check_known
from penstock.aws import sqs
from penstock.core import attributes
from penstock.core.errors import invalid_attribute, invalid_value
from penstock.core.policy import UnknownPrincipal, Use
from penstock.core.queue import Queue, QueueKey

KNOWN = {*attributes.CHECKS, *attributes.MEASURED}


async def get_queue_attributes(call: Call, request: sqs.GetQueueAttributesRequest) -> sqs.GetQueueAttributesResult:
    queue = call.queue()
    wanted = set(request.AttributeNames or ())
    for name in wanted - KNOWN - {"All"}:
        raise attributes.unknown_attribute(name)
    if not wanted:
        return sqs.GetQueueAttributesResult()
    everything = attributes.described(queue, await call.site.store.counts(queue.id, call.now()))
    shown = {name: value for name, value in sorted(everything.items()) if name in wanted or "All" in wanted}
    return sqs.GetQueueAttributesResult(Attributes=shown or None)


async def set_queue_attributes(call: Call, request: sqs.SetQueueAttributesRequest) -> None:
    queue = call.queue()
    change = attributes.checked(request.Attributes, queue.fifo, call.site.limits)
    check_key(call.site, change)
    check_principals(call, change)
    await check_redrive(call, queue.key, queue.fifo, change, request.Attributes)
    changed = attributes.merged(queue.attributes, change)
    await alter(call, queue, attributes.lagging(queue, changed, call.now()))


async def alter(call: Call, queue: Queue, changed: dict[str, str]) -> None:
    await call.site.store.alter_queue(queue.id, changed, queue.tags, call.now(), by=call.principal.arn)


def check_key(site: Site, change: Mapping[str, str]) -> None:
    """Whether the key of KMS that is to encrypt messages can do so."""
    if change.get("KmsMasterKeyId"):
        site.keyring.check(change["KmsMasterKeyId"])


def check_principals(call: Call, change: Mapping[str, str]) -> None:
    """Whether there is everyone whom a new policy names."""
    try:
        if change.get("Policy"):
            check_known(call, change["Policy"], Use.RESOURCE)
    except UnknownPrincipal as error:
        raise invalid_attribute("Policy", str(error)) from None


async def check_redrive(
    call: Call, source: QueueKey, fifo: bool, change: dict[str, str], given: Mapping[str, str]
) -> None:
    """Whether the dead-letter queue that a new redrive policy names may be used by this queue."""
    if not change.get("RedrivePolicy"):
        return
    redrive = Queue(0, source, {"RedrivePolicy": change["RedrivePolicy"]}).redrive
    key = QueueKey.from_arn(redrive.target_arn) if redrive else None
    target = await call.site.store.find_queue(key) if key else None
    reason = None
    if key is None or key[:2] != source[:2] or (target is None and key != source):
        reason = "Dead letter target does not exist."
    elif target is not None and target.fifo != fifo:
        reason = "Dead-letter queue must be same type of queue as the source.."
    elif target is not None and not attributes.allows_source(target, source):
        reason = "Queue does not have permission to use the dead-letter queue, according to its redrive allow policy."
    if reason:
        raise invalid_value(given["RedrivePolicy"], "RedrivePolicy", reason)
