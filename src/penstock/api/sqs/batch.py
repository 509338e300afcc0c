"""What the three batch operations share: checking ids, and giving every entry exactly one result."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

from penstock.aws import sqs
from penstock.aws.errors import ERRORS
from penstock.core.errors import ServiceError
from penstock.core.limits import Limits
from penstock.core.naming import check_batch_ids


class _HasId(Protocol):
    Id: str


E = TypeVar("E", bound=_HasId)
P = TypeVar("P")
D = TypeVar("D")
R = TypeVar("R")


class Entries(Generic[E]):
    """The entries of a batch request, once the batch as a whole is found to be in order."""

    def __init__(self, entries: Sequence[E], kind: str, limits: Limits) -> None:
        most = limits.max_num_batch_entries
        if not entries:
            raise ServiceError("EmptyBatchRequest", f"There should be at least one {kind} in the request.")
        if len(entries) > most:
            raise ServiceError(
                "TooManyEntriesInBatchRequest",
                f"Maximum number of entries per request are {most}. You have sent {len(entries)}.",
            )
        check_batch_ids([entry.Id for entry in entries], limits)
        self.entries = entries


async def run_batch(
    batch: Entries[E],
    prepare: Callable[[E], P],
    carry_out: Callable[[list[P]], Awaitable[Sequence[D]]],
    answer: Callable[[E, D], R],
) -> tuple[list[R] | None, list[sqs.BatchResultErrorEntry] | None]:
    """Prepare each entry, carry out those that are in order as one change, and sort the results. What `prepare` or
    `answer` raises is the result of its entry; `prepare` may be asked twice."""
    prepared: Sequence[E] = batch.entries
    failed: list[sqs.BatchResultErrorEntry] = []
    try:
        work = [prepare(entry) for entry in prepared]
    except ServiceError:  # rare enough to begin again
        prepared, work, failed = _sorted_out(prepared, prepare)
    results = await carry_out(work) if work else ()
    successful: list[R] = []
    for entry, done in zip(prepared, results, strict=True):
        try:
            successful.append(answer(entry, done))
        except ServiceError as error:
            failed.append(failure(entry.Id, error))
    return successful or None, failed or None


def _sorted_out(
    entries: Sequence[E], prepare: Callable[[E], P]
) -> tuple[list[E], list[P], list[sqs.BatchResultErrorEntry]]:
    prepared: list[E] = []
    work: list[P] = []
    failed: list[sqs.BatchResultErrorEntry] = []
    for entry in entries:
        try:
            work.append(prepare(entry))
            prepared.append(entry)
        except ServiceError as error:
            failed.append(failure(entry.Id, error))
    return prepared, work, failed


def failure(entry_id: str, error: ServiceError) -> sqs.BatchResultErrorEntry:
    code = ERRORS[error.shape].query_code
    return sqs.BatchResultErrorEntry(Id=entry_id, SenderFault=True, Code=code, Message=error.message)
