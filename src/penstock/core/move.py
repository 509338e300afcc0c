"""A message move task: the durable record of moving a dead-letter queue's messages on, and its handle.

A handle is read here and nowhere else: who decides whether a task may be cancelled must read in it what is cancelled.
"""

import base64
from dataclasses import dataclass
from enum import StrEnum

import msgspec


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


class TaskHandle(msgspec.Struct, frozen=True, rename="camel"):
    """What clients are given to cancel a task by. It is no secret, and nothing is believed because it says so."""

    task_id: str
    source_arn: str

    @classmethod
    def read(cls, text: str) -> "TaskHandle | None":
        try:
            return msgspec.json.decode(base64.b64decode(text, validate=True), type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None

    def __str__(self) -> str:
        return base64.b64encode(msgspec.json.encode(self)).decode()
