"""A message move task: the durable record of moving a dead-letter queue's messages on."""

from dataclasses import dataclass
from enum import StrEnum


class MoveStatus(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def active(self) -> bool:
        return self in (MoveStatus.RUNNING, MoveStatus.CANCELLING)


@dataclass(frozen=True)
class MoveTask:
    """`destination_arn` of None sends each message back to the queue it died in."""

    id: str
    source_arn: str
    destination_arn: str | None
    rate: int | None
    to_move: int
    started: int
    moved: int = 0
    status: MoveStatus = MoveStatus.RUNNING
    failure: str | None = None
