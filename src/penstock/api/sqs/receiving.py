"""ReceiveMessage: what is asked for is checked, and a receiver that may wait is parked until something comes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from penstock.api.call import Call
from penstock.api.journal import note_empty_receive
from penstock.api.sqs.sending import sequence_number
from penstock.aws import sqs
from penstock.core import content, naming
from penstock.core.errors import QueueGone, ServiceError, invalid_value, no_such_queue
from penstock.core.handle import Seal, seal_of
from penstock.core.message import Message
from penstock.core.queue import Queue
from penstock.core.store import Receive, TooManyInFlight

T = TypeVar("T")

TOO_MANY = (
    "Too many messages have been received without being deleted.\n"
    "Please delete your received messages or let them timeout before receiving more."
)


async def receive_message(call: Call, request: sqs.ReceiveMessageRequest) -> sqs.ReceiveMessageResult:
    queue = call.readable_queue()
    check(call, queue, request)
    messages = await _receive(call, queue, request)
    if not messages:
        note_empty_receive(call, queue, call.moment)
        return sqs.ReceiveMessageResult()
    wanted = {*(request.AttributeNames or ()), *(request.MessageSystemAttributeNames or ())}
    names, seal = request.MessageAttributeNames or (), seal_of(call.site.handle_key, queue.id)
    return sqs.ReceiveMessageResult(Messages=[_shown(seal, message, wanted, names) for message in messages])


async def _receive(call: Call, queue: Queue, request: sqs.ReceiveMessageRequest) -> Sequence[Message]:
    wait = seconds_to_wait(queue, request.WaitTimeSeconds)

    async def look(queue: Queue, now: int) -> Sequence[Message]:
        try:
            ask = ask_of(call, queue, request)
            return await call.site.store.receive(queue.id, ask, now, by=call.principal.arn)
        except TooManyInFlight:
            if not wait:
                raise ServiceError("OverLimit", TOO_MANY) from None
            return ()
        except QueueGone:
            raise no_such_queue() from None

    return await waited_for(call, queue, wait, look) or ()


def seconds_to_wait(queue: Queue, asked: int | None) -> int:
    return queue.wait_seconds if asked is None else asked


async def waited_for(
    call: Call,
    queue: Queue,
    wait: int,
    look: Callable[[Queue, int], Awaitable[T]],
    park: Callable[[], object] = lambda: None,
) -> T:
    """What a receiver finds when it looks: at once, or after each sign that there may be something, until its time is
    over. `park` is called before it waits for the first time, and says by what it can be served while it waits."""
    site, room, account = call.site, call.site.room, queue.key.account
    now, ticket, served_by = call.moment, None, None
    deadline = now + wait * 1000
    while True:
        signs = room.signs(queue.id)
        found = await look(queue, now)
        if found or not wait or room.closed:
            return found
        left = deadline - call.now()
        if left <= 0:
            return found
        if ticket is None:
            if room.parked(account) >= site.limits.max_parked_receives_per_account:
                return found
            ticket = room.ticket()
            served_by = park()
        if not await room.wait(queue.id, account, ticket, left / 1000, signs, served_by):
            return found
        queue, now = await _admitted_again(call, queue), call.now()


async def _admitted_again(call: Call, queue: Queue) -> Queue:
    """The queue as it is now, if the caller is still there and may receive from it. If not, its sign is another's."""
    try:
        await call.readmit(call)
        return call.readable_queue()
    except BaseException:
        call.site.room.wake(queue.id)
        raise


def check(call: Call, queue: Queue, request: sqs.ReceiveMessageRequest) -> None:
    limits = call.site.limits
    number, most = request.MaxNumberOfMessages, limits.max_receive_message_max_number_of_messages
    if number is not None and not 1 <= number <= most:
        raise invalid_value(number, "MaxNumberOfMessages", f"Must be between 1 and {most}, if provided.")
    wait, longest = request.WaitTimeSeconds, limits.max_receive_message_wait_time_seconds
    if wait is not None and not 0 <= wait <= longest:
        raise invalid_value(wait, "WaitTimeSeconds", f"Must be >= 0 and <= {longest}, if provided.")
    if request.VisibilityTimeout is not None:
        check_visibility(request.VisibilityTimeout, call, "Must be >= 0 and <= {most}, if provided.")
    if request.ReceiveRequestAttemptId is not None:
        naming.check_punctuated(request.ReceiveRequestAttemptId, "ReceiveRequestAttemptId")


def check_visibility(seconds: int, call: Call, reason: str) -> None:
    most = call.site.limits.max_visibility_timeout
    if not 0 <= seconds <= most:
        raise invalid_value(seconds, "VisibilityTimeout", reason.format(most=most))


def ask_of(call: Call, queue: Queue, request: sqs.ReceiveMessageRequest) -> Receive:
    limits, visibility = call.site.limits, request.VisibilityTimeout
    return Receive(
        limit=request.MaxNumberOfMessages or 1,
        visibility_seconds=queue.visibility_seconds if visibility is None else visibility,
        attempt_id=request.ReceiveRequestAttemptId,
        in_flight_limit=limits.max_in_flight_fifo if queue.fifo else limits.max_in_flight,
    )


def _shown(seal: Seal, message: Message, wanted: set[str], names: Sequence[str]) -> sqs.Message:
    body, handle = message.body, seal.seal(message.claim)
    shown = sqs.Message(MessageId=message.id, ReceiptHandle=handle, MD5OfBody=content.md5_of_body(body), Body=body)
    if wanted:
        shown.Attributes = system_attributes(message, wanted)
    if names and (attributes := content.chosen(message.attributes, names)):
        shown.MD5OfMessageAttributes = content.md5_of_attributes(attributes)
        shown.MessageAttributes = {name: attribute_value(*value) for name, value in attributes.items()}
    return shown


def attribute_value(data_type: str, value: str | bytes) -> sqs.MessageAttributeValue:
    if isinstance(value, str):
        return sqs.MessageAttributeValue(DataType=data_type, StringValue=value)
    return sqs.MessageAttributeValue(DataType=data_type, BinaryValue=value)


def system_attributes(message: Message, wanted: set[str]) -> dict[str, str] | None:
    everything = {
        "SenderId": message.sender,
        "ApproximateFirstReceiveTimestamp": None if message.first_received is None else str(message.first_received),
        "ApproximateReceiveCount": str(message.receive_count),
        "SentTimestamp": str(message.sent),
        "SequenceNumber": None if message.sequence is None else sequence_number(message.sequence),
        "MessageDeduplicationId": message.deduplication_id,
        "MessageGroupId": message.group,
        "AWSTraceHeader": message.trace,
        "DeadLetterQueueSourceArn": message.source_arn,
    }
    return {
        name: value for name, value in everything.items() if value is not None and (name in wanted or "All" in wanted)
    } or None
