"""Tags of queues."""

import re
from collections.abc import Mapping

from penstock.api.call import Call
from penstock.aws import sqs
from penstock.core.errors import invalid_parameter
from penstock.core.journal import check_journal_tag
from penstock.core.limits import Limits
from penstock.core.queue import Queue

_ALLOWED = re.compile(r"[\w\s.:/=+\-@]*")


async def tag_queue(call: Call, request: sqs.TagQueueRequest) -> None:
    queue = call.queue()
    await _retag(call, queue, queue.tags | check_tags(request.Tags, call.site.limits))


async def untag_queue(call: Call, request: sqs.UntagQueueRequest) -> None:
    queue = call.queue()
    await _retag(call, queue, {key: value for key, value in queue.tags.items() if key not in request.TagKeys})


async def list_queue_tags(call: Call, request: sqs.ListQueueTagsRequest) -> sqs.ListQueueTagsResult:
    queue = call.queue()
    return sqs.ListQueueTagsResult(Tags=queue.tags or None)


async def _retag(call: Call, queue: Queue, tags: dict[str, str]) -> None:
    most = call.site.limits.max_tags
    if len(tags) > most:
        raise invalid_parameter(f"Too many tags added for queue {queue.key.name}. The maximum is {most}.")
    await call.site.store.alter_queue(queue.id, queue.attributes, tags, call.now(), by=call.principal.arn)


def check_tags(tags: Mapping[str, str], limits: Limits) -> dict[str, str]:
    for key, value in tags.items():
        if not 1 <= len(key) <= 128:
            raise invalid_parameter("Tag keys must be between 1 and 128 characters in length.")
        if len(value) > 256:
            raise invalid_parameter("Tag values must be between 0 and 256 characters in length.")
        if key.lower().startswith("aws:"):
            raise invalid_parameter("Tag keys beginning with 'aws:' are reserved for system use.")
        for what, text in (("keys", key), ("values", value)):
            if not _ALLOWED.fullmatch(text):
                raise invalid_parameter(
                    f"Tag {what} may only contain unicode letters, digits, whitespace, or one of these symbols: "
                    "_ . : / = + - @"
                )
    check_journal_tag(tags)
    if len(tags) > limits.max_tags:
        raise invalid_parameter(f"Too many tags given. The maximum is {limits.max_tags}.")
    return dict(tags)
