"""SendMessage and SendMessageBatch."""

import hashlib
from typing import Any

from penstock.api.call import Call
from penstock.api.sqs.batch import Entries, run_batch
from penstock.aws import sqs
from penstock.core import content, naming
from penstock.core.errors import ServiceError, invalid_parameter, invalid_value, missing_parameter
from penstock.core.identifiers import random_uuid
from penstock.core.message import NewMessage, Sent
from penstock.core.queue import Queue

WRONG_TYPE = "The request include parameter that is not valid for this queue type."


async def send_message(call: Call, request: sqs.SendMessageRequest) -> sqs.SendMessageResult:
    queue = await call.queue()
    _check_fifo(queue, request, missing_parameter("MessageGroupId"))
    message = compose(call, queue, request)
    if message.size > queue.maximum_message_size:
        raise invalid_parameter(f"One or more parameters are invalid. {too_long(queue)}")
    (sent,) = await call.site.store.send(queue.id, [message], call.now(), by=call.principal.arn)
    return sqs.SendMessageResult(MessageId=sent.id, SequenceNumber=sequence_text(sent), **digests(message))


async def send_message_batch(call: Call, request: sqs.SendMessageBatchRequest) -> sqs.SendMessageBatchResult:
    queue = await call.queue()
    entries: Entries[sqs.SendMessageBatchRequestEntry] = Entries(
        request.Entries, "SendMessageBatchRequestEntry", call.site.limits
    )
    for entry in request.Entries:
        _check_fifo(queue, entry, invalid_parameter("The request must contain the parameter MessageGroupId."))
    total = sum(_rough_size(entry) for entry in request.Entries)
    most = call.site.limits.max_batch_bytes
    if total > most:
        raise ServiceError(
            "BatchRequestTooLong", f"Batch requests cannot be longer than {most} bytes. You have sent {total} bytes."
        )

    def prepare(entry: sqs.SendMessageBatchRequestEntry) -> NewMessage:
        if not entry.MessageBody:
            raise ServiceError("EmptyValue", "The message body must not be empty.")
        if entry.MessageDeduplicationId is not None and not queue.fifo:
            raise invalid_parameter(WRONG_TYPE.removesuffix("."))
        message = compose(call, queue, entry)
        if message.size > queue.maximum_message_size:
            raise invalid_parameter(f"One or more parameters cannot be validated. {too_long(queue)}")
        return message

    async def store(messages: list[NewMessage]) -> list[tuple[NewMessage, Sent]]:
        sent = await call.site.store.send(queue.id, messages, call.now(), by=call.principal.arn)
        return list(zip(messages, sent, strict=True))

    def answer(entry_id: str, done: tuple[NewMessage, Sent]) -> sqs.SendMessageBatchResultEntry:
        message, sent = done
        return sqs.SendMessageBatchResultEntry(
            Id=entry_id, MessageId=sent.id, SequenceNumber=sequence_text(sent), **digests(message)
        )

    successful, failed = await run_batch(entries, prepare, store, answer)
    return sqs.SendMessageBatchResult(Successful=successful, Failed=failed)


def compose(call: Call, queue: Queue, given: Any) -> NewMessage:
    """A message that may be stored, from a request or an entry of a batch."""
    limits = call.site.limits
    content.check_body(given.MessageBody)
    attributes = content.read_attributes(given.MessageAttributes, limits)
    trace = content.read_trace(given.MessageSystemAttributes, limits) or call.trace
    delay, group, deduplication = given.DelaySeconds, given.MessageGroupId, given.MessageDeduplicationId
    if delay is not None and not 0 <= delay <= limits.max_delay_seconds:
        raise invalid_value(delay, "DelaySeconds", f"DelaySeconds must be >= 0 and <= {limits.max_delay_seconds}.")
    if group is not None:
        naming.check_punctuated(group, "MessageGroupId")
    if queue.fifo:
        if delay:
            raise invalid_value(delay, "DelaySeconds", WRONG_TYPE)
        if deduplication is None:
            deduplication = hashlib.sha256(given.MessageBody.encode()).hexdigest()
        else:
            naming.check_punctuated(deduplication, "MessageDeduplicationId")
    elif deduplication is not None:
        raise invalid_value(
            deduplication,
            "MessageDeduplicationId",
            "The request includes a parameter that is not valid for this queue type.",
        )
    return NewMessage(
        id=random_uuid(),
        body=given.MessageBody,
        size=content.size_of(given.MessageBody, attributes),
        sender=call.principal.user_id,
        attributes=attributes,
        trace=trace,
        group=group,
        deduplication_id=deduplication,
        delay_seconds=delay,
    )


def _check_fifo(queue: Queue, given: Any, without_group: ServiceError) -> None:
    """What a FIFO queue needs of every message: for a batch these fail the whole request."""
    if not queue.fifo:
        return
    if given.MessageGroupId is None:
        raise without_group
    if given.MessageDeduplicationId is None and not queue.content_deduplication:
        raise invalid_parameter(
            "The queue should either have ContentBasedDeduplication enabled "
            "or MessageDeduplicationId provided explicitly"
        )


def too_long(queue: Queue) -> str:
    return f"Reason: Message must be shorter than {queue.maximum_message_size} bytes."


def _rough_size(entry: sqs.SendMessageBatchRequestEntry) -> int:
    """An entry's share of the batch limit, before anything of it is checked."""
    size = len(entry.MessageBody.encode())
    for name, raw in (entry.MessageAttributes or {}).items():
        size += len(name.encode()) + len((raw.DataType or "").encode())
        size += len((raw.StringValue or "").encode()) + len(raw.BinaryValue or b"")
    return size


def sequence_text(sent: Sent) -> str | None:
    return None if sent.sequence is None else sequence_number(sent.sequence)


def sequence_number(sequence: int) -> str:
    """Twenty digits, so that numbers sort as text."""
    return str(10**19 + sequence)


def digests(message: NewMessage) -> dict[str, str | None]:
    return {
        "MD5OfMessageBody": content.md5_of_body(message.body),
        "MD5OfMessageAttributes": content.md5_of_attributes(message.attributes) if message.attributes else None,
        "MD5OfMessageSystemAttributes": content.md5_of_trace(message.trace) if message.trace else None,
    }
