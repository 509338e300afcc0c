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
    carry_out: Callable[[list[P]], Awaitable[Sequence[D | ServiceError]]],
    answer: Callable[[str, D], R],
) -> tuple[list[R] | None, list[sqs.BatchResultErrorEntry] | None]:
    """Prepare each entry, carry out those that are in order as one change, and sort the results."""
    prepared: list[str] = []
    work: list[P] = []
    failed: list[sqs.BatchResultErrorEntry] = []
    for entry in batch.entries:
        try:
            work.append(prepare(entry))
            prepared.append(entry.Id)
        except ServiceError as error:
            failed.append(failure(entry.Id, error))
    results = await carry_out(work) if work else []
    successful: list[R] = []
    for entry_id, done in zip(prepared, results, strict=True):
        if isinstance(done, ServiceError):
            failed.append(failure(entry_id, done))
        else:
            successful.append(answer(entry_id, done))
    return successful or None, failed or None


def failure(entry_id: str, error: ServiceError) -> sqs.BatchResultErrorEntry:
    code = ERRORS[error.shape].query_code
    return sqs.BatchResultErrorEntry(Id=entry_id, SenderFault=True, Code=code, Message=error.message)
