"""A history, arranged for asking: what was sent, what was delivered, and what was done to it afterwards."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .history import Operation

EARLY = 0.05
"""Seconds by which a window may seem to end too soon, and no more."""
LATE = 1.0
"""Seconds after which what is due must be there."""


@dataclass(frozen=True, slots=True)
class Sent:
    operation: Operation
    queue: str
    body: str
    group: str | None = None
    dedup: str | None = None
    delay: int = 0
    id: str | None = None
    sequence: int | None = None

    @property
    def acknowledged(self) -> bool:
        return self.id is not None


@dataclass(frozen=True, slots=True)
class Delivery:
    operation: Operation
    queue: str
    id: str
    body: str
    handle: str
    count: int
    md5: str = ""
    sequence: int | None = None
    group: str | None = None

    @property
    def visibility(self) -> float:
        return float(self.operation.request["visibility"])


@dataclass(frozen=True, slots=True)
class Touch:
    """A delete, or a change of visibility to so many seconds."""

    operation: Operation
    handle: str
    done: bool
    """As far as the client knows; an `info` touch may have been done."""
    seconds: int | None = None


class Listed(dict[str, list[Any]]):
    """By name, the things of that name, which may be none."""

    def __missing__(self, name: str) -> list[Any]:
        return []

    def add(self, name: str, thing: object) -> None:
        self.setdefault(name, []).append(thing)


@dataclass
class Sightings:
    operations: Sequence[Operation]
    sends: list[Sent] = field(default_factory=list)
    deliveries: Listed = field(default_factory=Listed)
    by_handle: dict[str, Delivery] = field(default_factory=dict)
    deletes: Listed = field(default_factory=Listed)
    changes: Listed = field(default_factory=Listed)
    made: dict[str, dict[str, object]] = field(default_factory=dict)
    _by_op: Listed = field(default_factory=Listed)
    _arrivals: Listed = field(default_factory=Listed)

    def __post_init__(self) -> None:
        for operation in self.operations:
            self._by_op.add(operation.op, operation)
            if sort := self._SORTERS.get(operation.op):
                sort(self, operation)
        for sends in self._arrivals.values():
            sends.sort(key=_arrival)
        self.sent_by_id = {send.id: send for send in reversed(self.sends) if send.id}
        self.tried_before = {(send.queue, send.dedup) for send in self.sends if send.dedup and not send.id}
        self.end = max((operation.end for operation in self.operations), default=0.0)

    def setting(self, queue: str, name: str) -> object:
        return self.made.get(queue, {}).get(name)

    def of(self, op: str) -> list[Operation]:
        return self._by_op[op]

    def arrived(self, queue: str, after: float, before: float) -> list[Sent]:
        """What was sent to a queue and could be had from a moment between these two on."""
        sends = self._arrivals[queue]
        return sends[bisect_right(sends, after, key=_arrival) : bisect_left(sends, before, key=_arrival)]

    def all_deliveries(self) -> list[Delivery]:
        return sorted(
            (d for deliveries in self.deliveries.values() for d in deliveries), key=lambda d: d.operation.start
        )

    def maybe_deletes(self, message: str) -> list[Touch]:
        """Deletes that may have ended a message: those with a handle that was not certainly superseded."""
        found = []
        for delivery in self.deliveries[message]:
            for delete in self.deletes[delivery.handle]:
                later = (d for d in self.deliveries[message] if d.count > delivery.count)
                if not any(d.operation.end < delete.operation.start for d in later):
                    found.append(delete)
        return found

    def purged(self, send: Sent) -> bool:
        """Whether it may have been."""
        return any(
            purge.request["queue"] == send.queue and send.operation.start < purge.end
            for purge in self.of("purge")
            if purge.happened
        )

    def expired(self, send: Sent, at: float) -> bool:
        retention = self.setting(send.queue, "retention")
        return isinstance(retention, int) and at > send.operation.start + retention

    # Sorting

    def _queue(self, operation: Operation) -> None:
        self.made[operation.request["queue"]] = operation.request

    def _send(self, operation: Operation) -> None:
        results = operation.reply.get("results", [])
        for number, entry in enumerate(operation.request["entries"]):
            result = results[number] if number < len(results) else {}
            if operation.happened and "error" not in result:
                queue = operation.request["queue"]
                self.sends.append(Sent(operation, queue, **entry, id=result.get("id"), sequence=sequence(result)))
                self._arrivals.add(queue, self.sends[-1])

    def _receive(self, operation: Operation) -> None:
        for message in operation.reply.get("messages", []):
            fields = {
                name: message[name] for name in ("id", "body", "handle", "count", "md5", "group") if name in message
            }
            delivery = Delivery(operation, operation.request["queue"], **fields, sequence=sequence(message))
            self.deliveries.add(delivery.id, delivery)
            self.by_handle.setdefault(delivery.handle, delivery)

    def _delete(self, operation: Operation) -> None:
        results = operation.reply.get("results") or [None] * len(operation.request["handles"])
        for handle, error in zip(operation.request["handles"], results, strict=False):
            if operation.happened and error is None:
                self.deletes.add(handle, Touch(operation, handle, operation.ok))

    def _change(self, operation: Operation) -> None:
        if operation.happened:
            handle, seconds = operation.request["handle"], operation.request["seconds"]
            self.changes.add(handle, Touch(operation, handle, operation.ok, seconds))

    _SORTERS: ClassVar = {"queue": _queue, "send": _send, "receive": _receive, "delete": _delete, "change": _change}


def _arrival(send: Sent) -> float:
    return send.operation.end + send.delay


def sequence(found: dict[str, object]) -> int | None:
    return int(str(found["sequence"])) if found.get("sequence") else None
