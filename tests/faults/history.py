"""What clients did and saw, written down as it happens: JSON lines of op, type, monotonic time and value.

An operation is two lines: `invoke` before the request leaves, then `ok`, `fail` (it certainly did nothing) or `info`
(nobody knows). The recorder lives outside of what is being killed. What must hold of a history is in `invariants`.

Values, by op:
  queue    {queue, retention?, dead_letters?, max_receives?} how it was made
  send     {queue, entries: [{body, group?, dedup?, delay?}]}  → {results: [{id, sequence?} or {error}]}
  receive  {queue, visibility}                                → {messages: [{id, body, md5, handle, count, sequence?}]}
  delete   {queue, handles: […]}                              → {results: [null or an error]}
  change   {queue, handle, seconds}
  purge    {queue}
  counts   {queues: […]} when nothing is sent any more         → {total}
"""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .client import Refused, Unknown

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """`end` of one whose outcome is unknown is when its client gave up on it."""

    op: str
    outcome: str
    start: float
    end: float
    request: Value
    reply: Value = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def happened(self) -> bool:
        """It did, or may have."""
        return self.outcome != "fail"


class Recorder:
    """Many threads may write at once; each line is on its way before the request it tells of."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._file = path.open("a", buffering=1)
        self._clock, self._lock, self._numbers = clock, threading.Lock(), itertools.count()

    def attempt(self, op: str, request: Value, act: Callable[[], Value]) -> Value | None:
        """Do it, and write down how it went; None if it was not, or not certainly, done."""
        number = next(self._numbers)
        self._write(number, op, "invoke", request)
        try:
            reply = act()
        except Refused as refusal:
            self._write(number, op, "fail", {"error": refusal.code})
        except Unknown as reason:
            self._write(number, op, "info", {"reason": str(reason)})
        else:
            self._write(number, op, "ok", reply)
            return reply
        return None

    def _write(self, number: int, op: str, kind: str, value: Value) -> None:
        with self._lock:
            line = {"n": number, "op": op, "type": kind, "t": self._clock(), "value": value}
            self._file.write(json.dumps(line) + "\n")

    def operations(self) -> list[Operation]:
        with self._lock:
            self._file.flush()
            return paired(json.loads(line) for line in self.path.read_text().splitlines())

    def close(self) -> None:
        self._file.close()


def paired(events: Iterable[Value]) -> list[Operation]:
    """Operations, in the order in which they began. One without an end may have happened."""
    open_: dict[int, Value] = {}
    done: list[Operation] = []
    last = 0.0
    for event in events:
        last = max(last, event["t"])
        if event["type"] == "invoke":
            open_[event["n"]] = event
        else:
            began = open_.pop(event["n"])
            reply = event["value"] if event["type"] == "ok" else {}
            done.append(Operation(began["op"], event["type"], began["t"], event["t"], began["value"], reply))
    done += [Operation(event["op"], "info", event["t"], last, event["value"]) for event in open_.values()]
    return sorted(done, key=lambda operation: operation.start)
