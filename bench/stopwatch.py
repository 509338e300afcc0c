"""Where the time of requests goes: the functions on their way, each wrapped in a reading of the clock.

PLACES says which function is which step. Where one step is done within another, the time is the inner one's. What the
readings cost is measured first and taken off. The functions are put
back at the end; a server made in between has been using the wrapped ones.
"""

import time
import types
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from penstock import app
from penstock.api.call import Call
from penstock.api.gateway import Gateway
from penstock.api.record import Recorder
from penstock.api.sqs import OPERATIONS
from penstock.aws.wire import JsonWire
from penstock.listeners import http_connection
from penstock.listeners.http_framing import RequestReader
from penstock.stores.sqlite.claims import Claims
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.delivery import Delivery
from penstock.stores.sqlite.sending import Sending
from penstock.stores.sqlite.written import Written

STEPS = ("parse", "signature", "decode", "authorise", "run", "store", "commit", "answer", "encode", "record", "render")
SHARED = ("commit", "answer")
"""What is done for all requests together; each has the same share of it."""
READINGS = {"run": 2}
"""How often a step is timed for one request, where it is not once: a run waits once."""
CALIBRATED = 50
EVERY = ""
"""The action of what is done for all requests together."""

Name = Callable[["Stopwatch", tuple[Any, ...]], str]


def _same(watch: "Stopwatch", args: tuple[Any, ...]) -> str:
    return watch.action


def _of_call(watch: "Stopwatch", args: tuple[Any, ...]) -> str:
    call = args[0] if isinstance(args[0], Call) else args[1]
    target: bytes = call.http.headers[b"x-amz-target"]
    return target[len(b"AmazonSQS.") :].decode()


def _of_wire(watch: "Stopwatch", args: tuple[Any, ...]) -> str:
    watch.action = args[2].name
    return watch.action


def _always(action: str) -> Name:
    return lambda watch, args: action


PLACES: tuple[tuple[Any, str, str, Name], ...] = (
    (RequestReader, "whole", "parse", _same),
    (Gateway, "_authenticate", "signature", _of_call),
    (Gateway, "_decode", "decode", _of_call),
    (Sending, "send", "store", _always("SendMessage")),
    (Delivery, "receive", "store", _always("ReceiveMessage")),
    (Claims, "delete", "store", _always("DeleteMessage")),
    (Database, "_commit", "commit", _always(EVERY)),
    (Database, "_settle", "commit", _always(EVERY)),
    (Written, "tell", "answer", _always(EVERY)),
    (JsonWire, "reply", "encode", _of_wire),
    (Recorder, "record", "record", _of_call),
    (http_connection, "render", "render", _same),
)


class Stopwatch:
    """`seconds` by action and step. `action` is of the request that is being read or answered."""

    def __init__(self) -> None:
        self.action = EVERY
        self.seconds: dict[tuple[str, str], float] = defaultdict(float)
        self.requests: dict[str, int] = defaultdict(int)
        self._within = 0.0
        """How long steps took that were done within the one that is being timed."""
        costs = [self._cost() for _ in range(CALIBRATED)]
        self._inside, self._whole = (min(kind) for kind in zip(*costs, strict=True))

    def _cost(self, calls: int = 200) -> tuple[float, float]:
        """Of timing a function, in microseconds: what falls into its own figure, and all of it."""

        def empty() -> None: ...

        nothing, clock = self.timed(empty, "nothing", _always(EVERY)), time.perf_counter
        started = clock()
        for _ in range(calls):
            empty()
        between = clock()
        for _ in range(calls):
            nothing()
        itself = between - started
        whole, inside = clock() - between - itself, self.seconds.pop((EVERY, "nothing")) - itself
        return max(0.0, inside) / calls * 1e6, max(0.0, whole) / calls * 1e6

    def doing(self, action: str) -> None:
        self.action = action
        self.requests[action] += 1

    def microseconds(self, action: str) -> dict[str, float]:
        """Of one request, step by step."""
        each = {
            step: self.seconds[action, step] / self.requests[action] * 1e6 - READINGS.get(step, 1) * self._inside
            for step in STEPS
        }
        each["run"] -= self._whole - self._inside  # the reading of the store's clock was done within it
        everyone = sum(self.requests.values())
        return each | {step: self.seconds[EVERY, step] / everyone * 1e6 for step in SHARED}

    def timed(self, function: Callable[..., Any], step: str, name: Name) -> Callable[..., Any]:
        clock = time.perf_counter

        def timed(*args: Any, **kwargs: Any) -> Any:
            key, before, self._within = (name(self, args), step), self._within, 0.0
            started = clock()
            try:
                return function(*args, **kwargs)
            finally:
                self._note(key, clock() - started, before)

        return timed

    def run(self, function: Callable[..., Any], step: str, name: Name) -> Callable[..., Any]:
        """A coroutine that is timed from each of its waits to the next."""
        clock = time.perf_counter

        @types.coroutine
        def run(*args: Any) -> Generator[Any, None, Any]:
            running, key = function(*args), (name(self, args), step)
            while True:
                before, self._within = self._within, 0.0
                started = clock()
                try:
                    awaited = running.send(None)
                except StopIteration as done:
                    return done.value
                finally:
                    self._note(key, clock() - started, before)
                yield awaited

        return run

    def _note(self, key: tuple[str, str], took: float, before: float) -> None:
        """`before` is how long steps took within the outer one until this one began."""
        self.seconds[key] += took - self._within
        self._within = before + took


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    watch = Stopwatch()
    functions = [(owner, name, getattr(owner, name)) for owner, name, _, _ in PLACES]
    operations, authorise = dict(OPERATIONS), app.authorise  # type: ignore[attr-defined]
    try:
        for owner, name, step, action in PLACES:
            setattr(owner, name, watch.timed(getattr(owner, name), step, action))
        app.authorise = watch.run(authorise, "authorise", _of_call)  # type: ignore[attr-defined]
        for action, operation in operations.items():
            OPERATIONS[action] = watch.run(operation, "run", _always(action))
        yield watch
    finally:
        OPERATIONS.update(operations)
        app.authorise = authorise  # type: ignore[attr-defined]
        for owner, name, function in functions:
            setattr(owner, name, function)
