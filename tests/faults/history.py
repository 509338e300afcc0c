"""What clients did and saw, written down as it happens: JSON lines of process, op, type, monotonic time and value.

An operation is two lines: `invoke` before the request leaves, then `ok`, `fail` (it certainly did nothing) or `info`
(nobody knows). Each process writes a file of its own, and lives outside of what is being killed; the files of a folder
are one history, merged by the clock that all processes of a machine share. What must hold of it is in `invariants`.

Values, by op:
  queue    {queue, retention?, dead_letters?, max_receives?} how it was made
  send     {queue, entries: [{body, group?, dedup?, delay?}]}  → {results: [{id, sequence?} or {error}]}
  receive  {queue, visibility, wait?, left?}                  → {messages: [{id, body, md5, handle, count, sequence?}]}
           `left`: its client hung up on purpose, at the end of the operation
  delete   {queue, handles: […]}                              → {results: [null or an error]}
  change   {queue, handle, seconds}
  purge    {queue}
  counts   {queues: […]} when nothing is sent any more         → {total}
  start    {unsafe?} a server, told or not to run without being durable
  audit    {} the files of a server that was killed            → {faults: […]}
Every request may have an `account`: whose it is.
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

FORGOTTEN_SECONDS = 5.0
"""A request whose client was killed has been carried out by then, or never will be."""


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
    """Of one process. Its threads may write at once; each line is on its way before the request it tells of."""

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

    def note(self, op: str, request: Value, reply: Value) -> None:
        """Something that was found out, and not asked of a server."""
        self.attempt(op, request, lambda: reply)

    def _write(self, number: int, op: str, kind: str, value: Value) -> None:
        with self._lock:
            line = {"p": self.path.stem, "n": number, "op": op, "type": kind, "t": self._clock(), "value": value}
            self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        self._file.close()


def history_of(folder: Path) -> list[Operation]:
    """Of all processes that wrote into a folder."""
    return paired(json.loads(line) for file in sorted(folder.iterdir()) for line in whole_lines(file))


def whole_lines(file: Path) -> Iterable[str]:
    """The last may be half a line, of a process that was killed: then its request had not left."""
    return (line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n"))


def paired(events: Iterable[Value]) -> list[Operation]:
    """Operations, in the order in which they began. One without an end may have happened."""
    open_: dict[tuple[str, int], Value] = {}
    done: list[Operation] = []
    last = 0.0
    for event in events:
        last, key = max(last, event["t"]), (event["p"], event["n"])
        if event["type"] == "invoke":
            open_[key] = event
        else:
            began = open_.pop(key)
            reply = event["value"] if event["type"] == "ok" else {}
            done.append(Operation(began["op"], event["type"], began["t"], event["t"], began["value"], reply))
    for event in open_.values():
        end = max(event["t"], min(last, event["t"] + FORGOTTEN_SECONDS))
        done.append(Operation(event["op"], "info", event["t"], end, event["value"]))
    return sorted(done, key=lambda operation: operation.start)
