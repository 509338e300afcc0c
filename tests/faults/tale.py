"""Histories told by hand, to judge the judge: a time is a second, and a message is hidden for ten."""

from typing import Any

from .history import Operation
from .invariants import violations

LASTS = 0.1


class Tale:
    """A history told by hand. Ids are the bodies in capitals, unless told otherwise."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def tell(
        self, op: str, at: float, reply: Any = None, outcome: str = "ok", lasts: float = LASTS, **request: Any
    ) -> None:
        self.operations.append(Operation(op, outcome, at, at + lasts, request, reply or {}))

    def send(self, at: float, body: str, queue: str = "q", outcome: str = "ok", **told: Any) -> None:
        result = {"id": told.pop("id", body.upper()), "sequence": told.pop("sequence", None)}
        reply = {"results": [result]} if outcome == "ok" else {}
        self.tell("send", at, reply, outcome, queue=queue, entries=[{"body": body, **told}])

    def receive(self, at: float, *bodies: str, queue: str = "q", visibility: int = 10, **told: Any) -> None:
        messages = [
            {"id": body.upper(), "body": body, "handle": f"{body}/{queue}/{told.get('count', 1)}", "count": 1} | told
            for body in bodies
        ]
        self.tell("receive", at, {"messages": messages}, queue=queue, visibility=visibility)

    def delete(self, at: float, body: str, count: int = 1, queue: str = "q", outcome: str = "ok") -> None:
        self.tell("delete", at, {"results": [None]}, outcome, queue=queue, handles=[f"{body}/{queue}/{count}"])

    def change(self, at: float, body: str, seconds: int, outcome: str = "ok", queue: str = "q") -> None:
        self.tell("change", at, None, outcome, queue=queue, handle=f"{body}/{queue}/1", seconds=seconds)

    def whole(self, at: float, body: str, **told: Any) -> None:
        """Sent, received and deleted."""
        self.send(at, body, **told)
        self.receive(at + 1, body, sequence=told.get("sequence"))
        self.delete(at + 2, body)

    def fails(self, *numbers: str) -> None:
        assert self.faults == sorted(numbers)

    @property
    def faults(self) -> list[str]:
        return sorted(name.split()[0] for name in violations(self.operations))
