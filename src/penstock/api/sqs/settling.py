"""What a receiver does with a message in hand: delete it, or change for how long it stays hidden."""

from collections.abc import Awaitable, Sequence

from penstock.api.call import Call
from penstock.api.sqs.batch import Entries, run_batch
from penstock.api.sqs.receiving import check_visibility
from penstock.aws import sqs
from penstock.core.errors import invalid_value, missing_parameter
from penstock.core.handle import Seal, seal_of
from penstock.core.queue import Queue
from penstock.core.store import Outcome


async def delete_message(call: Call, request: sqs.DeleteMessageRequest) -> None:
    queue = call.queue()
    claim = _claim(_seal(call, queue), request.ReceiptHandle)
    (outcome,) = await call.site.store.delete(queue.id, [claim], call.moment, by=call.principal.arn)
    _check_deleted(outcome, request.ReceiptHandle)


async def delete_message_batch(call: Call, request: sqs.DeleteMessageBatchRequest) -> sqs.DeleteMessageBatchResult:
    queue = call.queue()
    entries: Entries[sqs.DeleteMessageBatchRequestEntry] = Entries(
        request.Entries, "DeleteMessageBatchRequestEntry", call.site.limits
    )
    seal = _seal(call, queue)

    def prepare(entry: sqs.DeleteMessageBatchRequestEntry) -> bytes:
        return _claim(seal, entry.ReceiptHandle)

    def delete(claims: list[bytes]) -> Awaitable[Sequence[Outcome]]:
        return call.site.store.delete(queue.id, claims, call.moment, by=call.principal.arn)

    def answer(entry: sqs.DeleteMessageBatchRequestEntry, outcome: Outcome) -> sqs.DeleteMessageBatchResultEntry:
        _check_deleted(outcome, entry.ReceiptHandle)
        return sqs.DeleteMessageBatchResultEntry(Id=entry.Id)

    successful, failed = await run_batch(entries, prepare, delete, answer)
    return sqs.DeleteMessageBatchResult(Successful=successful, Failed=failed)


async def change_message_visibility(call: Call, request: sqs.ChangeMessageVisibilityRequest) -> None:
    queue = call.queue()
    check_visibility(request.VisibilityTimeout, call, "Must be between 0 and {most}.")
    change = _claim(_seal(call, queue), request.ReceiptHandle), request.VisibilityTimeout
    (outcome,) = await call.site.store.change_visibility(queue.id, [change], call.moment, by=call.principal.arn)
    _check_changed(outcome, request.ReceiptHandle, request.VisibilityTimeout)


async def change_message_visibility_batch(
    call: Call, request: sqs.ChangeMessageVisibilityBatchRequest
) -> sqs.ChangeMessageVisibilityBatchResult:
    queue = call.queue()
    entries: Entries[sqs.ChangeMessageVisibilityBatchRequestEntry] = Entries(
        request.Entries, "ChangeMessageVisibilityBatchRequestEntry", call.site.limits
    )
    seal = _seal(call, queue)

    def prepare(entry: sqs.ChangeMessageVisibilityBatchRequestEntry) -> tuple[bytes, int]:
        if entry.VisibilityTimeout is None:
            number = request.Entries.index(entry) + 1
            raise missing_parameter(f"ChangeMessageVisibilityBatchRequestEntry.{number}.VisibilityTimeout")
        check_visibility(entry.VisibilityTimeout, call, "VisibilityTimeout must be an integer between 0 and {most}.")
        return _claim(seal, entry.ReceiptHandle), entry.VisibilityTimeout

    def change(changes: list[tuple[bytes, int]]) -> Awaitable[Sequence[Outcome]]:
        return call.site.store.change_visibility(queue.id, changes, call.moment, by=call.principal.arn)

    def answer(
        entry: sqs.ChangeMessageVisibilityBatchRequestEntry, outcome: Outcome
    ) -> sqs.ChangeMessageVisibilityBatchResultEntry:
        _check_changed(outcome, entry.ReceiptHandle, entry.VisibilityTimeout)
        return sqs.ChangeMessageVisibilityBatchResultEntry(Id=entry.Id)

    successful, failed = await run_batch(entries, prepare, change, answer)
    return sqs.ChangeMessageVisibilityBatchResult(Successful=successful, Failed=failed)


def _seal(call: Call, queue: Queue) -> Seal:
    return seal_of(call.site.handle_key, queue.id)


def _claim(seal: Seal, handle: str) -> bytes:
    if not handle:
        raise missing_parameter("ReceiptHandle")
    return seal.unseal(handle)


def _check_deleted(outcome: Outcome, handle: str) -> None:
    """Deleting what is gone, or held by another by now, is no error: the caller has no claim on it."""
    if outcome is Outcome.EXPIRED:
        raise invalid_value(handle, "ReceiptHandle", "The receipt handle has expired.")


def _check_changed(outcome: Outcome, handle: str, seconds: int | None) -> None:
    if outcome in (Outcome.GONE, Outcome.EXPIRED):
        raise invalid_value(
            handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change."
        )
    if outcome is Outcome.TOO_LONG:
        raise invalid_value(
            seconds, "VisibilityTimeout", "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]."
        )
