"""Penstock's own operations, for what Amazon has no call."""

import base64
import binascii

from penstock.api import journal, queue_metrics
from penstock.api.call import Call, Operation
from penstock.api.sqs.receiving import system_attributes
from penstock.aws import penstock
from penstock.aws.penstock import SERVICE
from penstock.core import content
from penstock.core.errors import invalid_parameter, invalid_value
from penstock.core.message import Attribute, Message

MOST_PEEKED = 100


async def peek_messages(call: Call, request: penstock.PeekMessagesRequest) -> penstock.PeekMessagesResult:
    queue = await call.queue()
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


OPERATIONS: dict[str, Operation] = {
    "PeekMessages": peek_messages,
    **journal.OPERATIONS,
    **queue_metrics.OPERATIONS,
}

__all__ = ["OPERATIONS", "SERVICE"]
