"""What a receiver does with a message in hand: delete it, or change for how long it stays hidden."""

from penstock.api.call import Call
from penstock.api.sqs.batch import Entries, run_batch
from penstock.api.sqs.receiving import check_visibility
from penstock.aws import sqs
from penstock.core.errors import ServiceError, invalid_value, missing_parameter
from penstock.core.handle import Seal, seal_of
from penstock.core.queue import Queue
from penstock.core.store import Outcome


async def delete_message(call: Call, request: sqs.DeleteMessageRequest) -> None:
    queue = call.queue()
    claim = _claim(_seal(call, queue), request.ReceiptHandle)
    (outcome,) = await call.site.store.delete(queue.id, [claim], call.now(), by=call.principal.arn)
    if error := _deleting(outcome, request.ReceiptHandle):
        raise error


async def delete_message_batch(call: Call, request: sqs.DeleteMessageBatchRequest) -> sqs.DeleteMessageBatchResult:
    queue = call.queue()
    entries: Entries[sqs.DeleteMessageBatchRequestEntry] = Entries(
        request.Entries, "DeleteMessageBatchRequestEntry", call.site.limits
    )
    seal = _seal(call, queue)

    def prepare(entry: sqs.DeleteMessageBatchRequestEntry) -> tuple[str, bytes]:
        return entry.ReceiptHandle, _claim(seal, entry.ReceiptHandle)

    async def delete(work: list[tuple[str, bytes]]) -> list[ServiceError | None]:
        outcomes = await call.site.store.delete(
            queue.id, [claim for _, claim in work], call.now(), by=call.principal.arn
        )
        return [
            None if outcome is Outcome.DONE else _deleting(outcome, handle)
            for (handle, _), outcome in zip(work, outcomes, strict=True)
        ]

    def answer(entry_id: str, done: None) -> sqs.DeleteMessageBatchResultEntry:
        return sqs.DeleteMessageBatchResultEntry(Id=entry_id)

    successful, failed = await run_batch(entries, prepare, delete, answer)
    return sqs.DeleteMessageBatchResult(Successful=successful, Failed=failed)


async def change_message_visibility(call: Call, request: sqs.ChangeMessageVisibilityRequest) -> None:
    queue = call.queue()
    check_visibility(request.VisibilityTimeout, call, "Must be between 0 and {most}.")
    change = _claim(_seal(call, queue), request.ReceiptHandle), request.VisibilityTimeout
    (outcome,) = await call.site.store.change_visibility(queue.id, [change], call.now(), by=call.principal.arn)
    if error := _changing(outcome, request.ReceiptHandle, request.VisibilityTimeout):
        raise error


async def change_message_visibility_batch(
    call: Call, request: sqs.ChangeMessageVisibilityBatchRequest
) -> sqs.ChangeMessageVisibilityBatchResult:
    queue = call.queue()
    entries: Entries[sqs.ChangeMessageVisibilityBatchRequestEntry] = Entries(
        request.Entries, "ChangeMessageVisibilityBatchRequestEntry", call.site.limits
    )
    seal = _seal(call, queue)

    def prepare(entry: sqs.ChangeMessageVisibilityBatchRequestEntry) -> tuple[str, bytes, int]:
        if entry.VisibilityTimeout is None:
            number = request.Entries.index(entry) + 1
            raise missing_parameter(f"ChangeMessageVisibilityBatchRequestEntry.{number}.VisibilityTimeout")
        check_visibility(entry.VisibilityTimeout, call, "VisibilityTimeout must be an integer between 0 and {most}.")
        return entry.ReceiptHandle, _claim(seal, entry.ReceiptHandle), entry.VisibilityTimeout

    async def change(work: list[tuple[str, bytes, int]]) -> list[ServiceError | None]:
        changes = [(claim, seconds) for _, claim, seconds in work]
        outcomes = await call.site.store.change_visibility(queue.id, changes, call.now(), by=call.principal.arn)
        return [
            _changing(outcome, handle, seconds) for (handle, _, seconds), outcome in zip(work, outcomes, strict=True)
        ]

    def answer(entry_id: str, done: None) -> sqs.ChangeMessageVisibilityBatchResultEntry:
        return sqs.ChangeMessageVisibilityBatchResultEntry(Id=entry_id)

    successful, failed = await run_batch(entries, prepare, change, answer)
    return sqs.ChangeMessageVisibilityBatchResult(Successful=successful, Failed=failed)


def _seal(call: Call, queue: Queue) -> Seal:
    return seal_of(call.site.handle_key, queue.id)


def _claim(seal: Seal, handle: str) -> bytes:
    if not handle:
        raise missing_parameter("ReceiptHandle")
    return seal.unseal(handle)


def _deleting(outcome: Outcome, handle: str) -> ServiceError | None:
    """Deleting what is gone, or held by another by now, is no error: the caller has no claim on it."""
    if outcome is Outcome.EXPIRED:
        return invalid_value(handle, "ReceiptHandle", "The receipt handle has expired.")
    return None


def _changing(outcome: Outcome, handle: str, seconds: int) -> ServiceError | None:
    match outcome:
        case Outcome.GONE | Outcome.EXPIRED:
            return invalid_value(
                handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change."
            )
        case Outcome.TOO_LONG:
            return invalid_value(
                seconds,
                "VisibilityTimeout",
                "Total VisibilityTimeout for the message is beyond the limit [43200 seconds].",
            )
        case _:
            return None
