"""What operators do with the queues of any account: look at them, empty them, delete them.

Queues are named by their ARN, which says whose they are. Whether the caller may is not asked here.
"""

import asyncio
from contextlib import suppress

from penstock.api.call import Call, Operation
from penstock.api.listing import page, token_of
from penstock.api.sqs.queues import remove
from penstock.aws import penstock
from penstock.core.errors import QueueGone, invalid_value
from penstock.core.naming import is_account
from penstock.core.queue import Queue, QueueKey, age_ms

QUEUES_AT_ONCE = 50
"""Are counted before others have their turn."""
EVERY = "*"


async def list_all_queues(call: Call, request: penstock.ListAllQueuesRequest) -> penstock.ListAllQueuesResult:
    most, after = page(request.MaxResults, request.NextToken)
    places = ((key.account, key.region, key.name) for key in await _keys(call, request))
    found, shown = sorted(place for place in places if place > after)[: most + 1], []
    for number, (account, region, name) in enumerate(found[:most]):
        if number % QUEUES_AT_ONCE == 0:
            await asyncio.sleep(0)
        with suppress(QueueGone):
            shown.append(await _described(call, await call.site.store.queue(QueueKey(region, account, name))))
    return penstock.ListAllQueuesResult(
        CountingSince=call.site.store.traffic.since,
        Queues=shown,
        NextToken=token_of(found[most - 1]) if len(found) > most else None,
    )


async def _keys(call: Call, request: penstock.ListAllQueuesRequest) -> list[QueueKey]:
    """Of the queues that are asked for. There may be ten thousand, so nothing is asked of each that need not be."""
    keys = [queue.key for queue in await call.site.store.all_queues()]
    if (account := wanted_account(request.Account)) != EVERY:
        keys = [key for key in keys if key.account == account]
    if region := request.Region:
        keys = [key for key in keys if key.region == region]
    if prefix := request.QueueNamePrefix:
        keys = [key for key in keys if key.name.startswith(prefix)]
    return keys


def wanted_account(given: str | None) -> str:
    if given not in (None, EVERY) and not is_account(given):
        raise invalid_value(given, "Account", "Must be 12 digits, or * for all, if provided.")
    return given or EVERY


async def _described(call: Call, queue: Queue) -> penstock.QueueDescription:
    now, traffic = call.now(), call.site.store.traffic
    counts = await call.site.store.counts(queue.id, now)
    age = age_ms(await call.site.store.oldest(queue.id, now), now)
    sent, received = traffic.last_sent.get(queue.key, 0), traffic.last_received.get(queue.key, 0)
    return penstock.QueueDescription(
        QueueArn=queue.arn,
        Account=queue.key.account,
        Region=queue.key.region,
        QueueName=queue.key.name,
        VisibleMessages=counts.visible,
        InFlightMessages=counts.in_flight,
        DelayedMessages=counts.delayed,
        Bytes=counts.bytes,
        AgeOfOldestMessage=None if age is None else age // 1000,
        CreatedTimestamp=queue.created,
        LastSentTimestamp=sent if sent >= queue.created else None,  # or it was another queue of this name
        LastReceivedTimestamp=received if received >= queue.created else None,
    )


async def named_queue(call: Call, arn: str) -> Queue:
    key = QueueKey.from_arn(arn)
    if key is None:
        raise invalid_value(arn, "QueueArn", "Must be arn:aws:sqs:REGION:ACCOUNT:NAME.")
    return await call.site.store.queue(key)


async def admin_delete_queue(
    call: Call, request: penstock.AdminDeleteQueueRequest
) -> penstock.AdminDeleteQueueResult:  # fmt: skip
    queue = await named_queue(call, request.QueueArn)
    before = await _described(call, queue)
    if not request.DryRun:
        await remove(call, queue)
    return penstock.AdminDeleteQueueResult(Queue=before, Deleted=not request.DryRun)


async def admin_purge_queue(call: Call, request: penstock.AdminPurgeQueueRequest) -> penstock.AdminPurgeQueueResult:
    queue = await named_queue(call, request.QueueArn)
    before = await _described(call, queue)
    if not request.DryRun:
        await call.site.store.purge_queue(queue.id, call.now(), by=call.principal.arn)
    return penstock.AdminPurgeQueueResult(Queue=before, Purged=not request.DryRun)


OPERATIONS: dict[str, Operation] = {
    "ListAllQueues": list_all_queues,
    "AdminDeleteQueue": admin_delete_queue,
    "AdminPurgeQueue": admin_purge_queue,
}
