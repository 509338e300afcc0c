"""SendMessage and SendMessageBatch."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from penstock.api.call import Call
from penstock.api.sqs.batch import Entries, run_batch
from penstock.aws import sqs
from penstock.core import content, naming
from penstock.core.errors import ServiceError, invalid_parameter, invalid_value, missing_parameter
from penstock.core.identifiers import random_uuid
from penstock.core.message import NewMessage, Sent
from penstock.core.queue import Queue

A = TypeVar("A", sqs.SendMessageResult, sqs.SendMessageBatchResultEntry)

WRONG_TYPE = "The request include parameter that is not valid for this queue type."


async def send_message(call: Call, request: sqs.SendMessageRequest) -> sqs.SendMessageResult:
    queue = call.readable_queue()
    if queue.fifo:
        _check_fifo(queue, request, missing_parameter("MessageGroupId"))
    message = compose(call, queue, request, call.trace)
    if message.size > queue.maximum_message_size:
        raise invalid_parameter(f"One or more parameters are invalid. {too_long(queue)}")
    (sent,) = await call.site.store.send(queue.id, [message], call.moment, by=call.principal.arn)
    return acknowledged(sqs.SendMessageResult(MessageId=sent.id), message, sent)


async def send_message_batch(call: Call, request: sqs.SendMessageBatchRequest) -> sqs.SendMessageBatchResult:
    queue = call.readable_queue()
    entries: Entries[sqs.SendMessageBatchRequestEntry] = Entries(
        request.Entries, "SendMessageBatchRequestEntry", call.site.limits
    )
    for entry in request.Entries if queue.fifo else ():
        _check_fifo(queue, entry, invalid_parameter("The request must contain the parameter MessageGroupId."))
    _check_together(call, request.Entries)
    trace = call.trace

    def prepare(entry: sqs.SendMessageBatchRequestEntry) -> NewMessage:
        if not entry.MessageBody:
            raise ServiceError("EmptyValue", "The message body must not be empty.")
        if entry.MessageDeduplicationId is not None and not queue.fifo:
            raise invalid_parameter(WRONG_TYPE.removesuffix("."))
        message = compose(call, queue, entry, trace)
        if message.size > queue.maximum_message_size:
            raise invalid_parameter(f"One or more parameters cannot be validated. {too_long(queue)}")
        return message

    async def store(messages: list[NewMessage]) -> list[tuple[NewMessage, Sent]]:
        sent = await call.site.store.send(queue.id, messages, call.moment, by=call.principal.arn)
        return list(zip(messages, sent, strict=True))

    def answer(
        entry: sqs.SendMessageBatchRequestEntry, done: tuple[NewMessage, Sent]
    ) -> sqs.SendMessageBatchResultEntry:
        message, sent = done
        return acknowledged(sqs.SendMessageBatchResultEntry(Id=entry.Id, MessageId=sent.id), message, sent)

    successful, failed = await run_batch(entries, prepare, store, answer)
    return sqs.SendMessageBatchResult(Successful=successful, Failed=failed)


def compose(call: Call, queue: Queue, given: Any, trace: str | None) -> NewMessage:
    """A message that may be stored, from a request or an entry of a batch; `trace` unless it brings its own."""
    limits, body = call.site.limits, given.MessageBody
    content.check_body(body)
    attributes = content.read_attributes(given.MessageAttributes, limits) if given.MessageAttributes else {}
    if given.MessageSystemAttributes:
        trace = content.read_trace(given.MessageSystemAttributes, limits) or trace
    delay, group, deduplication = given.DelaySeconds, given.MessageGroupId, given.MessageDeduplicationId
    if delay is not None and not 0 <= delay <= limits.max_delay_seconds:
        raise invalid_value(delay, "DelaySeconds", f"DelaySeconds must be >= 0 and <= {limits.max_delay_seconds}.")
    if group is not None:
        naming.check_punctuated(group, "MessageGroupId")
    if queue.fifo:
        if delay:
            raise invalid_value(delay, "DelaySeconds", WRONG_TYPE)
        if deduplication is None:
            deduplication = hashlib.sha256(body.encode()).hexdigest()
        else:
            naming.check_punctuated(deduplication, "MessageDeduplicationId")
    elif deduplication is not None:
        raise invalid_value(
            deduplication,
            "MessageDeduplicationId",
            "The request includes a parameter that is not valid for this queue type.",
        )
    size, sender = content.size_of(body, attributes), call.principal.user_id
    return NewMessage(random_uuid(), body, size, sender, attributes, trace, group, deduplication, delay)


def _check_fifo(queue: Queue, given: Any, without_group: ServiceError) -> None:
    """What a FIFO queue needs of every message: for a batch these fail the whole request."""
    if given.MessageGroupId is None:
        raise without_group
    if given.MessageDeduplicationId is None and not queue.content_deduplication:
        raise invalid_parameter(
            "The queue should either have ContentBasedDeduplication enabled "
            "or MessageDeduplicationId provided explicitly"
        )


def too_long(queue: Queue) -> str:
    return f"Reason: Message must be shorter than {queue.maximum_message_size} bytes."


def _check_together(call: Call, entries: Sequence[sqs.SendMessageBatchRequestEntry]) -> None:
    most, http = call.site.limits.max_batch_bytes, call.http
    if len(http.body) + len(http.target) <= most // 3:  # in neither protocol a character grows to more than three bytes
        return
    total = sum(map(_rough_size, entries))
    if total > most:
        raise ServiceError(
            "BatchRequestTooLong", f"Batch requests cannot be longer than {most} bytes. You have sent {total} bytes."
        )


def _rough_size(entry: sqs.SendMessageBatchRequestEntry) -> int:
    """An entry's share of the batch limit, before anything of it is checked."""
    size = len(entry.MessageBody.encode())
    for name, raw in (entry.MessageAttributes or {}).items():
        size += len(name.encode()) + len((raw.DataType or "").encode())
        size += len((raw.StringValue or "").encode()) + len(raw.BinaryValue or b"")
    return size


def sequence_number(sequence: int) -> str:
    """Twenty digits, so that numbers sort as text."""
    return str(10**19 + sequence)


def acknowledged(answer: A, message: NewMessage, sent: Sent) -> A:
    """The answer to a sender, with the digests that it compares; there is nothing in it of what was not sent."""
    answer.MD5OfMessageBody = content.md5_of_body(message.body)
    if message.attributes:
        answer.MD5OfMessageAttributes = content.md5_of_attributes(message.attributes)
    if message.trace:
        answer.MD5OfMessageSystemAttributes = content.md5_of_trace(message.trace)
    if sent.sequence is not None:
        answer.SequenceNumber = sequence_number(sent.sequence)
    return answer
