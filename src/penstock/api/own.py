"""Penstock's own operations, for what Amazon has no call."""

import base64
import binascii

from penstock.api import (
    account_removal,
    accounts,
    administration,
    all_moves,
    audit_events,
    computed_metrics,
    journal,
    queue_metrics,
)
from penstock.api.call import Call, Operation
from penstock.api.sqs.receiving import system_attributes
from penstock.aws import penstock
from penstock.aws.penstock import SERVICE
from penstock.core import content
from penstock.core.errors import invalid_parameter, invalid_value
from penstock.core.message import Attribute, Message
from penstock.core.queue import Queue

MOST_PEEKED = 100


async def peek_messages(call: Call, request: penstock.PeekMessagesRequest) -> penstock.PeekMessagesResult:
    return await _peeked(call, call.queue(), request)


async def admin_peek_messages(
    call: Call, request: penstock.AdminPeekMessagesRequest
) -> penstock.PeekMessagesResult:  # fmt: skip
    return await _peeked(call, await administration.named_queue(call, request.QueueArn), request)


async def _peeked(
    call: Call, queue: Queue, request: penstock.PeekMessagesRequest | penstock.AdminPeekMessagesRequest
) -> penstock.PeekMessagesResult:
    call.check_readable(queue)
    limit = 10 if request.MaxNumberOfMessages is None else request.MaxNumberOfMessages
    if not 1 <= limit <= MOST_PEEKED:
        raise invalid_value(limit, "MaxNumberOfMessages", f"Must be between 1 and {MOST_PEEKED}, if provided.")
    try:
        after = base64.b64decode(request.NextToken or "", validate=True)
    except (binascii.Error, ValueError):
        raise invalid_parameter("Value for parameter NextToken is invalid.") from None
    messages = await call.site.store.peek(queue.id, limit, after, call.now())
    more = len(messages) == limit
    return penstock.PeekMessagesResult(
        Messages=[_shown(message) for message in messages] or None,
        NextToken=base64.b64encode(messages[-1].claim).decode() if more else None,
    )


def _shown(message: Message) -> penstock.PeekedMessage:
    return penstock.PeekedMessage(
        MessageId=message.id,
        Body=message.body,
        MD5OfBody=content.md5_of_body(message.body),
        Attributes=system_attributes(message, {"All"}),
        MessageAttributes={name: _value(attribute) for name, attribute in message.attributes.items()} or None,
    )


def _value(attribute: Attribute) -> penstock.AttributeValue:
    data_type, value = attribute
    if isinstance(value, str):
        return penstock.AttributeValue(DataType=data_type, StringValue=value)
    return penstock.AttributeValue(DataType=data_type, BinaryValue=value)


OPERATORS: dict[str, Operation] = {
    **journal.OPERATIONS,
    "AdminPeekMessages": admin_peek_messages,
    **accounts.OPERATIONS,
    **account_removal.OPERATIONS,
    **administration.OPERATIONS,
    **all_moves.OPERATIONS,
    **audit_events.OPERATIONS,
    **computed_metrics.OPERATIONS,
}
"""About the server as a whole: for the root account, and whom its policies allow."""
OPERATIONS: dict[str, Operation] = {
    "PeekMessages": peek_messages,
    **queue_metrics.OPERATIONS,
    **OPERATORS,
}

__all__ = ["OPERATIONS", "OPERATORS", "SERVICE"]
