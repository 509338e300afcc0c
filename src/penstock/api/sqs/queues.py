"""Creating, finding, listing, purging and deleting queues."""

import base64
import binascii
from collections.abc import Sequence

from penstock.api.account_census import quota_of
from penstock.api.call import Call
from penstock.api.sqs.attributes import check_key, check_principals, check_redrive
from penstock.api.sqs.tags import check_tags
from penstock.aws import sqs
from penstock.core import attributes
from penstock.core.errors import ServiceError, invalid_parameter, invalid_value
from penstock.core.naming import check_queue_name
from penstock.core.queue import Queue, QueueKey


async def create_queue(call: Call, request: sqs.CreateQueueRequest) -> sqs.CreateQueueResult:
    given, limits = request.Attributes or {}, call.site.limits
    fifo = given.get("FifoQueue", "").lower() == "true"
    check_queue_name(request.QueueName, fifo, limits)
    wanted = attributes.checked(given, fifo, limits)
    tags = check_tags(request.tags or {}, limits)
    key = QueueKey(call.region, call.principal.account, request.QueueName)
    check_key(call.site, wanted)
    await check_redrive(call, key, fifo, wanted, given)
    queue = await call.site.store.find_queue(key)
    if queue is None:
        await _check_not_deleted_recently(call, key)
        await _check_quota(call)
        check_principals(call, wanted)
        settled = attributes.merged({"FifoQueue": "true"} if fifo else {}, wanted)
        queue = await call.site.store.create_queue(key, settled, tags, call.now(), by=call.principal.arn)
    elif different := attributes.difference(queue, wanted):
        raise ServiceError(
            "QueueNameExists",
            f"A queue already exists with the same name and a different value for attribute {different}",
        )
    return sqs.CreateQueueResult(QueueUrl=call.url_of(queue))


async def _check_not_deleted_recently(call: Call, key: QueueKey) -> None:
    wait = call.site.recreate_wait_seconds
    deleted = await call.site.store.deleted_at(key) if wait else None
    if deleted is not None and call.now() < deleted + wait * 1000:
        raise ServiceError(
            "QueueDeletedRecently",
            f"You must wait {wait} seconds after deleting a queue before you can create another with the same name.",
        )


async def _check_quota(call: Call) -> None:
    most = quota_of(call.site, call.principal.account)
    if most and await call.site.store.count_queues(call.principal.account) >= most:
        raise ServiceError(
            "LimitExceeded",
            f"The account {call.principal.account} has {most} queues, as many as it may have. Delete one, or ask the "
            "operator of the server for a higher quota.",
        )


async def delete_queue(call: Call, request: sqs.DeleteQueueRequest) -> None:
    await remove(call, call.queue())


async def remove(call: Call, queue: Queue) -> None:
    await call.site.store.delete_queue(queue.id, call.now(), by=call.principal.arn)
    call.site.room.wake_all(queue.id)


async def get_queue_url(call: Call, request: sqs.GetQueueUrlRequest) -> sqs.GetQueueUrlResult:
    return sqs.GetQueueUrlResult(QueueUrl=call.url_of(call.queue()))


async def purge_queue(call: Call, request: sqs.PurgeQueueRequest) -> None:
    queue, wait = call.queue(), call.site.purge_wait_seconds
    purged = await call.site.store.purged_at(queue.id) if wait else None
    if purged is not None and call.now() < purged + wait * 1000:
        raise ServiceError(
            "PurgeQueueInProgress",
            f"Only one PurgeQueue operation on {queue.key.name} is allowed every {wait} seconds.",
        )
    await call.site.store.purge_queue(queue.id, call.now(), by=call.principal.arn)


async def list_queues(call: Call, request: sqs.ListQueuesRequest) -> sqs.ListQueuesResult:
    most, after = _page(call, request.MaxResults, request.NextToken)
    found = await call.site.store.list_queues(
        call.region, call.principal.account, request.QueueNamePrefix or "", after, most + 1
    )
    shown = found[:most]
    return sqs.ListQueuesResult(
        QueueUrls=[call.url_of(queue) for queue in shown] or None,
        NextToken=_next_token(request.MaxResults, shown, len(found)),
    )


async def list_dead_letter_source_queues(
    call: Call, request: sqs.ListDeadLetterSourceQueuesRequest
) -> sqs.ListDeadLetterSourceQueuesResult:
    queue = call.queue()
    most, after = _page(call, request.MaxResults, request.NextToken)
    found = await call.site.store.list_sources(queue, after, most + 1)
    shown = found[:most]
    return sqs.ListDeadLetterSourceQueuesResult(
        queueUrls=[call.url_of(source) for source in shown],
        NextToken=_next_token(request.MaxResults, shown, len(found)),
    )


def _page(call: Call, wanted: int | None, token: str | None) -> tuple[int, str]:
    """How many to list, and the name after which to go on."""
    most = call.site.limits.max_list_results
    if wanted is not None and not 1 <= wanted <= most:
        raise invalid_value(wanted, "MaxResults", f"Must be between 1 and {most}, if provided.")
    if token is not None and wanted is None:
        raise invalid_parameter("MaxResults is a mandatory parameter when you provide a value for NextToken.")
    if not token:
        return wanted or most, ""
    try:
        return wanted or most, base64.urlsafe_b64decode(token).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise invalid_parameter("Invalid or expired NextToken value.") from None


def _next_token(wanted: int | None, shown: Sequence[Queue], found: int) -> str | None:
    """Where the next page starts; given only to those who asked for pages, and only when there is one."""
    if wanted is None or found <= len(shown):
        return None
    return base64.urlsafe_b64encode(shown[-1].key.name.encode()).decode()
