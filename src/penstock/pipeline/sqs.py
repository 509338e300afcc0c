"""A light SQS client for executors: AWS JSON 1.0, signed, over connections that are kept.

A script is a generator: it yields an action with its parameters and gets the reply. `replies` runs several at once,
each with one request under way, in one thread. Whatever a person could only answer by trying again is tried again
here, with growing pauses: a lost connection, a server's own fault, throttling. So a send to a standard queue may
arrive twice; one to a FIFO queue may not, for its deduplication id is the same. Everything else is an `SqsError`.
An action of another service comes with its prefix, as in `Penstock.PeekMessages`.
"""

import json
import random
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.pipeline.http import Address, Connection, Lost
from penstock.pipeline.signature import Provider, Signer
from penstock.pipeline.told import Told

Request = tuple[str, dict[str, Any]]
Reply = dict[str, Any]
Script = Generator[Request, Reply, None]

PATIENCE_SECONDS = 30.0
"""A server that restarts is back by then."""
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 4.0

EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
BUSY = {
    "InternalError",
    "InternalFailure",
    "KmsThrottled",
    "RequestThrottled",
    "RequestThrottledException",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
MEANINGS = {
    "QueueDoesNotExist": "the queue does not exist, or no longer",
    "ExpiredToken": "the credentials have expired, and the AWS provider chain has no newer ones",
    "InvalidClientTokenId": "the access key is not known there",
    "SignatureDoesNotMatch": "the secret key is not the right one, or the region is another",
    "AccessDenied": "these credentials may not do this",
}
"""What a code says in plain words; the server's own message follows."""


class SqsError(Told):
    """The server said no, or nothing."""

    def __init__(self, code: str, message: str, action: str = "", queue_url: str = "") -> None:
        meaning = MEANINGS.get("ExpiredToken" if code in EXPIRED else code.removesuffix("Exception"))
        where = f"{action} on {queue_url}" if queue_url else action
        super().__init__(": ".join(part for part in (where, code, meaning, message) if part))
        self.code = code


@dataclass
class _Trip:
    """A script, the request that it has under way, and since when."""

    script: Script
    action: str
    parameters: dict[str, Any]
    connection: Connection | None = None
    body: bytes = b""
    deadline: float = 0.0
    pauses: int = 0
    renewed: bool = False

    def ask(self, request: Request, deadline: float) -> None:
        self.action, self.parameters = request
        self.body = json.dumps(self.parameters, ensure_ascii=False, separators=(",", ":")).encode()
        self.deadline, self.pauses, self.renewed = deadline, 0, False

    def error(self, code: str, message: str) -> SqsError:
        return SqsError(code, message, self.action, str(self.parameters.get("QueueUrl", "")))


@dataclass
class Client:
    address: Address
    region: str
    provider: Provider
    patience_seconds: float = PATIENCE_SECONDS
    sleep: Callable[[float], None] = time.sleep
    _idle: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._signer = Signer(self.provider, self.address.authority, self.region)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, action: str, **parameters: Any) -> Reply:
        def one() -> Script:
            yield action, parameters

        (reply,) = self.replies([one()])
        return reply

    def run(self, scripts: Iterable[Script]) -> None:
        for _ in self.replies(scripts):
            pass

    def replies(self, scripts: Iterable[Script]) -> Iterator[Reply]:
        """Each reply, once its script has it. A script that catches an SqsError goes on; otherwise all end."""
        under_way: deque[_Trip] = deque()
        try:
            for script in scripts:
                self._start(_Trip(script, "", {}), partial(next, script), under_way)
            while under_way:
                trip = under_way.popleft()
                try:
                    reply = self._reply(trip)
                except SqsError as error:
                    self._start(trip, partial(trip.script.throw, error), under_way)
                    continue
                self._start(trip, partial(trip.script.send, reply), under_way)
                yield reply
        finally:
            for trip in under_way:
                if trip.connection:
                    trip.connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _start(self, trip: _Trip, step: Callable[[], Request], under_way: deque[_Trip]) -> None:
        try:
            trip.ask(step(), time.monotonic() + self.patience_seconds)
        except StopIteration:
            return
        under_way.append(trip)
        self._send(trip)

    def _send(self, trip: _Trip) -> None:
        """A connection that is lost is noticed when the reply is read."""
        head = self._signer.head(trip.action, trip.body, time.time())
        try:
            trip.connection = self._idle.pop() if self._idle else Connection(self.address)
            trip.connection.send(head + trip.body)
        except Lost as lost:
            trip.connection = None
            self._lost = lost

    def _reply(self, trip: _Trip) -> Reply:
        while True:
            try:
                if trip.connection is None:
                    raise self._lost
                status, body = trip.connection.reply()
            except Lost as lost:
                self._pause(trip, trip.error("ConnectionLost", str(lost)))
            else:
                if trip.connection.reusable:
                    self._idle.append(trip.connection)
                trip.connection = None
                if status == 200:
                    return json.loads(body) if body else {}
                self._refused(trip, status, body)
            self._send(trip)

    def _refused(self, trip: _Trip, status: int, body: bytes) -> None:
        """Return where the request is worth another try."""
        code, message = _complaint(body, status)
        error = trip.error(code, message)
        if code in EXPIRED and not trip.renewed:
            trip.renewed = True
            self._signer.provider.forget()
        elif status >= 500 or status == 429 or code in BUSY:
            self._pause(trip, error)
        else:
            raise error

    def _pause(self, trip: _Trip, error: SqsError) -> None:
        trip.connection = None
        if time.monotonic() >= trip.deadline:
            raise error
        if trip.pauses:  # a kept connection that the server has closed meanwhile is no reason to wait
            longest = min(LONGEST_PAUSE_SECONDS, PAUSE_SECONDS * 2**trip.pauses)
            self.sleep(longest * random.uniform(0.5, 1))
        else:
            self.close()
        trip.pauses += 1


def _complaint(body: bytes, status: int) -> tuple[str, str]:
    try:
        said = json.loads(body)
        code = str(said.get("__type", "")).rpartition("#")[2]
        return code or f"HTTP {status}", str(said.get("message") or said.get("Message") or "")
    except (ValueError, AttributeError):
        return f"HTTP {status}", body[:200].decode(errors="replace")
